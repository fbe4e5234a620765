"""Pairs of scores in, the evidence on their differences out, adjusted over all of them.

Everything but the means is computed from deltas as integers of 1e-6, so that ties are exact. The means use
floats, so that they agree with all other means of the report. The statistics themselves are in the other
modules of this package.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cce.domain.evidence import ComparisonEvidence, DifferenceEvidence, EvidenceOptions, Verdict
from cce.domain.scores import BackendScore, defined
from cce.measurement.evidence.families import FamilyMember, family_test
from cce.measurement.evidence.intervals import difference_interval, equivalence_bounds
from cce.measurement.evidence.power import attainable_p, cases_needed, detectable_effect, fewest_cases
from cce.measurement.evidence.randomisation import sign_test
from cce.measurement.evidence.significance import case_deltas
from cce.measurement.evidence.verdicts import Findings, decide
from cce.measurement.metrics.catalog import metric_called
from cce.measurement.scoring import mean_of_defined
from cce.numerals import MICRO, ordering_key


@dataclass(frozen=True, slots=True)
class _Sample:
    """The deltas of one metric.

    per_case  one delta per case, None where it is undefined
    by_case   the same in units of 1e-6, 0 where it is undefined
    micro     the defined deltas in units of 1e-6
    mean, sd  of the defined deltas, in units of the metric
    width     of the metric's range
    """

    per_case: tuple[float | None, ...]
    by_case: tuple[int, ...]
    micro: tuple[int, ...]
    mean: float | None
    sd: float | None
    width: int

    @property
    def n(self) -> int:
        return len(self.micro)


def _sample(metric: str, a: BackendScore, b: BackendScore) -> _Sample:
    per_case = case_deltas(a.columns[metric], b.columns[metric])
    micro = tuple(map(ordering_key, defined(per_case)))
    by_case = tuple(0 if delta is None else ordering_key(delta) for delta in per_case)
    low, high = metric_called(metric).range
    return _Sample(per_case, by_case, micro, mean_of_defined(per_case), _deviation(micro), high - low)


def _deviation(micro: Sequence[int]) -> float | None:
    """Standard deviation (n - 1 form) in units of the metric; None below two deltas.

    The sum of squares is an integer, so equal deltas give exactly 0.
    """
    n = len(micro)
    if n < 2:
        return None
    squares = n * sum(delta * delta for delta in micro) - sum(micro) ** 2
    return math.sqrt(squares / (n * (n - 1))) / MICRO


def weigh_family(
    options: EvidenceOptions,
    pairs: Sequence[tuple[BackendScore, BackendScore]],
    *,
    are_identical: bool = False,
) -> list[ComparisonEvidence]:
    """The evidence on B - A for each pair (A, B), in every metric; all scores are over the same cases.

    The p values of all pairs and metrics are adjusted together. `are_identical` says that both sides returned
    the same places in the same order for every case.
    """
    samples = [[_sample(metric, *pair) for metric in options.metrics] for pair in pairs]
    family = [sample for row in samples for sample in row]
    # Systems asked several times may differ in a later answer.
    are_identical = are_identical and not any(any(sample.by_case) for sample in family)
    tests = family_test([sample.by_case for sample in family], options.resamples, options.seed)
    ids = pairs[0][0].ids
    differences = [
        _difference(options, len(family), ids, sample, test, are_identical=are_identical)
        for sample, test in zip(family, tests, strict=True)
    ]
    marked = iter(_mark_fragile(options, family, differences))
    return [
        ComparisonEvidence(
            a.backend, b.backend, {metric: next(marked) for metric in options.metrics}, len(family)
        )
        for a, b in pairs
    ]


def _difference(
    options: EvidenceOptions,
    family_size: int,
    case_ids: Sequence[str],
    sample: _Sample,
    test: FamilyMember,
    *,
    are_identical: bool,
) -> DifferenceEvidence:
    better, worse = (_ids_moved(case_ids, sample.by_case, direction) for direction in (1, -1))
    moved = 0 if sample.mean is None else ordering_key(sample.mean)
    low, high = _in_units(difference_interval(sample.micro, test.flip_p, moved, sample.width)) or (None, None)
    equivalence = equivalence_bounds(sample.micro, options.alpha, sample.width)
    least_p = _attainable_p(sample.n, test, options)
    n_moved = len(better) + len(worse)
    verdict = decide(
        Findings(sample.mean, test.adjusted_p, least_p, n_moved, equivalence, are_identical), options
    )
    is_blind = verdict is Verdict.CANNOT_TELL
    return DifferenceEvidence(
        per_case=sample.per_case,
        better=better,
        worse=worse,
        tied=sample.n - n_moved,
        sign_p=sign_test(len(better), len(worse)),
        flip_p=test.flip_p,
        flip_method=test.method,
        adjusted_p=test.adjusted_p,
        mean_delta=sample.mean,
        ci95_low=low,
        ci95_high=high,
        effect_size=_effect_size(sample),
        mde=None if is_blind else _mde(sample, options, family_size),
        n_needed=None if is_blind else _n_needed(sample, options, family_size),
        attainable_p=least_p,
        verdict=verdict,
        n=sample.n,
        n_undefined=len(case_ids) - sample.n,
        equivalence=_in_units(equivalence),
        is_drawn=test.is_drawn,
    )


def _ids_moved(case_ids: Sequence[str], by_case: Sequence[int], direction: int) -> tuple[str, ...]:
    """Ids of the cases whose delta has the sign of `direction`, 1 or -1."""
    moves = zip(case_ids, by_case, strict=True)
    return tuple(case_id for case_id, delta in moves if delta * direction > 0)


def _in_units(bounds: tuple[int, int] | None) -> tuple[float, float] | None:
    return None if bounds is None else (bounds[0] / MICRO, bounds[1] / MICRO)


def _effect_size(sample: _Sample) -> float | None:
    return sample.mean / sample.sd if sample.mean is not None and sample.sd else None


def _mde(sample: _Sample, options: EvidenceOptions, family_size: int) -> float | None:
    effect = detectable_effect(sample.n, options.alpha / family_size)
    return effect * sample.sd if effect is not None and sample.sd else None


def _n_needed(sample: _Sample, options: EvidenceOptions, family_size: int) -> int | None:
    """Cases needed for the minimum effect, or for the observed one without a minimum; None without spread."""
    sought = options.min_effect if ordering_key(options.min_effect) else abs(sample.mean or 0.0)
    if not sample.sd or not ordering_key(sought):
        return None
    n = cases_needed(sought / sample.sd, options.alpha / family_size)
    return max(n, fewest_cases(options.alpha))


def _attainable_p(n: int, test: FamilyMember, options: EvidenceOptions) -> float:
    least = attainable_p(n)
    return max(least, 1 / (options.resamples + 1)) if test.is_drawn else least


def _mark_fragile(
    options: EvidenceOptions, samples: Sequence[_Sample], differences: Sequence[DifferenceEvidence]
) -> list[DifferenceEvidence]:
    """The differences, `is_fragile` where one more case at the worst delta in every metric undoes them."""
    marked = list(differences)
    for verdict, sign in ((Verdict.IMPROVED, -1), (Verdict.REGRESSED, 1)):
        decided = [at for at, each in enumerate(marked) if each.verdict is verdict]
        if decided:
            tests = _with_one_more(options, samples, sign)
            for at in decided:
                is_fragile = not _is_still(verdict, options, samples[at], tests[at], sign)
                marked[at] = replace(marked[at], is_fragile=is_fragile)
    return marked


def _with_one_more(options: EvidenceOptions, samples: Sequence[_Sample], sign: int) -> list[FamilyMember]:
    family = [(*sample.by_case, sign * sample.width * MICRO) for sample in samples]
    return family_test(family, options.resamples, options.seed)


def _is_still(
    verdict: Verdict, options: EvidenceOptions, sample: _Sample, test: FamilyMember, sign: int
) -> bool:
    mean = (sum(sample.micro) / MICRO + sign * sample.width) / (sample.n + 1)
    least_p = _attainable_p(sample.n + 1, test, options)
    return decide(Findings(mean, test.adjusted_p, least_p, n_moved=1), options) is verdict
