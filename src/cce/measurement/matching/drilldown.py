"""Cases and rankings in, the drill-down out: all hits with the anchors that they match.

Hits are matched as for the scores. Text is shortened here, so the size of a page does not depend on the
size of the chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from cce.domain.case import Case
from cce.domain.drilldown import CaseDrilldown, ShownHit, ShownMiss, ShownRanking
from cce.domain.ranking import Chunk, Location, Ranking
from cce.measurement.matching.matcher import Matcher
from cce.measurement.matching.matches import anchor_grades, match_case

N_OPENING_LINES = 4
N_LINE_CHARACTERS = 120

# UTF-8 has at most four bytes per character; one character more per line shows that a line is longer.
_MAX_BYTES = N_OPENING_LINES * (N_LINE_CHARACTERS + 1) * 4

_NO_KIND = "-"


class LocationView(NamedTuple):
    """What results that are no chunks are shown by.

    matcher  matched the rankings for the scores
    text     file, first and last line -> the text of the corpus, empty where there is none
    """

    matcher: Matcher
    text: Callable[[str, int, int], bytes]


FindMisses = Callable[[str, Case, Sequence[int]], tuple[ShownMiss, ...]]
"""Backend, case and the positions of the anchors that it missed -> what there is to say of each."""


def only_missed(_backend: str, _case: Case, missed: Sequence[int]) -> tuple[ShownMiss, ...]:
    """The misses where nothing more is known of them."""
    return tuple(map(ShownMiss, missed))


def drill_down(
    cases: Sequence[Case],
    rankings: Mapping[str, Sequence[Ranking]],
    view: LocationView | None = None,
    find_misses: FindMisses = only_missed,
) -> tuple[CaseDrilldown, ...]:
    """One entry per case, in case order; `rankings` has one ranking per case for each backend.

    Rankings of chunks alone need no `view`.
    """
    return tuple(
        _case(case, {backend: ranked[position] for backend, ranked in rankings.items()}, view, find_misses)
        for position, case in enumerate(cases)
    )


def _case(
    case: Case, rankings: Mapping[str, Ranking], view: LocationView | None, find_misses: FindMisses
) -> CaseDrilldown:
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
        rankings=tuple(
            _ranking(case, backend, ranking, view, find_misses) for backend, ranking in rankings.items()
        ),
    )


def _ranking(
    case: Case, backend: str, ranking: Ranking, view: LocationView | None, find_misses: FindMisses
) -> ShownRanking:
    matches = _matches(case, ranking, view)
    counted = zip(ranking[: case.k], matches, strict=True)
    hits = (
        ShownHit(
            rank=rank,
            path=hit.chunk.file_path,
            first_line=hit.chunk.start_line,
            last_line=hit.chunk.end_line,
            kind=_kind(hit.chunk),
            score=hit.score,
            matches=matched,
            opening=_opening(hit.chunk, view),
        )
        for rank, (hit, matched) in enumerate(counted, start=1)
    )
    matched = {position for of_hit in matches for position in of_hit}
    missed = [position for position in range(len(case.anchors)) if position not in matched]
    return ShownRanking(backend, tuple(hits), find_misses(backend, case, missed) if missed else ())


def _matches(case: Case, ranking: Ranking, view: LocationView | None) -> tuple[tuple[int, ...], ...]:
    is_plain = view is None or all(isinstance(hit.chunk, Chunk) for hit in ranking[: case.k])
    match = match_case(case, ranking) if is_plain or view is None else view.matcher.match(case, ranking)
    return match.matches


def _kind(found: Chunk | Location) -> str:
    return found.kind if isinstance(found, Chunk) else found.likeness or found.kind or _NO_KIND


def _opening(found: Chunk | Location, view: LocationView | None) -> str:
    if isinstance(found, Chunk):
        return opening(found.content)
    text = b""
    if view is not None and found.start_line is not None and found.end_line is not None:
        # One line more shows that there are more.
        last = min(found.end_line, found.start_line + N_OPENING_LINES)
        text = view.text(found.file_path, found.start_line, last).removesuffix(b"\n")
    return opening(text or (found.text or "").encode("utf-8", "replace"))


def opening(content: bytes) -> str:
    """The first lines of `content`, joined with line feeds; an ellipsis marks what was cut off."""
    head = content[:_MAX_BYTES]
    # The cut may split the last character, which "ignore" then drops.
    lines = head.decode("utf-8", "ignore").split("\n")
    is_cut = len(lines) > N_OPENING_LINES or len(head) < len(content)
    shown = [_cut(line.removesuffix("\r")) for line in lines[:N_OPENING_LINES]]
    text = "\n".join(shown).rstrip("\n")
    return f"{text}\n…" if is_cut and not text.endswith("…") else text


def _cut(line: str) -> str:
    return line if len(line) <= N_LINE_CHARACTERS else f"{line[:N_LINE_CHARACTERS]}…"
