"""Paired figures in, a paired t test out.

Figures are quotients of small integers, so equal ones can differ in their last bits if they were computed
in different ways. Differences of that size count as 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from cce.domain.comparison import PairedTest
from cce.domain.scores import Column
from cce.numerals import mean, ordered_sum

NOISE = 16 * 2.0**-52
"""16 float epsilons, relative to the larger figure; part of the v2 report's contract."""

CONFIDENCE = 0.95


def paired_deltas(a: Sequence[float], b: Sequence[float]) -> tuple[float, ...]:
    """The differences b - a, 0 where they are within NOISE; both must have the same length."""
    return tuple(_delta(x, y) for x, y in zip(a, b, strict=True))


def case_deltas(a: Column, b: Column) -> tuple[float | None, ...]:
    """`paired_deltas` of columns; None where either side is undefined."""
    return tuple(None if x is None or y is None else _delta(x, y) for x, y in zip(a, b, strict=True))


def _delta(a: float, b: float) -> float:
    return 0.0 if abs(b - a) <= NOISE * max(abs(a), abs(b)) else b - a


def paired_t_test(a: Sequence[float], b: Sequence[float]) -> PairedTest:
    """Student's two-sided t-test on the paired deltas b - a, of which there is at least one."""
    deltas = paired_deltas(a, b)
    if len(deltas) < 2:
        return PairedTest(len(deltas), mean(deltas), t=None, p=None, ci95_low=None, ci95_high=None)
    return _test_of_constant(deltas) if _are_constant(deltas) else _test_of_spread(deltas)


def _are_constant(deltas: Sequence[float]) -> bool:
    low, high = min(deltas), max(deltas)
    return high - low <= NOISE * max(abs(low), abs(high))


def _test_of_constant(deltas: Sequence[float]) -> PairedTest:
    # Without spread t is undefined: p is 1 if all deltas are 0, and 0 if they are equal and not 0.
    delta = deltas[0]
    p = 1.0 if mean(deltas) == 0.0 else 0.0
    return PairedTest(len(deltas), delta, t=None, p=p, ci95_low=delta, ci95_high=delta)


def _test_of_spread(deltas: Sequence[float]) -> PairedTest:
    # Not scipy.stats: it has the same two functions and takes three times as long to import.
    from scipy.special import stdtr, stdtrit

    # Scaling by a power of two is exact, and keeps the squares of tiny deltas from underflowing to 0.
    _, exponent = math.frexp(max(map(abs, deltas)))
    scaled = [math.ldexp(delta, -exponent) for delta in deltas]
    df, centre, error = len(scaled) - 1, mean(scaled), _standard_error(scaled)
    t, margin = centre / error, float(stdtrit(df, 0.5 + CONFIDENCE / 2)) * error
    return PairedTest(
        n=len(scaled),
        mean_delta=math.ldexp(centre, exponent),
        t=t,
        p=2.0 * float(stdtr(df, -abs(t))),
        ci95_low=math.ldexp(centre - margin, exponent),
        ci95_high=math.ldexp(centre + margin, exponent),
    )


def _standard_error(deltas: Sequence[float]) -> float:
    """Standard error of the mean: sd / sqrt(n), the sd with n - 1 degrees of freedom."""
    centre = mean(deltas)
    squares = ordered_sum((delta - centre) * (delta - centre) for delta in deltas)
    return math.sqrt(squares / (len(deltas) - 1)) / math.sqrt(len(deltas))
