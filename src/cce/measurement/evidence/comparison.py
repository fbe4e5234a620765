"""Two backend scores over the same cases in, their comparison out: deltas are always B - A."""

from __future__ import annotations

from collections.abc import Sequence

from cce.domain.comparison import Comparison, Difference
from cce.domain.scores import METRICS, BackendScore
from cce.errors import UsageError
from cce.measurement.evidence.significance import paired_deltas, paired_t_test


def compare(a: BackendScore, b: BackendScore) -> Comparison:
    """Compare `b` against `a` in every metric.

    Raises UsageError unless both scored the same cases, with the same cut-offs, in the same order.
    """
    _require_same_cases(a, b)
    rows = zip(METRICS, _columns(a), _columns(b), a.figures, b.figures, strict=True)
    return Comparison(a, b, tuple(_difference(*row) for row in rows))


def _difference(
    metric: str, a: Sequence[float], b: Sequence[float], mean_a: float, mean_b: float
) -> Difference:
    # The difference of the means is what a reader gets who subtracts the two report lines; the mean
    # of the deltas can differ from it in the last bits.
    return Difference(metric, paired_deltas(a, b), mean_b - mean_a, paired_t_test(a, b))


def _columns(score: BackendScore) -> Sequence[Sequence[float]]:
    """Per metric, in the order of METRICS: one figure per case."""
    return tuple(zip(*(case.figures for case in score.cases), strict=True))


def _require_same_cases(a: BackendScore, b: BackendScore) -> None:
    if len(a.cases) != len(b.cases):
        raise UsageError(
            f"cannot pair {a.backend} with {b.backend}: {len(a.cases)} and {len(b.cases)} cases; "
            "compare scores of one fixture set"
        )
    for number, (of_a, of_b) in enumerate(zip(a.cases, b.cases, strict=True), start=1):
        if (of_a.id, of_a.k) != (of_b.id, of_b.k):
            raise UsageError(
                f"cannot pair {a.backend} with {b.backend}: case {number} is {of_a.id!r} at k = {of_a.k} "
                f"and {of_b.id!r} at k = {of_b.k}; compare scores of one fixture set"
            )
