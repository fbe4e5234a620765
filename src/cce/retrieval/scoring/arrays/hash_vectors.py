"""The hash embedder's vectors of a whole corpus, from its postings, in arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cce.retrieval.embedding.hashing import DIMENSION, FNV_OFFSET, FNV_PRIME, fnv1a
from cce.retrieval.scoring.arrays.postings import Postings

if TYPE_CHECKING:
    from cce.retrieval.embedding.catalog import FloatMatrix, FloatVector

_N_COLUMNS = 64  # longer tokens are rare: one by one they cost less than a column for each letter


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
        """float64[n_texts, 256]: the unit vectors, one per row."""
        return np.ascontiguousarray((self.sums / self.norms).T)


def hash_vectors(postings: Postings) -> HashVectors:
    """What HashEmbedder gives for the texts of `postings`, from tokens already counted."""
    n_texts, n_holding = len(postings.lengths), np.diff(postings.starts)
    hashes = fnv1a_of_all(postings.vocabulary)
    signs = np.where(hashes >> np.uint64(63), -1, 1)
    buckets = (hashes % np.uint64(DIMENSION)).astype(np.int64)
    cells = np.repeat(buckets * n_texts, n_holding) + postings.chunks
    signed_counts = np.repeat(signs, n_holding) * postings.counts
    sums = np.zeros((DIMENSION, n_texts), np.int32)
    np.add.at(sums.reshape(-1), cells, signed_counts.astype(np.int32))
    if postings.nests is not None:
        for dimension in sums:
            postings.nests.add_up(dimension)
    squares = np.zeros(n_texts)
    for dimension in sums:
        squares += dimension.astype(np.float64) ** 2
    norms = np.sqrt(squares)
    norms[norms == 0] = 1.0
    return HashVectors(sums, norms)


def fnv1a_of_all(tokens: Iterable[bytes]) -> NDArray[np.uint64]:
    """uint64[n_tokens]: FNV-1a of each token, in the order given."""
    ordered = list(tokens)
    lengths = np.fromiter(map(len, ordered), np.int64, len(ordered))
    hashes = np.full(len(ordered), FNV_OFFSET, np.uint64)
    by_length = np.argsort(lengths, kind="stable")
    is_long = np.searchsorted(lengths[by_length], _N_COLUMNS, side="right")
    short, long = by_length[:is_long], by_length[is_long:]
    hashes[short] = _fnv1a_columns([ordered[position] for position in short])
    for position in long:
        hashes[position] = fnv1a(ordered[position])
    return hashes


def _fnv1a_columns(tokens: Sequence[bytes]) -> NDArray[np.uint64]:
    """As `fnv1a_of_all` for tokens in ascending length: a letter of all of them at a time."""
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    letters = np.frombuffer(b"".join(tokens), np.uint8)
    starts = np.cumsum(lengths) - lengths
    hashes = np.full(len(tokens), FNV_OFFSET, np.uint64)
    for position in range(int(lengths.max(initial=0))):
        has_letter = slice(int(np.searchsorted(lengths, position, side="right")), None)
        hashes[has_letter] ^= letters[starts[has_letter] + position]
        hashes[has_letter] *= np.uint64(FNV_PRIME)
    return hashes
