"""Cases and rankings in, the drill-down out: each result beside the anchors that it matches.

The rankings are judged as the scores judge them. Text is cut here, so that what a page may hold never
grows with the size of a chunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cce.domain.case import Case
from cce.domain.drilldown import CaseDrilldown, ShownHit, ShownRanking
from cce.domain.ranking import Chunk, Ranking
from cce.measurement.matching.matches import anchor_grades, match_case

N_OPENING_LINES = 4
N_LINE_CHARACTERS = 120

# No character of UTF-8 takes more than four bytes; one more character tells that a line was cut.
_MOST_BYTES = N_OPENING_LINES * (N_LINE_CHARACTERS + 1) * 4


def drill_down(cases: Sequence[Case], rankings: Mapping[str, Sequence[Ranking]]) -> tuple[CaseDrilldown, ...]:
    """One entry per case, in case order; `rankings` has per backend one ranking per case."""
    return tuple(
        _case(case, {backend: of_backend[position] for backend, of_backend in rankings.items()})
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
    """The first lines of `chunk`, joined with line feeds; what was cut off is told by an ellipsis."""
    head = chunk.content[:_MOST_BYTES]
    # Cut at a byte, so the last character may be half of one.
    lines = head.decode("utf-8", "ignore").split("\n")
    is_cut = len(lines) > N_OPENING_LINES or len(head) < len(chunk.content)
    shown = [_cut(line.removesuffix("\r")) for line in lines[:N_OPENING_LINES]]
    text = "\n".join(shown).rstrip("\n")
    return f"{text}\n…" if is_cut and not text.endswith("…") else text


def _cut(line: str) -> str:
    return line if len(line) <= N_LINE_CHARACTERS else f"{line[:N_LINE_CHARACTERS]}…"
