"""What a figure could be over all orders of tied results, which no rule of a file puts in order.

With every relevant result at the front of its group of ties, the best grade first, each of these metrics is
as large as it can be, and with all of them at the back as small. So two orders stand for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from cce.domain.ranking import Hit, Ranking

BOUNDED_METRICS = ("precision_at_k", "hit", "mrr", "ndcg", "ap")
"""The metrics that depend on the order, and whose extremes the two orders give."""

Tied = Callable[[float | None, float | None], bool]


class ExtremeOrders(NamedTuple):
    """A ranking with its relevant results as late, and as early, as its ties allow."""

    worst: Ranking
    best: Ranking


def extreme_orders(ranking: Ranking, grades: Sequence[int], is_tied: Tied) -> ExtremeOrders:
    """The two orders of `ranking`, which holds the ties at its end to the last one.

    grades   one per hit, 0 for what is not relevant
    is_tied  of the scores of neighbours
    """
    worst: list[Hit] = []
    best: list[Hit] = []
    for start, end in _groups(ranking, is_tied):
        # Stable, so that what does not matter stays in the order of the file.
        positions = sorted(range(start, end), key=grades.__getitem__)
        worst += [ranking[position] for position in positions]
        best += [ranking[position] for position in sorted(positions, key=lambda n: (-grades[n], n))]
    return ExtremeOrders(tuple(worst), tuple(best))


def _groups(ranking: Ranking, is_tied: Tied) -> Iterator[tuple[int, int]]:
    """Positions where each group of ties starts and ends."""
    start = 0
    for position in range(1, len(ranking) + 1):
        if position < len(ranking) and is_tied(ranking[position - 1].score, ranking[position].score):
            continue
        yield start, position
        start = position
