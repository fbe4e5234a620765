"""The classics of the `rank-bm25` package with its defaults: `bm25-okapi`, `bm25-plus`, `bm25-l`.

They score the same tokens as `bm25` and are ordered by the same key, for comparison only: each
query looks at every chunk, and Okapi's idf can be negative there.
"""

from __future__ import annotations

from typing import Any

from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.retrieval.backends.contract import hits
from cce.retrieval.indexing.index import Index
from cce.tokens import tokenize


class _ClassicBackend:
    """Ranks by a scorer of `rank_bm25`; subclasses name it."""

    scorer_name: str

    def __init__(self, index: Index) -> None:
        self._index = index
        self._scorer = self._build_scorer()

    def rank(self, query: Query, k: int) -> Ranking:
        """The k best chunks with a positive score."""
        if self._scorer is None or not query.tokens:
            return ()
        scores = self._index.scorer.scores(self._scorer.get_scores(list(query.tokens)).tolist())
        return hits(self._index, scores.best(k, positive=True, allowed=query.allowed), scores)

    def _build_scorer(self) -> Any:
        """None for an index without a token: the package divides by their number."""
        import rank_bm25

        token_lists = [tokenize(chunk.content) for chunk in self._index.chunks]
        return getattr(rank_bm25, self.scorer_name)(token_lists) if any(token_lists) else None


class Bm25OkapiBackend(_ClassicBackend):
    """`BM25Okapi`: k1 = 1.5, b = 0.75, a negative idf replaced by a quarter of the mean one."""

    scorer_name = "BM25Okapi"


class Bm25PlusBackend(_ClassicBackend):
    """`BM25Plus` (Lv & Zhai 2011): k1 = 1.5, b = 0.75, delta = 1."""

    scorer_name = "BM25Plus"


class Bm25LBackend(_ClassicBackend):
    """`BM25L` (Lv & Zhai 2011): k1 = 1.5, b = 0.75, delta = 0.5."""

    scorer_name = "BM25L"
