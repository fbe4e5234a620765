"""Figures of a difference in; adjusted p values, the equivalence interval and the verdict out.

Means are compared with limits as they print, on integers of 1e-6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from cce.domain.evidence import EvidenceOptions, Verdict
from cce.measurement.evidence.power import critical_t
from cce.numerals import ordering_key


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down adjustment (1979) of a family of p values, in the order given."""
    adjusted = [0.0] * len(p_values)
    floor = 0.0
    for n_smaller, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, (len(p_values) - n_smaller) * p_values[position]))
        adjusted[position] = floor
    return tuple(adjusted)


def equivalence_interval(mean: float, sd: float, n: int, alpha: float) -> tuple[float, float] | None:
    """The 1 - 2 alpha t interval of a mean of n cases; None below two cases.

    It lies within the limits if and only if two one-sided tests (TOST, Schuirmann 1987) pass at alpha.
    """
    if n < 2:
        return None
    margin = critical_t(n - 1, alpha) * sd / math.sqrt(n) if sd else 0.0
    return mean - margin, mean + margin


def decide(
    mean: float | None,
    holm_p: float,
    interval: tuple[float, float] | None,
    attainable_p: float,
    options: EvidenceOptions,
) -> Verdict:
    """The first verdict whose condition holds; `interval` is the equivalence interval of `mean`."""
    limit = ordering_key(options.min_effect)
    moved = 0 if mean is None else ordering_key(mean)
    # A mean that prints as 0 has no direction, even if it is significant: 10 of 100 cases may differ by 1e-6.
    if moved and holm_p < options.alpha and abs(moved) >= limit:
        return Verdict.IMPROVED if moved > 0 else Verdict.REGRESSED
    if interval is not None and all(-limit < ordering_key(bound) < limit for bound in interval):
        return Verdict.EQUIVALENT
    return Verdict.CANNOT_TELL if attainable_p >= options.alpha else Verdict.INCONCLUSIVE
