"""Case and ranking in, match out: which hits match which anchors.

Metrics read only the match, so this module alone defines what matching means. The match matrix is
sparse, a few anchor positions per hit, because most hits match no anchor. `ideals` finds the ideal
ranking of the whole index.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from cce.domain.anchor import Anchor
from cce.domain.case import Case
from cce.domain.ranking import Chunk, Ranking

UNGRADED = 1  # the grade of an anchor that has none


class TokenScore(NamedTuple):
    """How well the retrieved lines cover the expected ones, weighted by tokens; all in [0, 1]."""

    precision: float
    recall: float
    iou: float


class CaseMatch(NamedTuple):
    """Which anchors the first `k` hits of a ranking match.

    matches  one entry per hit, at most `k`: the 0-based positions of the anchors it matches, ascending
    grades   one per anchor of the case
    ideal    grades of the relevant chunks of the whole index, best first, at most `k`; also empty if no
             metric needs the index
    tokens   how well the lines of the hits cover the expected ones; None without ranged anchors
    """

    k: int
    matches: tuple[tuple[int, ...], ...]
    grades: tuple[int, ...]
    ideal: tuple[int, ...] = ()
    tokens: TokenScore | None = None

    @property
    def n_anchors(self) -> int:
        """The number of anchors of the case, including repeats."""
        return len(self.grades)

    @property
    def hit_grades(self) -> tuple[int, ...]:
        """The grade of each hit: the highest among the anchors it matches, 0 if none."""
        return tuple(best_grade(self.grades, matched) for matched in self.matches)


def match_case(
    case: Case, ranking: Ranking, ideal: tuple[int, ...] = (), tokens: TokenScore | None = None
) -> CaseMatch:
    """Match the first k hits of `ranking` with the anchors of `case`.

    Anchors are looked up by file and kind, so the cost is not the number of hits times that of anchors.
    """
    anchors = AnchorTable(case.anchors)
    matches = tuple(anchors.matched_by(hit.chunk) for hit in ranking[: case.k])
    return CaseMatch(case.k, matches, anchor_grades(case), ideal, tokens)


def anchor_grades(case: Case) -> tuple[int, ...]:
    """One grade per anchor of `case`."""
    return tuple(case.grades.get(anchor.text, UNGRADED) for anchor in case.anchors)


def best_grade(grades: Sequence[int], matched: Iterable[int]) -> int:
    """The highest of the `grades` at the positions `matched`, 0 if there is none."""
    return max((grades[position] for position in matched), default=0)


class AnchorTable:
    """Anchors by path and kind, so that a chunk is compared only with those it can match."""

    def __init__(self, anchors: Iterable[Anchor]) -> None:
        self._unranged: defaultdict[tuple[str | None, str | None], list[int]] = defaultdict(list)
        spans: defaultdict[tuple[str | None, str | None], list[tuple[int, int, int]]] = defaultdict(list)
        for position, anchor in enumerate(anchors):
            names = (anchor.path, anchor.kind)
            if anchor.lines is None:
                self._unranged[names].append(position)
            else:
                spans[names].append((anchor.lines.first, anchor.lines.last, position))
        self._ranged = {names: Spans(alike) for names, alike in spans.items()}
        self._paths = {path for path, _ in (*self._unranged, *self._ranged)}
        self._of_any_line: dict[tuple[str, str], tuple[int, ...]] = {}

    def matched_by(self, chunk: Chunk) -> tuple[int, ...]:
        """Positions of the anchors that `chunk` matches, ascending."""
        if chunk.file_path not in self._paths and None not in self._paths:
            return ()  # the common case
        unranged = self.matched_on_any_line(chunk.file_path, chunk.kind)
        ranged: list[int] = []
        for names in ((chunk.file_path, None), (chunk.file_path, chunk.kind)):
            if names in self._ranged:
                ranged += self._ranged[names].overlapping(chunk.start_line, chunk.end_line)
        return tuple(sorted([*unranged, *ranged])) if ranged else unranged

    def matched_on_any_line(self, path: str, kind: str) -> tuple[int, ...]:
        """Positions of the anchors without a range that all chunks of this file and kind match."""
        # Cached, so that the many hits of one kind share one tuple.
        if (path, kind) not in self._of_any_line:
            matched: list[int] = []
            for names in ((path, None), (path, kind), (None, kind)):
                matched += self._unranged.get(names, ())
            self._of_any_line[path, kind] = tuple(sorted(matched))
        return self._of_any_line[path, kind]


class Spans:
    """Spans of lines as `(first, last, position)`, to be searched by overlap.

    They are sorted by first line. `_reach[i]` is the largest last line of the spans 0..i, which is sorted
    too, so both ends of the range of candidates are found by bisection.
    """

    def __init__(self, spans: Iterable[tuple[int, int, int]]) -> None:
        ordered = sorted(spans)
        self._firsts = [first for first, _, _ in ordered]
        self._lasts = [(last, position) for _, last, position in ordered]
        self._reach = list(accumulate((last for _, last, _ in ordered), max))

    def overlapping(self, start: int, end: int) -> list[int]:
        """Positions of the spans that share a line with `start..end`."""
        # Spans before the first reach >= start end before `start`; spans after the last first <= end begin
        # after `end`. With the spans 1-2, 1-9, 4-5 and 8-8 (reach 2, 9, 9, 9) and the lines 6-7 these are
        # positions 1 to 2, of which only 1-9 overlaps.
        candidates = self._lasts[bisect_left(self._reach, start) : bisect_right(self._firsts, end)]
        return [position for last, position in candidates if last >= start]
