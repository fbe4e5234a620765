"""The embeddings of a store: slices of JSON go in, checked vectors come out where they are needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec import Raw

from cce.errors import StoreError

if TYPE_CHECKING:
    from cce.retrieval.embedding.catalog import FloatMatrix

# Far above the noise of vectors that a producer normalised in single precision, which keep their bits;
# far below the sixth decimal of a score.
_UNIT_TOLERANCE = 1e-6

_decode = msgspec.json.Decoder(list[float]).decode


def check_vectors(vectors: Sequence[Raw], width: int, recorded_width: int | None) -> None:
    """Raises StoreError unless each is absent or has `width` finite numbers, as the store itself says."""
    if recorded_width not in (None, width):
        raise StoreError(f"embedding_dim is {recorded_width}, expected {width}")
    for position, vector in enumerate(vectors):
        if _is_present(vector):
            _numbers(vector, width, position)


def read_vectors(vectors: Sequence[Raw], recorded_width: int | None) -> FloatMatrix | None:
    """float64[n_chunks, width], rows of norm 1 or all zero; None if the store holds no vectors.

    A row that is not of norm 1 is normalised: a cosine of two vectors is their product only then.
    """
    n_present = sum(map(_is_present, vectors))
    if not n_present:
        return None
    if n_present < len(vectors):
        raise StoreError(f"{len(vectors) - n_present} of {len(vectors)} chunks have no embedding")
    width = _count(vectors[0]) if recorded_width is None else recorded_width
    # All widths are known to fit before room is made for them.
    for position, vector in enumerate(vectors):
        _check_width(_count(vector), width, position)
    matrix: FloatMatrix = np.empty((len(vectors), width))
    for position, vector in enumerate(vectors):
        matrix[position] = _unit(_numbers(vector, width, position))
    return matrix


def _is_present(vector: Raw) -> bool:
    return len(memoryview(vector)) > 0


def _count(vector: Raw) -> int:
    """How many numbers stand in a flat, non-empty array; of anything else a guess."""
    return bytes(vector).count(b",") + 1


def _numbers(vector: Raw, width: int, position: int) -> list[float]:
    # Counted first: a list of a million numbers is not built to learn that it is too long.
    n_numbers = _count(vector)
    if n_numbers > width:
        _check_width(n_numbers, width, position)
    try:
        numbers = _decode(vector)
    except (msgspec.DecodeError, RecursionError) as exc:
        raise StoreError(f"chunks[{position}].embedding: {exc}") from exc
    _check_width(len(numbers), width, position)
    return numbers


def _check_width(n_numbers: int, width: int, position: int) -> None:
    if n_numbers != width:
        raise StoreError(f"chunks[{position}].embedding has {n_numbers} numbers, expected {width}")


def _unit(numbers: list[float]) -> list[float]:
    if abs(math.hypot(*numbers) - 1) <= _UNIT_TOLERANCE:
        return numbers
    largest = max(map(abs, numbers))
    if largest == 0:
        return numbers
    scaled = [number / largest for number in numbers]  # its norm neither overflows nor vanishes
    norm = math.hypot(*scaled)
    return [number / norm for number in scaled]
