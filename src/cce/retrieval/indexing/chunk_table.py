"""The chunks of an index as a sequence that makes each chunk when it is first asked for.

Ranking looks at arrays and touches few chunks; the others never become objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import overload

from cce.domain.ranking import Chunk
from cce.retrieval.counting.flat import Ints


class ChunkTable(Sequence[Chunk]):
    """Chunks in index order; asking twice gives the same object."""

    def __init__(
        self,
        paths: Sequence[str],
        file_of: Sequence[int],
        chunk_ids: Sequence[str],
        kinds: Sequence[str],
        make: Callable[[int], Chunk],
        ends: Ints | None = None,
    ) -> None:
        """`file_of` has for each chunk a position in `paths`; `make` gives the chunk at a position.

        `ends` has for each the byte behind it in its file, if known: starts then ascend within a file.
        """
        self._paths = paths
        self._file_of = file_of
        self.chunk_ids = chunk_ids
        self._kinds = kinds
        self._make = make
        self._ends = ends
        self._made: list[Chunk | None] = [None] * len(chunk_ids)
        self._position_of: dict[int, int] = {}

    @classmethod
    def of(cls, chunks: Sequence[Chunk]) -> ChunkTable:
        """The table of chunks that are there already."""
        if isinstance(chunks, ChunkTable):
            return chunks
        numbers: dict[str, int] = {}
        file_of = [numbers.setdefault(chunk.file_path, len(numbers)) for chunk in chunks]
        chunk_ids = [chunk.chunk_id for chunk in chunks]
        kinds = [chunk.kind for chunk in chunks]
        return cls(tuple(numbers), file_of, chunk_ids, kinds, chunks.__getitem__)

    @cached_property
    def positions_by_file(self) -> Mapping[str, Sequence[int]]:
        """Chunk positions of each file that has any, files in the order of their first chunk."""
        positions: dict[str, list[int]] = {}
        for position, file in enumerate(self._file_of):
            positions.setdefault(self._paths[file], []).append(position)
        return positions

    def position_of(self, chunk: Chunk) -> int | None:
        """The position of an object that this table gave; None for any other, be it equal."""
        # An id names the object as long as the object lives, and `_made` keeps it alive.
        return self._position_of.get(id(chunk))

    def positions_of(self, chunks: Sequence[object]) -> list[int | None]:
        """`position_of` of each of many chunks."""
        return [self._position_of.get(id(chunk)) for chunk in chunks]

    def path_of(self, position: int) -> str:
        """The file of one chunk, which need not be made for that."""
        return self._paths[self._file_of[position]]

    def outer_positions_of(self, path: str) -> Sequence[int]:
        """Chunk positions of one file without those of chunks known to lie within an earlier one."""
        positions = self.positions_by_file.get(path, ())
        if self._ends is None:
            return positions
        furthest, outer = -1, []
        for position in positions:
            if self._ends[position] > furthest:
                outer.append(position)
                furthest = self._ends[position]
        return outer

    @cached_property
    def kinds_by_file(self) -> dict[str, set[str]]:
        """The kinds of the chunks of each file that has any."""
        kinds: dict[str, set[str]] = {}
        for file, kind in dict.fromkeys(zip(self._file_of, self._kinds, strict=True)):
            kinds.setdefault(self._paths[file], set()).add(kind)
        return kinds

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, position: int) -> Chunk: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Chunk]: ...
    def __getitem__(self, position: int | slice) -> Chunk | Sequence[Chunk]:
        if isinstance(position, slice):
            return [self[number] for number in range(*position.indices(len(self)))]
        chunk = self._made[position]
        if chunk is None:
            position %= len(self)
            chunk = self._made[position] = self._make(position)
            self._position_of[id(chunk)] = position
        return chunk

    def __iter__(self) -> Iterator[Chunk]:
        return (self[position] for position in range(len(self)))
