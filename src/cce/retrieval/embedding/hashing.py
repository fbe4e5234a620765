"""The hash embedder: every token adds or subtracts one in a bucket that its hash picks.

The hash is FNV-1a with 64 bits (Fowler, Noll, Vo). Before normalising, a vector holds small
integers, so its sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cce.retrieval.postings import Postings
from cce.tokens import tokenize

if TYPE_CHECKING:
    from cce.retrieval.embedding.contract import FloatMatrix, FloatVector

DIMENSION = 256
_OFFSET = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_MAX_UINT64 = 2**64 - 1
_N_COLUMNS = 64  # longer tokens are rare: one by one they cost less than a column for each letter


class HashEmbedder:
    """Bag of hashed tokens; needs no model and no server."""

    name = "hash"
    dimension = DIMENSION

    def __init__(self, *, model: str | None = None) -> None:
        """There is nothing to choose from: `model` is ignored."""

    def embed(self, texts: Sequence[bytes]) -> FloatMatrix:
        """float64[n_texts, 256]; a text without tokens gets zeros. Made for queries: a text at a time."""
        sums = np.zeros((len(texts), DIMENSION))
        for row, text in zip(sums, texts, strict=True):
            for token in tokenize(text):
                bucket, sign = _bucket_and_sign(_fnv1a(token))
                row[bucket] += sign
        norms: FloatVector = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        return sums / _without_zeros(norms)[:, np.newaxis]


@dataclass(frozen=True, slots=True, eq=False)
class HashVectors:
    """The hash embedder's vectors of many texts, dimension after dimension.

    sums   int32[256, n_texts]; vectors before normalising
    norms  float64[n_texts]; their Euclidean norms, 1 where the vector is zero
    """

    sums: NDArray[np.int32]
    norms: FloatVector

    def dimension(self, number: int) -> FloatVector:
        """float64[n_texts]: one coordinate of every unit vector."""
        coordinate: FloatVector = self.sums[number] / self.norms
        return coordinate

    def rows(self) -> FloatMatrix:
        """float64[n_texts, 256]: the unit vectors, one a row."""
        return np.ascontiguousarray((self.sums / self.norms).T)


def hash_vectors(postings: Postings) -> HashVectors:
    """What HashEmbedder gives for the texts of `postings`, from tokens already counted."""
    n_texts, n_holding = len(postings.lengths), np.diff(postings.starts)
    hashes = fnv1a(postings.vocabulary)
    signs = np.where(hashes >> np.uint64(63), -1, 1)
    buckets = (hashes % np.uint64(DIMENSION)).astype(np.int64)
    cells = np.repeat(buckets * n_texts, n_holding) + postings.chunks
    signed_counts = np.repeat(signs, n_holding) * postings.counts
    sums = np.zeros((DIMENSION, n_texts), np.int32)
    np.add.at(sums.reshape(-1), cells, signed_counts.astype(np.int32))
    squares = np.zeros(n_texts)
    for dimension in sums:
        squares += dimension.astype(np.float64) ** 2
    return HashVectors(sums, _without_zeros(np.sqrt(squares)))


def fnv1a(tokens: Iterable[bytes]) -> NDArray[np.uint64]:
    """uint64[n_tokens]: FNV-1a of each token, in the order given."""
    ordered = list(tokens)
    lengths = np.fromiter(map(len, ordered), np.int64, len(ordered))
    hashes = np.full(len(ordered), _OFFSET, np.uint64)
    by_length = np.argsort(lengths, kind="stable")
    is_long = np.searchsorted(lengths[by_length], _N_COLUMNS, side="right")
    short, long = by_length[:is_long], by_length[is_long:]
    hashes[short] = _fnv1a_columns([ordered[position] for position in short])
    for position in long:
        hashes[position] = _fnv1a(ordered[position])
    return hashes


def _fnv1a_columns(tokens: Sequence[bytes]) -> NDArray[np.uint64]:
    """As `fnv1a` for tokens in ascending length: a letter of all of them at a time."""
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    letters = np.frombuffer(b"".join(tokens), np.uint8)
    starts = np.cumsum(lengths) - lengths
    hashes = np.full(len(tokens), _OFFSET, np.uint64)
    for position in range(int(lengths.max(initial=0))):
        has_letter = slice(int(np.searchsorted(lengths, position, side="right")), None)
        hashes[has_letter] ^= letters[starts[has_letter] + position]
        hashes[has_letter] *= np.uint64(_PRIME)
    return hashes


def _fnv1a(token: bytes) -> int:
    value = _OFFSET
    for letter in token:
        value = ((value ^ letter) * _PRIME) & _MAX_UINT64
    return value


def _bucket_and_sign(value: int) -> tuple[int, int]:
    return value % DIMENSION, -1 if value >> 63 else 1


def _without_zeros(norms: FloatVector) -> FloatVector:
    unit: FloatVector = np.where(norms == 0, 1.0, norms)
    return unit
