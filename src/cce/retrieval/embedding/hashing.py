"""The hash embedder: every token adds or subtracts one in a bucket that its hash picks.

The hash is FNV-1a with 64 bits (Fowler, Noll, Vo). Before normalising, a vector holds small
integers, so its sums are exact in any order. Whole corpora are embedded from their token counts,
by `scorer` or `arrays.hash_vectors`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cce.tokens import tokenize

if TYPE_CHECKING:
    from cce.retrieval.embedding.catalog import FloatMatrix

DIMENSION = 256
# The 64-bit parameters of FNV-1a by Fowler, Noll and Vo (http://www.isthe.com/chongo/tech/comp/fnv/). The
# hash of no bytes is the offset, that of b"a" is 0xaf63dc4c8601ec8c.
FNV_OFFSET = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3
_MAX_UINT64 = 2**64 - 1


class HashEmbedder:
    """Bag of hashed tokens; needs no model and no server."""

    name = "hash"
    dimension = DIMENSION

    def __init__(self, *, model: str | None = None) -> None:
        """There is nothing to choose from: `model` is ignored."""

    def embed(self, texts: Sequence[bytes]) -> FloatMatrix:
        """float64[n_texts, 256]; a text without tokens gets zeros. Made for queries: one text at a time."""
        import numpy as np

        vectors = np.zeros((len(texts), DIMENSION))
        for row, text in zip(vectors, texts, strict=True):
            for bucket, coordinate in unit_vector(text):
                row[bucket] = coordinate
        return vectors


def unit_vector(text: bytes) -> list[tuple[int, float]]:
    """The dimensions in which the vector of `text` is not 0, ascending, with its coordinates."""
    sums: dict[int, int] = {}
    for token in tokenize(text):
        bucket, sign = bucket_and_sign(token)
        sums[bucket] = sums.get(bucket, 0) + sign
    norm = math.sqrt(sum(value * value for value in sums.values()))
    return [(bucket, sums[bucket] / norm) for bucket in sorted(sums) if sums[bucket]]


def bucket_and_sign(token: bytes) -> tuple[int, int]:
    """Where `token` counts, and whether it adds (1) or subtracts (-1)."""
    value = fnv1a(token)
    return value % DIMENSION, -1 if value >> 63 else 1


def fnv1a(token: bytes) -> int:
    """FNV-1a of `token` in 64 bits."""
    value = FNV_OFFSET
    for letter in token:
        value = ((value ^ letter) * FNV_PRIME) & _MAX_UINT64
    return value
