"""Figures per case of some backends in, the evidence on them out.

Counts, randomisation tests and standard deviations use the deltas as integers of 1e-6, so that ties are
exact. Means and their bounds use the float deltas, so that they agree with all other means of the report.
The statistics themselves are in the other modules of this package.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cce.domain.case import Case
from cce.domain.evidence import (
    BackendEvidence,
    ComparisonEvidence,
    DifferenceEvidence,
    Evidence,
    EvidenceOptions,
    FlipMethod,
    Interval,
    Verdict,
)
from cce.domain.scores import BackendScore, Column, defined
from cce.errors import UsageError
from cce.measurement.evidence.power import attainable_p, cases_needed, detectable_effect
from cce.measurement.evidence.randomisation import sign_flip_test, sign_test
from cce.measurement.evidence.resampling import Bounds, bootstrap_bounds
from cce.measurement.evidence.significance import case_deltas
from cce.measurement.evidence.slices import slice_evidence
from cce.measurement.evidence.verdicts import decide, equivalence_interval, holm
from cce.measurement.metrics.catalog import has_means_only
from cce.measurement.scoring import mean_of_defined, with_saved_metrics
from cce.numerals import MICRO, ordering_key


def gather_evidence(
    options: EvidenceOptions,
    backends: Sequence[BackendScore],
    pair: tuple[BackendScore, BackendScore] | None = None,
    cases: Sequence[Case] = (),
) -> Evidence:
    """The evidence on every backend and, if there is a `pair` (A, B), on B - A in every metric.

    All scores are over the same cases, at least one. `cases` are those cases, for slices by tag; without
    them there are no slices. Raises UsageError for a metric that a score lacks and no saved report holds.
    """
    backends = [with_saved_metrics(score, options.metrics) for score in backends]
    if pair is not None:
        pair = (
            with_saved_metrics(pair[0], options.metrics),
            with_saved_metrics(pair[1], options.metrics),
        )
    levels = [score.columns[metric] for score in backends for metric in options.metrics]
    family = options if pair is None else _compared(options)
    deltas = _family_deltas(family.metrics, *pair) if pair else []
    # In one call: series of the same length share the resamples.
    bounds = bootstrap_bounds([*map(defined, levels), *map(defined, deltas)], options.resamples, options.seed)
    intervals = list(map(_interval, levels, bounds))
    samples = list(map(_sample, deltas, bounds[len(levels) :]))
    return Evidence(
        options=options,
        backends=_by_backend(options.metrics, backends, intervals),
        compare=_compare(family, pair, samples) if pair else None,
        slices=slice_evidence(options.metrics, cases, backends, pair, family.metrics),
    )


def _compared(options: EvidenceOptions) -> EvidenceOptions:
    """The options for a difference, without the metrics that have means only."""
    metrics = tuple(name for name in options.metrics if not has_means_only(name))
    if not metrics:
        raise UsageError(
            f"--metrics names only {options.metrics[0]}, which has a mean only: name one to compare by"
        )
    return replace(options, metrics=metrics)


def _family_deltas(family: Sequence[str], a: BackendScore, b: BackendScore) -> list[tuple[float | None, ...]]:
    return [case_deltas(a.columns[metric], b.columns[metric]) for metric in family]


def _interval(figures: Column, bounds: Bounds | None) -> Interval:
    n = len(defined(figures))
    low, high = bounds or (None, None)
    return Interval(mean_of_defined(figures), low, high, n, len(figures) - n)


def _by_backend(
    family: Sequence[str], backends: Sequence[BackendScore], intervals: Sequence[Interval]
) -> tuple[BackendEvidence, ...]:
    """`intervals` has one entry per metric for the first backend, then for the next one."""
    remaining = iter(intervals)
    return tuple(
        BackendEvidence(score.backend, {metric: next(remaining) for metric in family}) for score in backends
    )


@dataclass(frozen=True, slots=True)
class _Sample:
    """The deltas of one metric.

    per_case  one delta per case, None where it is undefined
    micro     the defined deltas in units of 1e-6
    mean, sd  of the defined deltas, in units of the metric
    bounds    of the mean
    """

    per_case: tuple[float | None, ...]
    micro: tuple[int, ...]
    mean: float | None
    sd: float | None
    bounds: Bounds | None

    @property
    def n(self) -> int:
        return len(self.micro)


def _sample(per_case: tuple[float | None, ...], bounds: Bounds | None) -> _Sample:
    micro = tuple(map(ordering_key, defined(per_case)))
    return _Sample(per_case, micro, mean_of_defined(per_case), _deviation(micro), bounds)


def _deviation(micro: Sequence[int]) -> float | None:
    """Standard deviation (n - 1 form) in units of the metric; None below two deltas.

    The sum of squares is an integer, so equal deltas give exactly 0.
    """
    n = len(micro)
    if n < 2:
        return None
    squares = n * sum(delta * delta for delta in micro) - sum(micro) ** 2
    return math.sqrt(squares / (n * (n - 1))) / MICRO


def _compare(
    options: EvidenceOptions,
    pair: tuple[BackendScore, BackendScore],
    samples: Sequence[_Sample],
) -> ComparisonEvidence:
    """`samples` has one entry per metric; the p values of all metrics are adjusted together."""
    flips = [sign_flip_test(sample.micro, options.resamples, options.seed) for sample in samples]
    adjusted = holm([p for p, _ in flips])
    ids = pair[0].ids
    differences = [_difference(options, ids, *row) for row in zip(samples, flips, adjusted, strict=True)]
    a, b = (side.backend for side in pair)
    return ComparisonEvidence(a, b, dict(zip(options.metrics, differences, strict=True)))


def _difference(
    options: EvidenceOptions,
    case_ids: Sequence[str],
    sample: _Sample,
    flip: tuple[float, FlipMethod],
    holm_p: float,
) -> DifferenceEvidence:
    better, worse = (_ids_moved(case_ids, sample.per_case, direction) for direction in (1, -1))
    low, high = sample.bounds or (None, None)
    return DifferenceEvidence(
        per_case=sample.per_case,
        better=better,
        worse=worse,
        tied=sample.n - len(better) - len(worse),
        sign_p=sign_test(len(better), len(worse)),
        flip_p=flip[0],
        flip_method=flip[1],
        holm_p=holm_p,
        mean_delta=sample.mean,
        ci95_low=low,
        ci95_high=high,
        effect_size=_effect_size(sample),
        mde=_mde(sample, options.alpha),
        n_needed=_n_needed(sample, options),
        attainable_p=attainable_p(sample.n),
        verdict=_verdict(sample, holm_p, options),
        n=sample.n,
        n_undefined=len(case_ids) - sample.n,
    )


def _ids_moved(case_ids: Sequence[str], per_case: Column, direction: int) -> tuple[str, ...]:
    """Ids of the cases whose delta does not print as 0 and has the sign of `direction`, 1 or -1."""
    moves = zip(case_ids, per_case, strict=True)
    return tuple(
        case_id for case_id, delta in moves if delta is not None and ordering_key(delta) * direction > 0
    )


def _effect_size(sample: _Sample) -> float | None:
    return sample.mean / sample.sd if sample.mean is not None and sample.sd else None


def _mde(sample: _Sample, alpha: float) -> float | None:
    effect = detectable_effect(sample.n, alpha)
    return effect * sample.sd if effect is not None and sample.sd else None


def _n_needed(sample: _Sample, options: EvidenceOptions) -> int | None:
    """Cases needed for the minimum effect, or for the observed one without a minimum; None without spread."""
    sought = options.min_effect if ordering_key(options.min_effect) else abs(sample.mean or 0.0)
    return cases_needed(sought / sample.sd, options.alpha) if sample.sd and ordering_key(sought) else None


def _verdict(sample: _Sample, holm_p: float, options: EvidenceOptions) -> Verdict:
    interval = None
    if sample.mean is not None and sample.sd is not None:
        interval = equivalence_interval(sample.mean, sample.sd, sample.n, options.alpha)
    return decide(sample.mean, holm_p, interval, attainable_p(sample.n), options)
