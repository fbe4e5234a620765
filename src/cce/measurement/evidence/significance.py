"""Paired figures in, a paired t-test out.

Figures are quotients of small integers, so equal ones can differ in their last bits when they were
reached by different routes. Noise of that size is taken for what it is before anything is tested.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from cce.domain.comparison import PairedTest
from cce.domain.scores import Column
from cce.numerals import mean, ordered_sum

NOISE = 16 * 2.0**-52
CONFIDENCE = 0.95


def paired_deltas(a: Sequence[float], b: Sequence[float]) -> tuple[float, ...]:
    """Subtract a from b, pair by pair; a difference within rounding noise is 0. The lengths must agree."""
    return tuple(_delta(x, y) for x, y in zip(a, b, strict=True))


def case_deltas(a: Column, b: Column) -> tuple[float | None, ...]:
    """As `paired_deltas`, per case; None where either side is undefined."""
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
    # Without spread there is no t: a shift that never varies is certain, and no shift is no evidence.
    delta = deltas[0]
    p = 1.0 if mean(deltas) == 0.0 else 0.0
    return PairedTest(len(deltas), delta, t=None, p=p, ci95_low=delta, ci95_high=delta)


def _test_of_spread(deltas: Sequence[float]) -> PairedTest:
    # scipy.stats takes three times as long to load and would bring the same two functions.
    from scipy.special import stdtr, stdtrit

    # A power of two changes no bit of the result, and keeps the squares of tiny deltas from vanishing.
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
