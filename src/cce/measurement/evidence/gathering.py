"""Figures per case of some backends in, the evidence on them and on their differences out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cce.domain.case import Case
from cce.domain.evidence import BackendEvidence, Evidence, EvidenceOptions, Interval
from cce.domain.scores import BackendScore, Column, defined
from cce.errors import UsageError
from cce.measurement.evidence.differences import weigh_family
from cce.measurement.evidence.resampling import Bounds, bootstrap_bounds
from cce.measurement.evidence.slices import slice_evidence
from cce.measurement.metrics.catalog import has_means_only
from cce.measurement.scoring import mean_of_defined, with_saved_metrics
from cce.numerals import ordering_key


def gather_evidence(
    options: EvidenceOptions,
    backends: Sequence[BackendScore],
    pair: tuple[BackendScore, BackendScore] | None = None,
    cases: Sequence[Case] = (),
    *,
    are_identical: bool = False,
) -> Evidence:
    """The evidence on every backend and, if there is a `pair` (A, B), on B - A in every metric.

    All scores are over the same cases, at least one. `cases` are those cases, for slices by tag; without
    them there are no slices. `are_identical` says that both sides of the pair returned the same places in the
    same order for every case. Raises UsageError for a metric that a score lacks and no saved report holds.
    """
    backends = [with_saved_metrics(score, options.metrics) for score in backends]
    intervals = intervals_of(options, backends)
    if pair is None:
        return Evidence(options, intervals, None, slice_evidence(options.metrics, cases, backends))
    family = _compared(options)
    a, b = (with_saved_metrics(score, options.metrics) for score in pair)
    (compare,) = weigh_family(family, [(a, b)], are_identical=are_identical)
    slices = slice_evidence(options.metrics, cases, backends, (a, b), family.metrics)
    return Evidence(options, intervals, compare, slices)


def gather_against(
    options: EvidenceOptions, a: BackendScore, others: Sequence[BackendScore], cases: Sequence[Case] = ()
) -> list[Evidence]:
    """The evidence on B - A for each B of `others`, adjusted over all of them and all metrics together."""
    a, *others = (with_saved_metrics(score, options.metrics) for score in (a, *others))
    family = _compared(options)
    first, *intervals = intervals_of(options, [a, *others])
    weighed = weigh_family(family, [(a, b) for b in others])
    return [
        Evidence(
            options,
            (first, interval),
            compare,
            slice_evidence(options.metrics, cases, (a, b), (a, b), family.metrics),
        )
        for b, interval, compare in zip(others, intervals, weighed, strict=True)
    ]


def intervals_of(options: EvidenceOptions, backends: Sequence[BackendScore]) -> tuple[BackendEvidence, ...]:
    """The interval of each backend in every metric of `options`, which are columns of all of them."""
    columns = [score.columns[metric] for score in backends for metric in options.metrics]
    series = [[*map(ordering_key, defined(column))] for column in columns]
    # In one call: series of the same length share the resamples.
    bounds = bootstrap_bounds(series, options.resamples, options.seed)
    intervals = iter(map(_interval, columns, bounds))
    return tuple(
        BackendEvidence(score.backend, {metric: next(intervals) for metric in options.metrics})
        for score in backends
    )


def _compared(options: EvidenceOptions) -> EvidenceOptions:
    """The options for a difference, without the metrics that have means only."""
    metrics = tuple(name for name in options.metrics if not has_means_only(name))
    if not metrics:
        raise UsageError(
            f"--metrics names only {options.metrics[0]}, which has a mean only: name one to compare by"
        )
    return replace(options, metrics=metrics)


def _interval(figures: Column, bounds: Bounds | None) -> Interval:
    n = len(defined(figures))
    low, high = bounds or (None, None)
    return Interval(mean_of_defined(figures), low, high, n, len(figures) - n)
