"""Figures of a difference in, the verdict out.

Figures are compared as they print, on integers of 1e-6, so that no printed figure contradicts the verdict.
"""

from __future__ import annotations

from typing import NamedTuple

from cce.domain.evidence import EvidenceOptions, Verdict
from cce.numerals import is_below, ordering_key


class Findings(NamedTuple):
    """What a verdict on one metric depends on.

    is_identical  whether both sides returned the same places in the same order for every case
    n_moved       cases whose delta does not print as 0
    equivalence   one-sided bounds of the mean, in integers of 1e-6; None without cases
    """

    mean: float | None
    adjusted_p: float
    attainable_p: float
    n_moved: int
    equivalence: tuple[int, int] | None = None
    is_identical: bool = False


def decide(found: Findings, options: EvidenceOptions) -> Verdict:
    """The first verdict whose condition holds."""
    if found.is_identical:
        return Verdict.IDENTICAL
    if found.mean is None or not is_below(found.attainable_p, options.alpha):
        return Verdict.CANNOT_TELL
    moved, limit = ordering_key(found.mean), ordering_key(options.min_effect)
    # A mean that prints as 0 has no direction, even if it is significant: 10 of 100 cases may differ by 1e-6.
    if moved and is_below(found.adjusted_p, options.alpha) and abs(moved) >= limit:
        return Verdict.IMPROVED if moved > 0 else Verdict.REGRESSED
    if found.equivalence is not None and _are_inside(found.equivalence, limit):
        return Verdict.EQUIVALENT
    return Verdict.INCONCLUSIVE if found.n_moved else Verdict.NO_CASE_MOVED


def _are_inside(bounds: tuple[int, int], limit: int) -> bool:
    low, high = bounds
    return limit > 0 and low > -limit and high < limit
