"""The scorer for large corpora, for other embedders and for stores: in arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from cce.retrieval.scoring.arrays.ordering import IntVector, best_positions
from cce.retrieval.scoring.scorer import K1, B, idf, length_norm

if TYPE_CHECKING:
    from cce.retrieval.embedding.catalog import Embedder, FloatMatrix, FloatVector
    from cce.retrieval.scoring.arrays.postings import IntVector, Postings


class Columns(Protocol):
    """The vectors of all chunks, dimension after dimension."""

    def dimension(self, number: int) -> FloatVector:
        """float64[n_chunks]: one coordinate of every vector."""


class EmbeddingColumns:
    """The columns of vectors that some embedder gave."""

    def __init__(self, embeddings: FloatMatrix) -> None:
        """`embeddings` is float64[n_chunks, dimension]."""
        self._columns = np.ascontiguousarray(embeddings.T)

    def dimension(self, number: int) -> FloatVector:
        """As for Columns."""
        column: FloatVector = self._columns[number]
        return column


class ArrayScores:
    """Scores in an array."""

    def __init__(self, values: FloatVector, id_rank: IntVector) -> None:
        """`values` float64[n_chunks]; `id_rank` int64[n_chunks], the rank of each chunk id in byte order."""
        self._values = values
        self._id_rank = id_rank

    def best(self, k: int, *, positive: bool = False, allowed: Collection[int] | None = None) -> list[int]:
        """As for Scores."""
        return best_positions(self._values, self._id_rank, k, positive=positive, allowed=allowed)

    def at(self, positions: Sequence[int]) -> list[float]:
        """As for Scores."""
        values: list[float] = self._values[list(positions)].tolist()
        return values


class ArrayScorer:
    """Scores chunks by their postings and the columns of their vectors."""

    def __init__(
        self,
        postings: Postings,
        embedder: Embedder,
        build_columns: Callable[[], Columns],
        id_rank: Sequence[int],
    ) -> None:
        """`build_columns` is called when a query first needs vectors; `id_rank` as for ListScorer."""
        self._id_rank = np.array(id_rank, np.int64)
        self._postings = postings
        self._embedder = embedder
        self._build_columns = build_columns
        self._dimensions: dict[int, FloatVector] = {}
        self._k1, self._b = K1, B

    def with_parameters(self, k1: float, b: float) -> ArrayScorer:
        """As for Scorer."""
        other = copy(self)
        for name in ("_numerators", "_denominators", "_length_norms"):  # computed again when asked for
            other.__dict__.pop(name, None)
        other._k1, other._b = k1, b
        return other

    def term(self, token: bytes) -> tuple[Sequence[int], Sequence[float]]:
        """As for Scorer."""
        chunks, shares = self._term(token)
        return chunks.tolist(), shares.tolist()

    def scores(self, values: Sequence[float]) -> ArrayScores:
        """As for Scorer."""
        return ArrayScores(np.asarray(values, np.float64), self._id_rank)

    def bm25(self, tokens: Iterable[bytes]) -> ArrayScores:
        """As for Scorer."""
        scores = np.zeros(len(self._postings.lengths))
        for token in tokens:
            chunks, shares = self._term(token)
            scores[chunks] += shares
        return ArrayScores(scores, self._id_rank)

    def cosines(self, query: bytes) -> ArrayScores:
        """As for Scorer. A dimension where the query is 0 adds exactly 0: leaving it out keeps every bit."""
        cosines = np.zeros(len(self._postings.lengths))
        if len(cosines):
            (vector,) = self._embedder.embed([query])
            for number in np.flatnonzero(vector).tolist():
                cosines += vector[number] * self._dimension(number)
        return ArrayScores(cosines, self._id_rank)

    def _term(self, token: bytes) -> tuple[IntVector, FloatVector]:
        if self._postings.nests is None:
            span = self._postings.span(token)
            return self._postings.chunks[span], self._shares(span)
        chunks, counts = self._postings.of_token(token)  # the same sums, of counts that are added up first
        weight = idf(len(self._postings.lengths), len(chunks))
        shares: FloatVector = weight * (counts.astype(np.float64) * (self._k1 + 1))
        shares /= counts + self._length_norms[chunks]
        return chunks, shares

    def _shares(self, span: slice) -> FloatVector:
        n_holding = span.stop - span.start
        weight = idf(len(self._postings.lengths), n_holding)
        shares: FloatVector = weight * self._numerators[span] / self._denominators[span]
        return shares

    # What a share has besides its idf: the same numbers for every query.

    @cached_property
    def _numerators(self) -> FloatVector:
        return self._postings.counts.astype(np.float64) * (self._k1 + 1)

    @cached_property
    def _denominators(self) -> FloatVector:
        denominators: FloatVector = self._postings.counts + self._length_norms[self._postings.chunks]
        return denominators

    @cached_property
    def _length_norms(self) -> FloatVector:
        lengths = self._postings.lengths
        mean_length = int(lengths.sum()) / len(lengths) if len(self._postings.chunks) else 1.0
        return length_norm(lengths.astype(np.float64), mean_length, self._k1, self._b)

    def _dimension(self, number: int) -> FloatVector:
        """One coordinate of all vectors; those that queries ask for stay at hand."""
        dimension = self._dimensions.get(number)
        if dimension is None:
            dimension = self._dimensions[number] = self._columns.dimension(number)
        return dimension

    @cached_property
    def _columns(self) -> Columns:
        return self._build_columns()
