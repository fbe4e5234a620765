"""Flat sequences of whole numbers and of bytes, as they lie in memory and in a file.

They come from the standard library, so that a small corpus is indexed and ranked before numpy would be
imported; numpy sees the same bytes through `numpy.asarray`. Type codes are those of `array`: `q` has
eight bytes, `i` four and `h` two.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise
from typing import TypeAlias, overload

Ints: TypeAlias = "array[int] | memoryview[int]"
"""A sequence of whole numbers, made here or mapped from a file."""


class ByteSlices(Sequence[bytes]):
    """Texts that lie behind each other in one buffer; each becomes an object when it is asked for."""

    def __init__(self, buffer: memoryview, starts: Ints) -> None:
        """Text i is `buffer[starts[i]:starts[i + 1]]`."""
        self._buffer = buffer
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, position: int) -> bytes: ...
    @overload
    def __getitem__(self, position: slice) -> ByteSlices: ...
    def __getitem__(self, position: int | slice) -> bytes | ByteSlices:
        if isinstance(position, slice):
            start, stop, _ = position.indices(len(self))
            return ByteSlices(self._buffer, self._starts[start : stop + 1])
        return bytes(self._buffer[self._starts[position] : self._starts[position + 1]])

    def cut(self, position: int, start: int, end: int) -> bytes:
        """`self[position][start:end]` for places within it, without a copy of the whole text."""
        first = self._starts[position]
        return bytes(self._buffer[first + start : first + end])


def starts_of(sizes: Iterable[int]) -> array[int]:
    """Where consecutive ranges of these sizes start, and where the last one ends: one more than sizes."""
    return array("q", accumulate(sizes, initial=0))


def owners_of(starts: Ints) -> list[int]:
    """For each place of consecutive ranges, the position of the range that holds it."""
    return [owner for owner, size in enumerate(_sizes(starts)) for _ in range(size)]


def shifted(numbers: Ints, by: int) -> array[int]:
    """Every number less `by`."""
    return array("q", numbers) if by == 0 else array("q", [number - by for number in numbers])


def concatenated(typecode: str, parts: Iterable[Ints]) -> array[int]:
    """All numbers of `parts`, which have that type code, in order."""
    whole = array(typecode)
    for part in parts:
        whole.frombytes(part.tobytes())
    return whole


def concatenated_starts(parts: Sequence[Ints]) -> array[int]:
    """Boundaries of consecutive ranges, each part's beginning at 0, as those of one long sequence."""
    return starts_of(chain.from_iterable(_sizes(part) for part in parts))


def _sizes(starts: Ints) -> Iterable[int]:
    return (end - start for start, end in pairwise(starts))
