"""Spans of lines, 1-based and inclusive, and a search by overlap: both wings ask which spans share a line."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate


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
