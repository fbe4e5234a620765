"""The chunks of an index by the lines that they cover, file by file: what a place is, is in, or is like."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from cce.domain.ranking import Chunk
from cce.line_spans import Spans
from cce.retrieval.indexing.index import Index

_CODE = ("function", "module")


class _Around(NamedTuple):
    """The chunks around some lines: the kind of the most like one, the position of the smallest holder."""

    likeness: str | None
    holder: int | None


class FilePlaces:
    """The chunks of one file; `n_lines` is None where only the lines of its chunks are known."""

    def __init__(self, index: Index, path: str) -> None:
        self.positions: Sequence[int] = index.positions_by_file.get(path, ())
        self.n_lines = index.line_counts.get(path)
        self._chunks = {position: index.chunks[position] for position in self.positions}
        self._found: dict[tuple[int, int], _Around] = {}

    @cached_property
    def last_line(self) -> int:
        """The last line, as far as known; 0 for a file of which nothing is."""
        return self.n_lines or max((chunk.end_line for chunk in self._chunks.values()), default=0)

    @cached_property
    def _spans(self) -> Spans:
        return Spans((chunk.start_line, chunk.end_line, at) for at, chunk in self._chunks.items())

    @cached_property
    def _by_lines(self) -> dict[tuple[int, int], list[int]]:
        found: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for position, chunk in self._chunks.items():
            found[chunk.start_line, chunk.end_line].append(position)
            # A file of two lines is a chunk of lines 1 to 3, the empty one behind the last line end included;
            # other tools count two.
            is_long = chunk.chunk_type == "module" and chunk.end_line > chunk.start_line
            if is_long and chunk.content.endswith(b"\n"):
                found[chunk.start_line, chunk.end_line - 1].append(position)
        return found

    def is_all(self, first: int, last: int) -> bool:
        """Whether these are all lines of the file, be it without the empty one at its end."""
        return first == 1 and last >= max(1, self.last_line - 1)

    def standing_at(self, first: int, last: int, kind: str | None) -> list[int]:
        """Positions of the chunks with exactly these lines, and this kind if one is given, in index order."""
        found = self._by_lines.get((first, last), [])
        return found if kind is None else [at for at in found if self._chunks[at].kind == kind]

    def has_text(self, first: int, last: int) -> bool:
        """Whether any chunk covers one of these lines."""
        return bool(self._spans.overlapping(first, last))

    def function_holding(self, first: int, last: int) -> int | None:
        """Position of the smallest chunk that holds all these lines, if it is a function or a module."""
        holder = self._around(first, last).holder
        return holder if holder is not None and self.is_code(holder) else None

    def is_code(self, position: int) -> bool:
        """Whether the chunk at `position` is a function or a module: the pieces that answers are cut into."""
        return self._chunks[position].chunk_type in _CODE

    def likeness(self, first: int, last: int) -> str | None:
        """The kind of the chunk with the largest share of common lines among the lines of either.

        Ties: the smaller chunk, then index order. Most common lines alone would send every function that is
        returned with its decorator to the class around it.
        """
        return self._around(first, last).likeness

    def _around(self, first: int, last: int) -> _Around:
        # Both are asked of nearly every result, and finding the chunks is most of the work.
        key = first, last
        around = self._found.get(key)
        if around is None:
            around = self._found[key] = self._look_around(first, last)
        return around

    def _look_around(self, first: int, last: int) -> _Around:
        best_kind, best_shared, best_union, best_size = None, 0, 1, 0
        holder, holder_size = None, 0
        for at, chunk in self._overlapping(first, last):
            start, end = chunk.start_line, chunk.end_line
            shared = (last if last < end else end) - (first if first > start else start) + 1
            size = end - start + 1
            union = last - first + 1 + size - shared
            # Fractions compared across: shared / union > best_shared / best_union.
            ahead = shared * best_union - best_shared * union
            if ahead > 0 or (ahead == 0 and size < best_size):
                best_kind, best_shared, best_union, best_size = chunk.kind, shared, union, size
            if start <= first and last <= end and (holder is None or size < holder_size):
                holder, holder_size = at, size
        return _Around(best_kind, holder)

    def _overlapping(self, first: int, last: int) -> list[tuple[int, Chunk]]:
        return [(at, self._chunks[at]) for at in sorted(self._spans.overlapping(first, last))]
