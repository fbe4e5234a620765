"""Flat sequences of whole numbers, as they lie in memory and in a file.

They come from the standard library, so that a small corpus is indexed and ranked before numpy would be
imported; numpy sees the same bytes through `numpy.asarray`. Type codes are those of `array`: `q` has
eight bytes, `i` four and `h` two.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise
from typing import TypeAlias

Ints: TypeAlias = "array[int] | memoryview[int]"
"""A sequence of whole numbers, made here or mapped from a file."""


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
