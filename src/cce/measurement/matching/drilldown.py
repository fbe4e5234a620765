"""Cases and rankings in, the drill-down out: all hits with the anchors that they match.

Hits are matched as for the scores. Text is shortened here, so the size of a page does not depend on the
size of the chunks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cce.domain.case import Case
from cce.domain.drilldown import CaseDrilldown, ShownHit, ShownRanking
from cce.domain.ranking import Chunk, Ranking
from cce.measurement.matching.matches import anchor_grades, match_case

N_OPENING_LINES = 4
N_LINE_CHARACTERS = 120

# UTF-8 has at most four bytes per character; one character more per line shows that a line is longer.
_MAX_BYTES = N_OPENING_LINES * (N_LINE_CHARACTERS + 1) * 4


def drill_down(cases: Sequence[Case], rankings: Mapping[str, Sequence[Ranking]]) -> tuple[CaseDrilldown, ...]:
    """One entry per case, in case order; `rankings` has one ranking per case for each backend."""
    return tuple(
        _case(case, {backend: ranked[position] for backend, ranked in rankings.items()})
        for position, case in enumerate(cases)
    )


def _case(case: Case, rankings: Mapping[str, Ranking]) -> CaseDrilldown:
    return CaseDrilldown(
        id=case.id,
        query=case.query,
        k=case.k,
        line=case.line,
        anchors=tuple(anchor.text for anchor in case.anchors),
        grades=anchor_grades(case),
        tags=tuple(dict.fromkeys(case.tags)),
        critical=case.critical,
        note=case.note,
        rankings=tuple(_ranking(case, backend, ranking) for backend, ranking in rankings.items()),
    )


def _ranking(case: Case, backend: str, ranking: Ranking) -> ShownRanking:
    matches = match_case(case, ranking).matches
    counted = zip(ranking[: case.k], matches, strict=True)
    hits = (
        ShownHit(
            rank=rank,
            path=hit.chunk.file_path,
            first_line=hit.chunk.start_line,
            last_line=hit.chunk.end_line,
            kind=hit.chunk.kind,
            score=hit.score,
            matches=matched,
            opening=opening(hit.chunk),
        )
        for rank, (hit, matched) in enumerate(counted, start=1)
    )
    return ShownRanking(backend, tuple(hits))


def opening(chunk: Chunk) -> str:
    """The first lines of `chunk`, joined with line feeds; an ellipsis marks what was cut off."""
    head = chunk.content[:_MAX_BYTES]
    # The cut may split the last character, which "ignore" then drops.
    lines = head.decode("utf-8", "ignore").split("\n")
    is_cut = len(lines) > N_OPENING_LINES or len(head) < len(chunk.content)
    shown = [_cut(line.removesuffix("\r")) for line in lines[:N_OPENING_LINES]]
    text = "\n".join(shown).rstrip("\n")
    return f"{text}\n…" if is_cut and not text.endswith("…") else text


def _cut(line: str) -> str:
    return line if len(line) <= N_LINE_CHARACTERS else f"{line[:N_LINE_CHARACTERS]}…"
