"""Which anchors a chunk, or a place that is no chunk, matches: anchors looked up by path, kind and lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Protocol

from cce.domain.anchor import Anchor
from cce.domain.ranking import Chunk, Location
from cce.line_spans import Spans

# A location without lines spans its file. No anchor names a line beyond: `parse_anchor` refuses such numbers.
_WHOLE_FILE = (1, 10**600)


class ChunkLookup(Protocol):
    """The chunks of an index, found by their lines."""

    def sharing_a_line(self, path: str, first: int, last: int) -> Sequence[tuple[int, Chunk]]:
        """The chunks of a file that share a line with `first..last`, with their positions, in index order."""


def lines_of(location: Location) -> tuple[int, int]:
    """First and last line; those of any file where the location gives none."""
    if location.start_line is None or location.end_line is None:
        return _WHOLE_FILE
    return location.start_line, location.end_line


def best_grade(grades: Sequence[int], matched: Iterable[int]) -> int:
    """The highest of the `grades` at the positions `matched`, 0 if there is none."""
    return max((grades[position] for position in matched), default=0)


class AnchorTable:
    """Anchors by path and kind, so that a chunk is compared only with those it can match."""

    def __init__(self, anchors: Sequence[Anchor]) -> None:
        self.anchors = anchors
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
        self._kinded = {path for path, kind in (*self._unranged, *self._ranged) if kind is not None}
        self._of_any_line: dict[tuple[str, str], tuple[int, ...]] = {}

    def may_match_in(self, path: str) -> bool:
        """Whether any anchor names this file, or no file."""
        return path in self._paths or None in self._paths

    def matched_by(self, chunk: Chunk) -> tuple[int, ...]:
        """Positions of the anchors that `chunk` matches, ascending."""
        if not self.may_match_in(chunk.file_path):
            return ()  # the common case
        unranged = self.matched_on_any_line(chunk.file_path, chunk.kind)
        ranged: list[int] = []
        for names in ((chunk.file_path, None), (chunk.file_path, chunk.kind)):
            if names in self._ranged:
                ranged += self._ranged[names].overlapping(chunk.start_line, chunk.end_line)
        return tuple(sorted([*unranged, *ranged])) if ranged else unranged

    def matched_at(self, location: Location, chunks: ChunkLookup | None) -> tuple[int, ...]:
        """Positions of the anchors that a place that is no chunk matches, ascending.

        An anchor without a kind matches by path and lines. One with a kind matches if the location shares a
        line with a chunk that matches it, and with its own lines; without an index, if the system gave it.
        """
        path = location.file_path
        if location.is_outside or not self.may_match_in(path):
            return ()
        first, last = lines_of(location)
        if chunks is None:
            return self._matched_by_names(path, location.kind, first, last)
        matched = {*self._matched_by_names(path, None, first, last)}
        if path in self._kinded or None in self._kinded:
            for _, chunk in chunks.sharing_a_line(path, first, last):
                matched.update(at for at in self.matched_by(chunk) if self._is_kind_at(at, first, last))
        return tuple(sorted(matched))

    def _is_kind_at(self, position: int, first: int, last: int) -> bool:
        kind, lines = self.anchors[position].kind, self.anchors[position].lines
        return kind is not None and (lines is None or (lines.first <= last and first <= lines.last))

    def _matched_by_names(self, path: str, kind: str | None, first: int, last: int) -> tuple[int, ...]:
        matched: set[int] = set()
        for names in ((path, None), (path, kind), (None, kind)):
            matched.update(self._unranged.get(names, ()))
            if names in self._ranged:
                matched.update(self._ranged[names].overlapping(first, last))
        return tuple(sorted(matched))

    def matched_on_any_line(self, path: str, kind: str) -> tuple[int, ...]:
        """Positions of the anchors without a range that all chunks of this file and kind match."""
        # Cached, so that the many hits of one kind share one tuple.
        if (path, kind) not in self._of_any_line:
            matched: list[int] = []
            for names in ((path, None), (path, kind), (None, kind)):
                matched += self._unranged.get(names, ())
            self._of_any_line[path, kind] = tuple(sorted(matched))
        return self._of_any_line[path, kind]
