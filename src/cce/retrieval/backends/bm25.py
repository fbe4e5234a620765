"""The `bm25` backend: Okapi BM25, the formula of `cce.retrieval.scoring.scorer`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.errors import UsageError
from cce.retrieval.backends.contract import CANDIDATES_PER_HIT, hits
from cce.retrieval.indexing.index import Index
from cce.retrieval.scoring.scorer import K1, B, idf

if TYPE_CHECKING:
    from cce.domain.ranking_account import QueryTerm, RankingAccount, Share
    from cce.retrieval.scoring.scorer import Scorer, Scores

MAX_K1 = 1000

_FORMULA = (
    "score = sum over the terms of idf * 2.2 n / (n + 1.2 * (0.25 + 0.75 * length / mean length))",
    "idf = ln(1 + (N - c + 0.5) / (c + 0.5)) for a term in c of N chunks, n times in this one",
)


class Bm25Backend:
    """Ranks the chunks that share a token with the query."""

    def __init__(self, index: Index, *, k1: float = K1, b: float = B, query_counts: bool = False) -> None:
        """Postings are built when the first query comes.

        k1, b         the parameters of the formula: k1 0 or more, b from 0 to 1
        query_counts  whether a token counts as often as it stands in the query; else once

        Raises UsageError, which begins with the option, for a value that it cannot have.
        """
        self._index = index
        self._k1, self._b, self._has_query_counts = k1, b, query_counts
        for name, value, most in (("k1", k1, MAX_K1), ("b", b, 1)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
                raise UsageError(f"{name}: must be a number from 0 to {most}, got {value!r}")

    @property
    def _is_plain(self) -> bool:
        return (self._k1, self._b, self._has_query_counts) == (K1, B, False)

    def rank(self, query: Query, k: int) -> Ranking:
        """The k best chunks with a positive score."""
        if not self._is_plain:
            scores = self._scorer.bm25(query.tokens if self._has_query_counts else _tokens(query))
            return hits(self._index, scores.best(k, positive=True, allowed=query.allowed), scores)
        positions = query.once(bm25_order, self._index, k)[:k]
        return hits(self._index, positions, query.once(bm25_scores, self._index))

    def explain(self, query: Query, k: int) -> RankingAccount:
        """The hits of `rank`, each with the shares of the query tokens that it holds."""
        from cce.domain.ranking_account import AccountedHit, RankingAccount

        if not self._is_plain:  # the shares and the formula are those of the defaults
            hits_by_rank = enumerate(self.rank(query, k), start=1)
            return RankingAccount(tuple(AccountedHit(rank, hit) for rank, hit in hits_by_rank))
        shares = self._shares(query, query.once(bm25_order, self._index, k)[:k])
        ranked = zip(self.rank(query, k), shares, strict=True)
        return RankingAccount(
            tuple(AccountedHit(rank, hit, terms) for rank, (hit, terms) in enumerate(ranked, start=1)),
            terms=tuple(self._query_terms(query)),
            formula=_FORMULA,
        )

    @cached_property
    def _scorer(self) -> Scorer:
        return self._index.scorer.with_parameters(self._k1, self._b)

    def _shares(self, query: Query, positions: Sequence[int]) -> list[tuple[Share, ...]]:
        """For each of the chunks at `positions` the shares of the tokens it holds, in query order."""
        from cce.domain.ranking_account import Share

        shares: dict[int, list[Share]] = {position: [] for position in positions}
        for token in _tokens(query):
            for position, share in zip(*self._index.scorer.term(token), strict=True):
                if position in shares:
                    shares[position].append(Share(token.decode(), share))
        return [tuple(chunk_shares) for chunk_shares in shares.values()]

    def _query_terms(self, query: Query) -> Iterator[QueryTerm]:
        from cce.domain.ranking_account import QueryTerm

        for token in _tokens(query):
            n_holding = len(self._index.scorer.term(token)[0])
            yield QueryTerm(token.decode(), n_holding, idf(len(self._index.chunks), n_holding))


def bm25_scores(query: Query, index: Index) -> Scores:
    """The score of every chunk; repeated query tokens count once."""
    return index.scorer.bm25(_tokens(query))


def bm25_order(query: Query, index: Index, k: int) -> list[int]:
    """Positions of the best chunks with a positive score, best first: enough for k hits of any backend."""
    scores = query.once(bm25_scores, index)
    return scores.best(CANDIDATES_PER_HIT * k, positive=True, allowed=query.allowed)


def _tokens(query: Query) -> Iterable[bytes]:
    """The tokens of `query`, each once, in the order in which they are first seen."""
    return dict.fromkeys(query.tokens)
