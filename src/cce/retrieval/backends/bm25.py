"""The `bm25` backend: Okapi BM25 (Robertson & Walker 1994) with k1 = 1.2 and b = 0.75.

The idf is ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative. Every chunk adds its terms in
query order, so its score has the same bits as a plain loop would give.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from cce.domain.ranking import Ranking
from cce.domain.ranking_account import AccountedHit, QueryTerm, RankingAccount, Share
from cce.retrieval.backends.contract import best_positions, hits
from cce.retrieval.index import Index
from cce.retrieval.ordering import IntVector
from cce.tokens import tokenize

K1 = 1.2
B = 0.75

_FORMULA = (
    "score = sum over the terms of idf * 2.2 n / (n + 1.2 * (0.25 + 0.75 * length / mean length))",
    "idf = ln(1 + (N - c + 0.5) / (c + 0.5)) for a term in c of N chunks, n times in this one",
)


# Made in the innermost loop of every ranking, where a tuple costs the least.
_Term = tuple[bytes, IntVector, NDArray[np.float64]]
"""A query token that some chunk holds, the positions of these chunks, ascending, and its share in each."""


class Bm25Backend:
    """Ranks the chunks that share a token with the query."""

    def __init__(self, index: Index) -> None:
        """Postings are built when the first query comes."""
        self._index = index

    def rank(self, query: str, k: int) -> Ranking:
        """The k best chunks with a positive score."""
        scores = self._index.of_query(bm25_scores, query)
        return hits(self._index, best_positions(self._index, scores, k, positive=True), scores)

    def explain(self, query: str, k: int) -> RankingAccount:
        """The hits of `rank`, each with the shares of the query tokens that it holds."""
        terms = list(_terms(self._index, query))
        scores = _sum(self._index, terms)
        positions = best_positions(self._index, scores, k, positive=True)
        accounted = zip(hits(self._index, positions, scores), _shares(terms, positions), strict=True)
        return RankingAccount(
            tuple(AccountedHit(rank, hit, shares) for rank, (hit, shares) in enumerate(accounted, start=1)),
            terms=tuple(self._query_terms(query)),
            formula=_FORMULA,
        )

    def _query_terms(self, query: str) -> Iterator[QueryTerm]:
        for token in _tokens(query):
            n_holding = len(self._index.postings.of_token(token)[0])
            yield QueryTerm(token.decode(), n_holding, _idf(len(self._index.chunks), n_holding))


def bm25_scores(index: Index, query: str) -> NDArray[np.float64]:
    """float64[n_chunks]: the score of every chunk; repeated query tokens count once."""
    return _sum(index, _terms(index, query))


def _sum(index: Index, terms: Iterable[_Term]) -> NDArray[np.float64]:
    scores = np.zeros(len(index.chunks))
    for _, chunks, shares in terms:
        scores[chunks] += shares
    return scores


def _terms(index: Index, query: str) -> Iterator[_Term]:
    postings = index.postings
    saturation = index.derived(_Saturation)
    for token in _tokens(query):
        span = postings.span(token)
        chunks = postings.chunks[span]
        if len(chunks):
            idf = _idf(len(index.chunks), len(chunks))
            yield token, chunks, idf * saturation.numerators[span] / saturation.denominators[span]


class _Saturation:
    """What a share has besides its idf, for every posting: the same numbers for every query.

    numerators    float64[n_postings]; count * (k1 + 1)
    denominators  float64[n_postings]; count + k1 * (1 - b + b * length / mean length)
    """

    def __init__(self, index: Index) -> None:
        postings = index.postings
        n_chunks = len(index.chunks)
        average_length = int(postings.lengths.sum()) / n_chunks if len(postings.chunks) else 1.0
        length_norms = 1 - B + B * postings.lengths / average_length
        self.numerators = postings.counts * (K1 + 1)
        self.denominators = postings.counts + (K1 * length_norms)[postings.chunks]


def _idf(n_chunks: int, n_holding: int) -> float:
    return math.log(1 + (n_chunks - n_holding + 0.5) / (n_holding + 0.5))


def _tokens(query: str) -> Iterable[bytes]:
    """The tokens of `query`, each once, in the order in which they are first seen."""
    return dict.fromkeys(tokenize(query.encode("utf-8", "replace")))


def _shares(terms: Iterable[_Term], positions: IntVector) -> list[tuple[Share, ...]]:
    """For each of the chunks at `positions` the shares of the terms it holds, in query order."""
    shares: list[list[Share]] = [[] for _ in positions]
    for token, chunks, of_term in terms:
        places = np.minimum(np.searchsorted(chunks, positions), len(chunks) - 1)
        name = token.decode()
        for number in np.flatnonzero(chunks[places] == positions).tolist():
            shares[number].append(Share(name, float(of_term[places[number]])))
    return [tuple(of_chunk) for of_chunk in shares]
