"""Deltas of one metric in, the interval of their mean and the bounds of an equivalence test out.

Deltas are integers of 1e-6, and so are the ends. Made-up cases stand for what a small set did not happen to
draw; they are in units of the width of the metric's range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from cce.domain.evidence import INTERVAL_ALPHA
from cce.measurement.evidence.power import critical_t
from cce.numerals import MICRO, ordering_key

MicroBounds = tuple[int, int]


def difference_interval(
    deltas: Sequence[int], flip_p: float, mean: int, width: int = 1
) -> MicroBounds | None:
    """The 95 % interval of the mean, which leaves 0 out if and only if `flip_p` prints below 0.05.

    It is the t interval of the deltas and two made-up cases, half the width of the range up and down, cut to
    what the metric can reach. A `mean` that prints as 0 moves no end. None without deltas.
    """
    if not deltas:
        return None
    limit = width * MICRO
    low, high = _t_bounds([*deltas, limit // 2, -(limit // 2)], INTERVAL_ALPHA / 2)
    low, high = max(-limit, low), min(limit, high)
    if ordering_key(flip_p) < ordering_key(INTERVAL_ALPHA) and mean:
        return (max(1, low), high) if mean > 0 else (low, min(-1, high))
    return min(0, low), max(0, high)


def equivalence_bounds(deltas: Sequence[int], alpha: float, width: int = 1) -> MicroBounds | None:
    """The lower and the upper one-sided bound of the mean at `alpha`; None without deltas.

    Each has one more case that moved against it by the whole width of the range: a rare large loss that a
    small set did not happen to draw must not pass as "no difference".
    """
    if not deltas:
        return None
    extreme = width * MICRO
    low, _ = _t_bounds([*deltas, -extreme], alpha)
    _, high = _t_bounds([*deltas, extreme], alpha)
    return low, high


def _t_bounds(deltas: Sequence[int], tail: float) -> MicroBounds:
    """The bounds of the mean of at least two deltas, each with an error of `tail`."""
    n, total = len(deltas), sum(deltas)
    # The sum of squares is an integer, so its rounding depends on no order.
    squares = n * sum(delta * delta for delta in deltas) - total * total
    margin = critical_t(n - 1, tail) * math.sqrt(squares / (n * n * (n - 1)))
    return ordering_key((total / n - margin) / MICRO), ordering_key((total / n + margin) / MICRO)
