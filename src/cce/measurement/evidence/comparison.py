"""Two backend scores over the same cases in, their comparison out: deltas are always B - A."""

from __future__ import annotations

from cce.domain.comparison import Comparison, Difference, PairedTest
from cce.domain.scores import METRICS, BackendScore, defined
from cce.errors import UsageError
from cce.measurement.evidence.significance import paired_deltas, paired_t_test
from cce.numerals import MICRO, ordering_key


def compare(a: BackendScore, b: BackendScore, *, are_saved: bool = False) -> Comparison:
    """Compare `b` against `a` in every metric.

    are_saved  the figures come from a saved report: they are exact as integers of 1e-6, so the differences
               are computed on these and need no rounding

    Raises UsageError unless both scored the same cases with the same k in the same order.
    """
    _require_same_cases(a, b)
    return Comparison(a, b, tuple(_difference(metric, a, b, are_saved=are_saved) for metric in METRICS))


def _difference(metric: str, a: BackendScore, b: BackendScore, *, are_saved: bool) -> Difference:
    # The difference of the means equals the difference of the two report lines; the mean of the deltas
    # can differ from it in the last bits.
    mean_delta = b.mean(metric) - a.mean(metric)
    # Each of METRICS is defined for every case, so both columns keep their length.
    figures_a, figures_b = defined(a.columns[metric]), defined(b.columns[metric])
    if not are_saved:
        return Difference(
            metric, paired_deltas(figures_a, figures_b), mean_delta, paired_t_test(figures_a, figures_b)
        )
    micro_a, micro_b = ([*map(ordering_key, figures)] for figures in (figures_a, figures_b))
    per_case = tuple((y - x) / MICRO for x, y in zip(micro_a, micro_b, strict=True))
    return Difference(metric, per_case, mean_delta, _in_units(paired_t_test(micro_a, micro_b)))


def _in_units(test: PairedTest) -> PairedTest:
    """A test on integers of 1e-6, converted to units of the metric; t and p have no unit."""
    return test._replace(
        mean_delta=test.mean_delta / MICRO,
        ci95_low=None if test.ci95_low is None else test.ci95_low / MICRO,
        ci95_high=None if test.ci95_high is None else test.ci95_high / MICRO,
    )


def _require_same_cases(a: BackendScore, b: BackendScore) -> None:
    if a.n_cases != b.n_cases:
        raise UsageError(
            f"cannot pair {a.backend} with {b.backend}: {a.n_cases} and {b.n_cases} cases; "
            "compare scores of one fixture set"
        )
    rows = zip(a.ids, a.ks, b.ids, b.ks, strict=True)
    for number, (id_a, k_a, id_b, k_b) in enumerate(rows, start=1):
        if (id_a, k_a) != (id_b, k_b):
            raise UsageError(
                f"cannot pair {a.backend} with {b.backend}: case {number} is {id_a!r} at k = {k_a} "
                f"and {id_b!r} at k = {k_b}; compare scores of one fixture set"
            )
