"""What a scorer is, the formula of BM25, and the scorer for small corpora, in plain Python.

    score = sum over the terms of idf * (k1 + 1) n / (n + k1 * (1 - b + b * length / mean length))

n is the count of a term in the chunk, idf is ln(1 + (N - c + 0.5) / (c + 0.5)) for a term in c of N chunks,
which is never negative. The formula is that of Robertson & Walker 1994 (SIGIR, "Some simple effective
approximations to the 2-Poisson model"), the idf is Lucene's.

Every chunk adds its terms in query order and its dimensions in their order, so a score has the same
bits whoever computes it. `ListScorer` has its answers while numpy would still be imported;
`arrays.scorer` has its own sooner once there are very many postings.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, TypeVar

from cce.retrieval.counting.flat import owners_of
from cce.retrieval.counting.token_counts import TokenCounts
from cce.retrieval.embedding.hashing import DIMENSION, bucket_and_sign, unit_vector
from cce.retrieval.scoring.ordering import best_positions

if TYPE_CHECKING:
    from cce.retrieval.embedding.catalog import FloatVector

# Robertson & Zaragoza 2009 (The Probabilistic Relevance Framework: BM25 and Beyond) find k1 from 1.2 to 2 and
# b from 0.5 to 0.8 good in many circumstances. These two are the defaults of Lucene and Elasticsearch.
K1 = 1.2
B = 0.75

_Length = TypeVar("_Length", float, "FloatVector")


class Scores(Protocol):
    """One score per chunk of an index, for one query."""

    def best(self, k: int, *, positive: bool = False, allowed: Collection[int] | None = None) -> list[int]:
        """Positions of the k best chunks, best first, in the order of `cce.retrieval.scoring.ordering`.

        With `positive` only scores that round to more than 0; of `allowed` positions only, if given.
        """

    def at(self, positions: Sequence[int]) -> list[float]:
        """The scores of the chunks at `positions`, in their order."""


class Scorer(Protocol):
    """Scores all chunks of an index for any query."""

    def term(self, token: bytes) -> tuple[Sequence[int], Sequence[float]]:
        """Positions of the chunks that hold `token`, ascending, and its share in the bm25 score of each."""

    def bm25(self, tokens: Iterable[bytes]) -> Scores:
        """The sum of the shares of `tokens`, in their order."""

    def cosines(self, query: bytes) -> Scores:
        """The cosine of every chunk with `query`, summed over dimensions in order."""

    def scores(self, values: Sequence[float]) -> Scores:
        """`values` that a backend computed itself, one per chunk in index order."""

    def with_parameters(self, k1: float, b: float) -> Scorer:
        """A scorer of the same chunks whose bm25 has these parameters."""


class ListScores:
    """Scores in a list."""

    def __init__(self, values: Sequence[float], id_rank: Sequence[int]) -> None:
        """`id_rank` is the rank of each chunk id in byte order: the tie-break."""
        self._values = values
        self._id_rank = id_rank

    def best(self, k: int, *, positive: bool = False, allowed: Collection[int] | None = None) -> list[int]:
        """As for Scores."""
        return best_positions(self._values, self._id_rank, k, positive=positive, allowed=allowed)

    def at(self, positions: Sequence[int]) -> list[float]:
        """As for Scores."""
        return [self._values[position] for position in positions]


class ListScorer:
    """Scores chunks by lists of numbers; embeds with the hash embedder."""

    def __init__(self, token_counts: TokenCounts, id_rank: Sequence[int]) -> None:
        """`token_counts` and `id_rank`, the rank of each chunk id in byte order, are in index order."""
        self._id_rank = id_rank
        starts, self._counts = token_counts.starts, token_counts.counts
        self._n_chunks = len(starts) - 1
        self._chunk_of = owners_of(starts)
        self._places: dict[bytes, list[int]] = {token: [] for token in token_counts.vocabulary}
        places_by_term = list(self._places.values())
        for place, term in enumerate(token_counts.terms):
            places_by_term[term].append(place)
        self._k1, self._b = K1, B
        self._lengths = [sum(self._counts[start:end]) for start, end in pairwise(starts)]
        self._length_norms = self._normalise_lengths()
        self._terms: dict[bytes, tuple[Sequence[int], Sequence[float]]] = {}
        self._dimensions: list[dict[int, float]] = []

    def with_parameters(self, k1: float, b: float) -> ListScorer:
        """As for Scorer."""
        other = copy(self)
        other._k1, other._b, other._terms = k1, b, {}
        other._length_norms = other._normalise_lengths()
        return other

    def term(self, token: bytes) -> tuple[Sequence[int], Sequence[float]]:
        """As for Scorer; computed once per token."""
        if token not in self._terms:
            places = self._places.get(token, ())
            chunks = [self._chunk_of[place] for place in places]
            weight = idf(self._n_chunks, len(chunks))
            norms, counts, k1 = self._length_norms, self._counts, self._k1
            shares = [
                weight * (counts[place] * (k1 + 1)) / (counts[place] + norms[chunk])
                for place, chunk in zip(places, chunks, strict=True)
            ]
            self._terms[token] = chunks, shares
        return self._terms[token]

    def scores(self, values: Sequence[float]) -> ListScores:
        """As for Scorer."""
        return ListScores(values, self._id_rank)

    def bm25(self, tokens: Iterable[bytes]) -> ListScores:
        """As for Scorer."""
        scores = [0.0] * self._n_chunks
        for token in tokens:
            for chunk, share in zip(*self.term(token), strict=True):
                scores[chunk] += share
        return self.scores(scores)

    def cosines(self, query: bytes) -> ListScores:
        """As for Scorer. Where either vector is 0 it adds exactly 0, so leaving that out keeps every bit."""
        if not self._dimensions:
            self._dimensions = self._embed_chunks()
        cosines = [0.0] * self._n_chunks
        for dimension, query_coordinate in unit_vector(query):
            for chunk, coordinate in self._dimensions[dimension].items():
                cosines[chunk] += query_coordinate * coordinate
        return self.scores(cosines)

    def _normalise_lengths(self) -> list[float]:
        """`length_norm` of each chunk."""
        lengths, k1, b = self._lengths, self._k1, self._b
        mean_length = sum(lengths) / len(lengths) if self._places else 1.0
        return [length_norm(length, mean_length, k1, b) for length in lengths]

    def _embed_chunks(self) -> list[dict[int, float]]:
        """For each dimension the coordinates of the chunks' unit vectors, by position."""
        sums: list[dict[int, int]] = [{} for _ in range(DIMENSION)]
        for token, places in self._places.items():
            bucket, sign = bucket_and_sign(token)
            bucket_sums = sums[bucket]
            for place in places:
                chunk = self._chunk_of[place]
                bucket_sums[chunk] = bucket_sums.get(chunk, 0) + sign * self._counts[place]
        squares = [0] * self._n_chunks
        for bucket_sums in sums:
            for chunk, value in bucket_sums.items():
                squares[chunk] += value * value
        norms = [math.sqrt(square) or 1.0 for square in squares]
        return [{chunk: value / norms[chunk] for chunk, value in bucket_sums.items()} for bucket_sums in sums]


def idf(n_chunks: int, n_holding: int) -> float:
    """What a term weighs that `n_holding` of `n_chunks` chunks hold."""
    return math.log(1 + (n_chunks - n_holding + 0.5) / (n_holding + 0.5))


def length_norm(length: _Length, mean_length: float, k1: float = K1, b: float = B) -> _Length:
    """What is added to the count of a term in a chunk of this length, or in each of many."""
    return k1 * (1 - b + b * length / mean_length)
