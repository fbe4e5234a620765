"""Numbers of cases and effects in, the power of a paired t test out.

Effects are in units of the standard deviation of the deltas. The power is integrated numerically here:
scipy's noncentral t is accurate to 1e-7 only, differs between releases by as much, and fails far in the
tail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from cce.numerals import is_below

# numpy and scipy are imported in the functions: a gate without evidence imports this module too.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

POWER = 0.8
"""The conventional probability to detect a real effect (Cohen, Statistical Power Analysis, 1988)."""

_BISECTIONS = 60  # halve an interval below the resolution of a float
_NODES = 128  # of the Gauss-Legendre rule; more change no digit above 1e-12
_NEGLIGIBLE = 40.0  # exp(-40) is below the resolution of 1.0
_WIDEST_STEP = 0.05
_NORMAL_REACH = 9.0  # standard deviations; a normal variable exceeds them with probability 1e-19


def attainable_p(n: int) -> float:
    """The smallest two-sided p that n signs can give: 2 / 2^n, as in 0.0625 for 5 cases."""
    return min(1.0, math.ldexp(2.0, -n))


def fewest_cases(alpha: float) -> int:
    """The smallest number of cases that can give a p below alpha: 6 at 0.05, since 2 / 2^6 is 0.03125."""
    n = 1
    while not is_below(attainable_p(n), alpha):
        n += 1
    return n


@lru_cache(maxsize=1024)
def critical_t(df: int, tail: float) -> float:
    """The t that a Student variable exceeds with probability `tail`; negative above one half."""
    # Not scipy's stdtrit: it was wrong by 4e-10 before scipy 1.13.
    from scipy.special import stdtr

    if tail > 0.5:
        return -critical_t(df, 1.0 - tail)
    return _least(lambda t: float(stdtr(df, -t)) <= tail)


def power(n: int, effect: float, alpha: float) -> float:
    """The power of a two-sided t test at `alpha` on n >= 2 cases for a mean delta of `effect` sd."""
    df, shift = n - 1, abs(effect) * math.sqrt(n)
    t = critical_t(df, alpha / 2)
    # T = (Z + shift) / S with Z normal and S the observed sd. One of the two enters by its distribution
    # function, the other is integrated over; integrating over the narrower one keeps the integrand smooth.
    return _over_spread(df, shift, t) if t * t < 2 * df else _over_mean(df, shift, t)


def _over_spread(df: int, shift: float, t: float) -> float:
    """E[P(|Z + shift| > t S | S)] by the trapezoidal rule over u = ln S.

    Up to a constant factor the density of u is exp(df (u - exp(2u) / 2)).
    """
    import numpy as np
    from scipy.special import ndtr

    step = min(0.5 / math.sqrt(2 * df), _WIDEST_STEP)
    # Where the density is negligible: left of 0 its logarithm falls at most by -df u, right of 0 faster.
    reach = math.ceil((math.sqrt(_NEGLIGIBLE / df) + _NEGLIGIBLE / df) / step)
    u = step * np.arange(-reach, min(reach, math.ceil(3.0 / step)) + 1)
    density = np.exp(df * (u - np.expm1(2 * u) / 2))
    limit = t * np.exp(u)
    return _ratio(density * (ndtr(shift - limit) + ndtr(-shift - limit)), density)


def _over_mean(df: int, shift: float, t: float) -> float:
    """E[P(S < |Z + shift| / t | Z)], by Gauss-Legendre rules on either side of the kink at Z = -shift."""
    import numpy as np
    from scipy.special import gammainc

    kink = max(-shift, -_NORMAL_REACH)
    nodes, weights = (
        np.concatenate(sides)
        for sides in zip(_rule(-_NORMAL_REACH, kink), _rule(kink, _NORMAL_REACH), strict=True)
    )
    density = weights * np.exp(-nodes * nodes / 2)
    found = gammainc(df / 2, df * np.square((nodes + shift) / t) / 2)
    return _ratio(density * found, density)


def _rule(low: float, high: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights of the Gauss-Legendre rule from `low` to `high`."""
    nodes, weights = _unit_rule()
    half = (high - low) / 2
    return low + half * (nodes + 1), half * weights


@lru_cache(maxsize=1)
def _unit_rule() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from numpy.polynomial.legendre import leggauss

    return leggauss(_NODES)


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> float:
    return min(1.0, float(part.sum()) / float(whole.sum()))


@lru_cache(maxsize=1024)
def detectable_effect(n: int, alpha: float) -> float | None:
    """The minimum detectable effect of n cases at POWER; None below two cases."""
    if n < 2:
        return None
    return _least(lambda effect: power(n, effect, alpha) >= POWER)


def cases_needed(effect: float, alpha: float) -> int:
    """The smallest number of cases, at least two, that detects `effect` at POWER; `effect` is not 0."""
    low = high = _normal_guess(abs(effect), alpha)
    step = 1
    while power(high, effect, alpha) < POWER:
        high, step = high + step, 2 * step
    step = 1
    while low > 2 and power(low, effect, alpha) >= POWER:
        low, step = max(2, low - step), 2 * step
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle, effect, alpha) >= POWER else (middle + 1, high)
    return low


def _normal_guess(effect: float, alpha: float) -> int:
    """The number of cases needed if the sd were known; a little too low."""
    from statistics import NormalDist  # loads decimal and fractions

    normal = NormalDist()
    return max(2, math.ceil(((normal.inv_cdf(POWER) - normal.inv_cdf(alpha / 2)) / effect) ** 2))


def _least(is_enough: Callable[[float], bool]) -> float:
    """The least x >= 0 for which the monotone `is_enough` is true, by doubling and bisection."""
    low, high = 0.0, 1.0
    while not is_enough(high):
        low, high = high, 2 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
