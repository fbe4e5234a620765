"""The chunks of an index as a sequence that makes each chunk when it is first asked for.

Ranking looks at arrays and touches few chunks; the others never become objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from cce.domain.chunk import Chunk


class ChunkTable(Sequence[Chunk]):
    """Chunks in index order; asking twice gives the same object."""

    def __init__(
        self,
        paths: Sequence[str],
        file_of: NDArray[np.int64],
        chunk_ids: Sequence[str],
        kinds: Sequence[str],
        make: Callable[[int], Chunk],
        extents: NDArray[np.int64] | None = None,
    ) -> None:
        """`file_of`, int64[n_chunks], points into `paths`; `make` gives the chunk at a position.

        `extents`, int64[n_chunks, 2], are first and last byte (exclusive) of each in its file, if known:
        starts then ascend within a file.
        """
        self._paths = paths
        self._file_of = file_of
        self.chunk_ids = chunk_ids
        self._kinds = kinds
        self._make = make
        self._extents = extents
        self._made: list[Chunk | None] = [None] * len(chunk_ids)

    @classmethod
    def of(cls, chunks: Sequence[Chunk]) -> ChunkTable:
        """The table of chunks that are there already."""
        if isinstance(chunks, ChunkTable):
            return chunks
        numbers: dict[str, int] = {}
        file_of = [numbers.setdefault(chunk.file_path, len(numbers)) for chunk in chunks]
        chunk_ids = [chunk.chunk_id for chunk in chunks]
        kinds = [chunk.kind for chunk in chunks]
        return cls(tuple(numbers), np.array(file_of, np.int64), chunk_ids, kinds, chunks.__getitem__)

    @cached_property
    def positions_by_file(self) -> dict[str, Sequence[int]]:
        """Chunk positions of each file that has any, files in the order of their first chunk."""
        order = np.argsort(self._file_of, kind="stable").tolist()
        ends = np.cumsum(np.bincount(self._file_of, minlength=len(self._paths))).tolist()
        bounds = zip(self._paths, [0, *ends], ends, strict=False)
        return {path: order[start:end] for path, start, end in bounds if start < end}

    def path_of(self, position: int) -> str:
        """The file of one chunk, which need not be made for that."""
        return self._paths[int(self._file_of[position])]

    def outer_positions_of(self, path: str) -> Sequence[int]:
        """Chunk positions of one file without those of chunks known to lie within an earlier one."""
        positions = self.positions_by_file.get(path, ())
        if self._extents is None or not positions:
            return positions
        furthest, outer = -1, []
        for position, end in zip(positions, self._extents[positions, 1].tolist(), strict=True):
            if end > furthest:
                outer.append(position)
                furthest = end
        return outer

    @cached_property
    def kinds_by_file(self) -> dict[str, set[str]]:
        """The kinds of the chunks of each file that has any."""
        kinds: dict[str, set[str]] = {}
        for file, kind in dict.fromkeys(zip(self._file_of.tolist(), self._kinds, strict=True)):
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
            chunk = self._made[position] = self._make(position)
        return chunk

    def __iter__(self) -> Iterator[Chunk]:
        return (self[position] for position in range(len(self)))
