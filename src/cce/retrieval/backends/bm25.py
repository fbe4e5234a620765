"""The `bm25` backend: Okapi BM25, the formula of `cce.retrieval.scoring.scorer`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.retrieval.backends.contract import CANDIDATES_PER_HIT, hits
from cce.retrieval.indexing.index import Index
from cce.retrieval.scoring.scorer import idf

if TYPE_CHECKING:
    from cce.domain.ranking_account import QueryTerm, RankingAccount, Share
    from cce.retrieval.scoring.scorer import Scores

_FORMULA = (
    "score = sum over the terms of idf * 2.2 n / (n + 1.2 * (0.25 + 0.75 * length / mean length))",
    "idf = ln(1 + (N - c + 0.5) / (c + 0.5)) for a term in c of N chunks, n times in this one",
)


class Bm25Backend:
    """Ranks the chunks that share a token with the query."""

    def __init__(self, index: Index) -> None:
        """Postings are built when the first query comes."""
        self._index = index

    def rank(self, query: Query, k: int) -> Ranking:
        """The k best chunks with a positive score."""
        positions = query.once(bm25_order, self._index, k)[:k]
        return hits(self._index, positions, query.once(bm25_scores, self._index))

    def explain(self, query: Query, k: int) -> RankingAccount:
        """The hits of `rank`, each with the shares of the query tokens that it holds."""
        from cce.domain.ranking_account import AccountedHit, RankingAccount

        shares = self._shares(query, query.once(bm25_order, self._index, k)[:k])
        ranked = zip(self.rank(query, k), shares, strict=True)
        return RankingAccount(
            tuple(AccountedHit(rank, hit, terms) for rank, (hit, terms) in enumerate(ranked, start=1)),
            terms=tuple(self._query_terms(query)),
            formula=_FORMULA,
        )

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
