"""The `vector` backend: all chunks by cosine with the query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cce.domain.ranking import Ranking
from cce.domain.ranking_account import AccountedHit, RankingAccount
from cce.retrieval.backends.contract import best_positions, hits
from cce.retrieval.index import Index
from cce.tokens import tokenize

if TYPE_CHECKING:
    from cce.retrieval.embedding.contract import FloatVector


class VectorBackend:
    """Ranks by embedding; a chunk that shares nothing with the query still has a place, behind the rest."""

    def __init__(self, index: Index) -> None:
        """Vectors are embedded when the first query comes."""
        self._index = index

    def rank(self, query: str, k: int) -> Ranking:
        """The k best chunks; none for a query without a token, which has no vector."""
        if not tokenize(query.encode("utf-8", "replace")):
            return ()
        cosines = self._index.of_query(query_cosines, query)
        return hits(self._index, best_positions(self._index, cosines, k, positive=False), cosines)

    def explain(self, query: str, k: int) -> RankingAccount:
        """The hits of `rank`, whose scores are all there is to tell."""
        ranked = enumerate(self.rank(query, k), start=1)
        accounted = tuple(AccountedHit(rank, hit) for rank, hit in ranked)
        return RankingAccount(accounted, formula=("score = cosine of the chunk's vector and the query's",))


def query_cosines(index: Index, query: str) -> FloatVector:
    """float64[n_chunks]: the cosine of every chunk with `query`."""
    return index.cosines(query.encode("utf-8", "replace"))
