"""The `vector` backend: all chunks by cosine with the query."""

from __future__ import annotations

from cce.domain.ranking import Ranking
from cce.retrieval.backends.contract import best_positions, hits
from cce.retrieval.index import Index
from cce.tokens import tokenize


class VectorBackend:
    """Ranks by embedding; a chunk that shares nothing with the query still has a place, behind the rest."""

    def __init__(self, index: Index) -> None:
        """Vectors are embedded when the first query comes."""
        self._index = index

    def rank(self, query: str, k: int) -> Ranking:
        """The k best chunks; none for a query without a token, which has no vector."""
        text = query.encode("utf-8", "replace")
        if not tokenize(text):
            return ()
        cosines = self._index.cosines(text)
        return hits(self._index, best_positions(self._index, cosines, k, positive=False), cosines)
