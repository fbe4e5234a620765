"""What a backend is: a way to rank the chunks of one index for any query.

A backend is made once an index and asked once a query. A new one is a class that satisfies
`Backend` and one row in `catalog.py`, or an entry point of the group named there. Laws: at most k
hits, best first in the order of `cce.retrieval.ordering`, no chunk twice, finite scores; a query
without a token and an empty index give no hits; k may exceed the number of chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cce.domain.ranking import Hit, Ranking
from cce.numerals import ordering_keys
from cce.retrieval.index import Index
from cce.retrieval.ordering import IntVector, contenders, top_k


class Backend(Protocol):
    """Ranks the chunks of the index it was made for."""

    def rank(self, query: str, k: int) -> Ranking:
        """The k best chunks for `query`."""


BackendFactory = Callable[[Index], Backend]


def best_positions(index: Index, scores: NDArray[np.float64], k: int, *, positive: bool) -> IntVector:
    """Positions of the k best scores; with `positive` only those that do not round to zero or less."""
    positions = contenders(scores, np.flatnonzero(scores > 0) if positive else None, k)
    keys = ordering_keys(scores[positions])
    best = top_k(keys, index.id_rank[positions], k)
    return positions[best[keys[best] > 0] if positive else best]


def hits(index: Index, positions: Iterable[int], scores: NDArray[np.float64]) -> Ranking:
    """The ranking that `positions` spell, each with its score."""
    return tuple(Hit(index.chunks[position], float(scores[position])) for position in positions)
