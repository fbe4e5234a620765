"""The hash embedder: every token adds or subtracts one in a bucket that its hash picks.

The hash is FNV-1a with 64 bits (Fowler, Noll, Vo). Before normalising, a vector holds small
integers, so its sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cce.retrieval.postings import Postings, build_postings

if TYPE_CHECKING:
    from cce.retrieval.embedding.contract import FloatMatrix, FloatVector

DIMENSION = 256
_OFFSET = 0xCBF29CE484222325
_PRIME = 0x100000001B3


class HashEmbedder:
    """Bag of hashed tokens; needs no model and no server."""

    name = "hash"
    dimension = DIMENSION

    def __init__(self, *, model: str | None = None) -> None:
        """`model` is ignored: there is one way to hash."""

    def embed(self, texts: Sequence[bytes]) -> FloatMatrix:
        """float64[n_texts, 256]; a text without tokens gets zeros."""
        return self.embed_postings(build_postings(texts))

    def embed_postings(self, postings: Postings) -> FloatMatrix:
        """The same vectors from tokens already counted: float64[n_chunks, 256]."""
        n_chunks = len(postings.lengths)
        hashes = fnv1a(postings.vocabulary)
        buckets = (hashes % np.uint64(DIMENSION)).astype(np.int64)
        signs = np.where(hashes >> np.uint64(63), -1.0, 1.0)
        terms = np.repeat(np.arange(len(hashes)), np.diff(postings.starts))
        cells = postings.chunks * DIMENSION + buckets[terms]
        weights = signs[terms] * postings.counts
        sums: FloatVector = np.bincount(cells, weights, minlength=n_chunks * DIMENSION)  # type: ignore[assignment]
        return _normalize(sums.reshape(n_chunks, DIMENSION))


def fnv1a(tokens: Iterable[bytes]) -> NDArray[np.uint64]:
    """uint64[n_tokens]: FNV-1a of each token, in the order given."""
    ordered = list(tokens)
    hashes = np.empty(len(ordered), np.uint64)
    by_length = sorted(range(len(ordered)), key=lambda position: len(ordered[position]))
    for length, group in groupby(by_length, key=lambda position: len(ordered[position])):
        positions = list(group)
        letters = np.frombuffer(b"".join(ordered[p] for p in positions), np.uint8)
        hashes[positions] = _fnv1a_columns(letters.reshape(len(positions), length))
    return hashes


def _fnv1a_columns(letters: NDArray[np.uint8]) -> NDArray[np.uint64]:
    hashes = np.full(len(letters), _OFFSET, np.uint64)
    for column in letters.T:
        hashes = (hashes ^ column) * np.uint64(_PRIME)
    return hashes


def _normalize(sums: FloatMatrix) -> FloatMatrix:
    norms: FloatVector = np.sqrt(np.einsum("ij,ij->i", sums, sums))
    norms[norms == 0] = 1.0
    unit: FloatMatrix = sums / norms[:, np.newaxis]
    return unit
