"""A saved baseline and the current measurement, paired case by case.

A baseline has six decimals; the current figures are rounded alike, so rounding makes no difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from cce.domain.case import FixtureSet
from cce.domain.gate import Acceptance, Move
from cce.domain.scores import METRICS, BackendScore, CaseScore, Column
from cce.errors import UnknownNameError, UsageError
from cce.measurement.metrics.catalog import metric_called
from cce.measurement.reports.pairing import pair_cases, same_ids_with_other_k
from cce.measurement.reports.reading import SavedReport
from cce.numerals import is_below, rounded
from cce.quoting import on_one_line, quoted
from cce.registry import unknown_name

BASELINE = "baseline"


@dataclass(frozen=True, slots=True)
class BaselinePair:
    """Both scores over the shared cases, in the order of the set, with six decimals.

    unpaired  ids of the set's cases that the baseline lacks, or has with another k
    removed   ids of the baseline's cases that are no longer in the set
    """

    baseline: BackendScore
    candidate: BackendScore
    unpaired: tuple[str, ...]
    removed: tuple[str, ...]


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


def pair_with_baseline(candidate: BackendScore, baseline: BackendScore, place: str) -> BaselinePair:
    """Pair the cases by their ids; `place` is where the baseline was read.

    The ids of the set must be unique. Raises UsageError if no case can be paired, as for another set.
    """
    ks = dict(zip(baseline.ids, baseline.ks, strict=True))
    ids = set(candidate.ids)
    unpaired = tuple(name for name, k in zip(candidate.ids, candidate.ks, strict=True) if ks.get(name) != k)
    if len(unpaired) == candidate.n_cases:
        raise UsageError(
            f"{on_one_line(place)}: the baseline shares no case with the set"
            f"{same_ids_with_other_k(baseline, candidate)}: "
            "name the baseline of this set, or accept a new one with --accept"
        )
    now, then, _ = pair_cases(as_saved(candidate), baseline, only_shared=True)
    return BaselinePair(
        baseline=then._replace(backend=_name_beside(now.backend, then.backend)),
        candidate=now,
        unpaired=unpaired,
        removed=tuple(name for name in baseline.ids if name not in ids),
    )


def require_unique(fixtures: FixtureSet) -> None:
    """Raise UsageError if two cases have the same id: a baseline pairs cases by id."""
    for name, times in Counter(case.id for case in fixtures.cases).items():
        if times > 1:
            raise UsageError(
                f"{on_one_line(fixtures.path)}: {times} cases are called {quoted(name)}: "
                "a gate tells cases by their ids, make them unique"
            )


def accept(place: str, then: BackendScore | None, now: BackendScore) -> Acceptance:
    """What changes when `now` replaces the baseline `then`, which is None for the first one."""
    before = {} if then is None else {name: then.case(at) for at, name in enumerate(then.ids)}
    after = {name: now.case(at) for at, name in enumerate(now.ids)}
    kept = [
        (before[name], case) for name, case in after.items() if name in before and before[name].k == case.k
    ]
    same = {case.id for _, case in kept}
    return Acceptance(
        baseline=place,
        means=tuple(
            Move(metric, None if then is None else then.mean(metric), now.mean(metric)) for metric in METRICS
        ),
        better=tuple(case.id for old, case in kept if _rose(old, case)),
        worse=tuple(case.id for old, case in kept if _rose(case, old)),
        added=tuple(name for name in after if name not in same),
        removed=tuple(name for name in before if name not in same),
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
