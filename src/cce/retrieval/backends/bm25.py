"""The `bm25` backend: Okapi BM25 (Robertson & Walker 1994) with k1 = 1.2 and b = 0.75.

The idf is ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative. Every chunk adds its terms in
query order, so its score has the same bits as a plain loop would give.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cce.domain.ranking import Ranking
from cce.retrieval.backends.contract import best_positions, hits
from cce.retrieval.index import Index
from cce.tokens import tokenize

K1 = 1.2
B = 0.75


class Bm25Backend:
    """Ranks the chunks that share a token with the query."""

    def __init__(self, index: Index) -> None:
        """Postings are built when the first query comes."""
        self._index = index

    def rank(self, query: str, k: int) -> Ranking:
        """The k best chunks with a positive score."""
        scores = bm25_scores(self._index, query)
        return hits(self._index, best_positions(self._index, scores, k, positive=True), scores)


def bm25_scores(index: Index, query: str) -> NDArray[np.float64]:
    """float64[n_chunks]: the score of every chunk; repeated query tokens count once."""
    postings = index.postings
    n_chunks = len(index.chunks)
    scores = np.zeros(n_chunks)
    n_tokens = int(postings.lengths.sum())
    for token in dict.fromkeys(tokenize(query.encode("utf-8", "replace"))):
        chunks, counts = postings.of_token(token)
        if len(chunks):
            average_length = n_tokens / n_chunks
            length_norm = 1 - B + B * postings.lengths[chunks] / average_length
            idf = math.log(1 + (n_chunks - len(chunks) + 0.5) / (len(chunks) + 0.5))
            scores[chunks] += idf * (counts * (K1 + 1)) / (counts + K1 * length_norm)
    return scores
