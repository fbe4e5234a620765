"""The `vector` backend: all chunks by cosine with the query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.retrieval.backends.contract import CANDIDATES_PER_HIT, hits
from cce.retrieval.indexing.index import Index

if TYPE_CHECKING:
    from cce.domain.ranking_account import RankingAccount
    from cce.retrieval.scoring.scorer import Scores


class VectorBackend:
    """Ranks by embedding; a chunk that shares nothing with the query still has a place, behind the rest."""

    def __init__(self, index: Index) -> None:
        """Vectors are embedded when the first query comes."""
        self._index = index

    def rank(self, query: Query, k: int) -> Ranking:
        """The k best chunks; none for a query without a token, which has no vector."""
        if not query.tokens:
            return ()
        positions = query.once(vector_order, self._index, k)[:k]
        return hits(self._index, positions, query.once(query_cosines, self._index))

    def explain(self, query: Query, k: int) -> RankingAccount:
        """The hits of `rank`, whose scores are all there is to tell."""
        from cce.domain.ranking_account import AccountedHit, RankingAccount

        ranked = enumerate(self.rank(query, k), start=1)
        accounted = tuple(AccountedHit(rank, hit) for rank, hit in ranked)
        return RankingAccount(accounted, formula=("score = cosine of the chunk's vector and the query's",))


def query_cosines(query: Query, index: Index) -> Scores:
    """The cosine of every chunk with `query`."""
    return index.scorer.cosines(query.encoded)


def vector_order(query: Query, index: Index, k: int) -> list[int]:
    """Positions of the best chunks, best first: enough for k hits of any backend, and at least one."""
    return query.once(query_cosines, index).best(max(CANDIDATES_PER_HIT * k, 1), allowed=query.allowed)
