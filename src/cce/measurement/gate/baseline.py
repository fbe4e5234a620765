"""A saved baseline and the current measurement, paired case by case.

A baseline has six decimals; the current figures are rounded alike, so rounding makes no difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from cce.domain.case import Case, FixtureSet
from cce.domain.gate import Acceptance, Move
from cce.domain.labels import Labels
from cce.domain.scores import METRICS, BackendScore, CaseScore, Column
from cce.errors import UnknownNameError, UsageError
from cce.measurement.fixtures.digests import digests_of
from cce.measurement.metrics.catalog import metric_called
from cce.measurement.reports.exams import Digested, Pairing, pair_by_ids, pair_by_labels
from cce.measurement.reports.pairing import same_ids_with_other_k, select_paired
from cce.measurement.reports.reading import SavedReport
from cce.numerals import is_below, rounded
from cce.quoting import on_one_line, quoted
from cce.registry import unknown_name

BASELINE = "baseline"


@dataclass(frozen=True, slots=True)
class BaselinePair:
    """Both scores over the same cases, in the order of the set, with six decimals; perhaps over none.

    The baseline has the ids of the set: `pairing` knows what its cases were called, and all the others.
    `labels` has what they were labelled with, by the ids that they had; empty if the baseline does not say.
    """

    baseline: BackendScore
    candidate: BackendScore
    pairing: Pairing
    labels: Labels = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_empty(self) -> bool:
        """Whether no case is the same on both sides, so that nothing can be compared."""
        return not self.candidate.n_cases


def score_in(saved: SavedReport, backend: str) -> BackendScore:
    """The score of `backend` in a saved report; raises UnknownNameError."""
    for score in saved.backends:
        if score.backend == backend:
            return score
    names = [on_one_line(score.backend) for score in saved.backends]
    raise UnknownNameError(
        f"{on_one_line(saved.path)}: {unknown_name('backend', backend, names)}; "
        "name the one to hold against as baseline_backend, or accept a new baseline with --accept"
    )


def require_figures(saved: SavedReport, backend: str, metrics: Iterable[str]) -> None:
    """Raise UsageError if the baseline lacks the figures of a metric that is held against it."""
    columns = score_in(saved, backend).columns
    lacking = [name for name in metrics if name not in columns and metric_called(name).needs_index]
    if lacking:
        raise UsageError(
            f"{on_one_line(saved.path)}: holds no figures of {', '.join(lacking)} to hold against: "
            "accept a baseline that does with --accept"
        )


def pair_with_baseline(
    candidate: BackendScore,
    baseline: BackendScore,
    place: str,
    labels: Labels | None = None,
    cases: Sequence[Case] = (),
) -> BaselinePair:
    """Pair the cases by id and labels, without `labels` by id and k; `place` is where the baseline was read.

    labels  those of the baseline; `cases` are then those of the candidate, with ids that are unique

    Raises UsageError if the baseline is of another set.
    """
    pairing = _pairing(candidate, baseline, labels, cases)
    if pairing.is_foreign:
        raise UsageError(
            f"{on_one_line(place)}: the baseline shares no case with the set"
            f"{same_ids_with_other_k(baseline, candidate)}: "
            "name the baseline of this set, or accept a new one with --accept"
        )
    now = as_saved(select_paired(candidate, [same.now for same in pairing.same]))
    then = select_paired(baseline, [same.then for same in pairing.same])
    name = _name_beside(now.backend, then.backend)
    return BaselinePair(then._replace(backend=name, ids=now.ids), now, pairing, labels or {})


def _pairing(
    candidate: BackendScore, baseline: BackendScore, labels: Labels | None, cases: Sequence[Case]
) -> Pairing:
    if labels is None:
        then, now = (dict(zip(score.ids, score.ks, strict=True)) for score in (baseline, candidate))
        return pair_by_ids(then, now)
    digests = Digested([labels[name].digest for name in baseline.ids], [digests_of(case) for case in cases])
    return pair_by_labels(baseline.ids, candidate.ids, digests)


def require_unique(fixtures: FixtureSet) -> None:
    """Raise UsageError if two cases have the same id: a baseline pairs cases by id."""
    for name, times in Counter(case.id for case in fixtures.cases).items():
        if times > 1:
            raise UsageError(
                f"{on_one_line(fixtures.path)}: {times} cases are called {quoted(name)}: "
                "a gate tells cases by their ids, make them unique"
            )


def accept(
    place: str, then: BackendScore | None, now: BackendScore, changed: Collection[str] = ()
) -> Acceptance:
    """What changes when `now` replaces the baseline `then`, which is None for the first one.

    changed  ids of cases whose labels are others now, so that their figures are no comparison
    """
    before = {} if then is None else {name: then.case(at) for at, name in enumerate(then.ids)}
    after = {name: now.case(at) for at, name in enumerate(now.ids)}
    relabelled = tuple(name for name in after if name in before and name in changed)
    kept = [
        (before[name], case)
        for name, case in after.items()
        if name in before and name not in changed and before[name].k == case.k
    ]
    same = {*(case.id for _, case in kept), *relabelled}
    return Acceptance(
        baseline=place,
        means=tuple(
            Move(metric, None if then is None else then.mean(metric), now.mean(metric)) for metric in METRICS
        ),
        better=tuple(case.id for old, case in kept if _rose(old, case)),
        worse=tuple(case.id for old, case in kept if _rose(case, old)),
        added=tuple(name for name in after if name not in same),
        removed=tuple(name for name in before if name not in same),
        relabelled=relabelled,
    )


def as_saved(score: BackendScore) -> BackendScore:
    """The score as a saved report would return it: all figures rounded to six decimals."""
    return score._replace(
        columns={name: _as_saved(column) for name, column in score.columns.items()},
        means=dict(zip(score.means, _as_saved(score.means.values()), strict=True)),
    )


def _as_saved(figures: Iterable[float | None]) -> Column:
    return tuple(None if figure is None else rounded(figure) for figure in figures)


def _rose(old: CaseScore, new: CaseScore) -> bool:
    """Whether any figure is higher, compared as it prints."""
    figures = ((old.figures[name], new.figures[name]) for name in METRICS)
    return any(a is not None and b is not None and is_below(a, b) for a, b in figures)


def _name_beside(candidate: str, baseline: str) -> str:
    return BASELINE if baseline == candidate else f"{BASELINE}:{baseline}"
