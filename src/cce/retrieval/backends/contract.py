"""What a backend is: a way to rank the chunks of one index for any query.

A backend is made once an index and asked once a query. A new one is a class that satisfies
`Backend` and one row in `catalog.py`, or an entry point of the group named there. Laws: at most k
hits, best first in the order of `cce.retrieval.scoring.ordering`, no chunk twice, finite scores; a query
without a token and an empty index give no hits; k may exceed the number of chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from cce.domain.ranking import Hit, Ranking
from cce.retrieval.indexing.index import Index
from cce.retrieval.scoring import ordering

if TYPE_CHECKING:
    from cce.retrieval.scoring.scorer import Scores


class Backend(Protocol):
    """Ranks the chunks of the index it was made for."""

    def rank(self, query: str, k: int) -> Ranking:
        """The k best chunks for `query`."""


BackendFactory = Callable[[Index], Backend]


# Of each of the rankings that hybrid fuses it takes three times as many hits as it gives. All backends
# order as many, so that a query is ordered once.
CANDIDATES_A_HIT = 3


def best_positions(index: Index, scores: Scores, k: int, *, positive: bool) -> list[int]:
    """Positions of the k best scores; with `positive` only those that do not round to zero or less."""
    if isinstance(scores, list):
        return ordering.best_positions(scores, index.id_rank, k, positive=positive)
    from cce.retrieval.scoring.arrays.ordering import best_positions, id_rank_vector

    return best_positions(scores, index.derived(id_rank_vector), k, positive=positive)


def values_at(scores: Scores, positions: Sequence[int]) -> list[float]:
    """The scores of the chunks at `positions`."""
    if isinstance(scores, list):
        return [scores[position] for position in positions]
    values: list[float] = scores[list(positions)].tolist()
    return values


def hits(index: Index, positions: Sequence[int], scores: Scores) -> Ranking:
    """The ranking that `positions` spell, each with its score."""
    values = values_at(scores, positions)
    return tuple(
        Hit(index.chunks[position], value) for position, value in zip(positions, values, strict=True)
    )
