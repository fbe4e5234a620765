"""What a backend is: a way to rank the chunks of one index for any query.

A backend is made once per index and asked once per query. A new one is a class that satisfies
`Backend` and one row in `catalog.py`, or an entry point of the group named there. `check_ranking`
holds the rankings of all to their laws; `rank` of one backend may add laws of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from cce.domain.query import Query
from cce.domain.ranking import Hit, Ranking
from cce.retrieval.indexing.index import Index

if TYPE_CHECKING:
    from cce.retrieval.scoring.scorer import Scores


class Backend(Protocol):
    """Ranks the chunks of the index it was made for."""

    def rank(self, query: Query, k: int) -> Ranking:
        """At most the k best chunks that `query` allows, best first, none twice, with finite scores.

        None for a query without a token and for an empty index; `k` may exceed the number of chunks.
        """


BackendFactory = Callable[[Index], Backend]


# hybrid fuses the first 3k of bm25 and of vector. All backends order that many: one order serves all.
CANDIDATES_PER_HIT = 3


def hits(index: Index, positions: Sequence[int], scores: Scores) -> Ranking:
    """The ranking of the chunks at `positions`, in their order, each with its score."""
    values = scores.at(positions)
    return tuple(
        Hit(index.chunks[position], value) for position, value in zip(positions, values, strict=True)
    )
