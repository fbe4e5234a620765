"""The `vector` backend: all chunks by cosine with the query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cce.domain.ranking import Ranking
from cce.retrieval.backends.contract import CANDIDATES_A_HIT, best_positions, hits
from cce.retrieval.indexing.index import Index
from cce.tokens import tokenize

if TYPE_CHECKING:
    from cce.domain.ranking_account import RankingAccount
    from cce.retrieval.scoring.scorer import Scores


class VectorBackend:
    """Ranks by embedding; a chunk that shares nothing with the query still has a place, behind the rest."""

    def __init__(self, index: Index) -> None:
        """Vectors are embedded when the first query comes."""
        self._index = index

    def rank(self, query: str, k: int) -> Ranking:
        """The k best chunks; none for a query without a token, which has no vector."""
        if not tokenize(query.encode("utf-8", "replace")):
            return ()
        positions = self._index.of_query(vector_order, query, k)[:k]
        return hits(self._index, positions, self._index.of_query(query_cosines, query))

    def explain(self, query: str, k: int) -> RankingAccount:
        """The hits of `rank`, whose scores are all there is to tell."""
        from cce.domain.ranking_account import AccountedHit, RankingAccount

        ranked = enumerate(self.rank(query, k), start=1)
        accounted = tuple(AccountedHit(rank, hit) for rank, hit in ranked)
        return RankingAccount(accounted, formula=("score = cosine of the chunk's vector and the query's",))


def query_cosines(index: Index, query: str) -> Scores:
    """The cosine of every chunk with `query`."""
    return index.scorer.cosines(query.encode("utf-8", "replace"))


def vector_order(index: Index, query: str, k: int) -> list[int]:
    """Positions of the best chunks, best first: enough for k hits of any backend, and at least one."""
    cosines = index.of_query(query_cosines, query)
    return best_positions(index, cosines, max(CANDIDATES_A_HIT * k, 1), positive=False)
