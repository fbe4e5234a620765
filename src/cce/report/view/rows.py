"""Full report in, one row per case out: what every table of cases shows.

Scores, deltas and drill-downs are in the order of their own cases. They are paired by position if the ids are
the same, else by id. No two columns have the same name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from cce.domain.drilldown import CaseDrilldown
from cce.domain.full_report import FullReport
from cce.domain.gate import GateReport, Level, Reason
from cce.domain.scores import METRICS, BackendScore, CaseScore
from cce.numerals import ordering_key
from cce.report.view.cells import direction

T = TypeVar("T")

FIRST_SHOWN = "mrr"


@dataclass(frozen=True, slots=True)
class NamedScore:
    """One backend under a name that no other column has."""

    name: str
    score: BackendScore


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case: a score per column, None where a column lacks it; metric -> delta B - A of a comparison."""

    id: str
    scores: tuple[CaseScore | None, ...]
    deltas: Mapping[str, float | None]
    drilldown: CaseDrilldown | None

    @property
    def is_missed(self) -> bool:
        """Whether every column that has the case lacks a relevant result for it."""
        return all(score is None or score.first_relevant_rank is None for score in self.scores)


def columns(full: FullReport) -> tuple[NamedScore, ...]:
    """The backends of the report; where a gate was asked its baseline, and the candidate with all cases."""
    if full.gate is None:
        return tuple(NamedScore(score.backend, score) for score in full.report.backends)
    sides = compared_names(full)
    if sides is None or full.report.comparison is None:
        return (NamedScore(full.gate.candidate.backend, full.gate.candidate),)
    return NamedScore(sides[0], full.report.comparison.a), NamedScore(sides[1], full.gate.candidate)


def compared_names(full: FullReport) -> tuple[str, str] | None:
    """The names of both sides; `baseline:NAME` for a baseline of the same name as its candidate."""
    comparison = full.report.comparison
    if comparison is None:
        return None
    a, b = comparison.a.backend, comparison.b.backend
    return (a, b) if a != b else (f"baseline:{a}", b)


def case_rows(full: FullReport) -> list[CaseRow]:
    """The cases in the order of their set, or of the last column where no drill-down was made."""
    shown = columns(full)
    ids = tuple(case.id for case in full.cases) or shown[-1].score.ids
    scores = [_aligned(ids, column.score.ids, _cases(column.score)) for column in shown]
    deltas = {name: _aligned(ids, *found) for name, found in _deltas(full)}
    drilldowns: Sequence[CaseDrilldown | None] = full.cases or [None] * len(ids)
    return [
        CaseRow(
            id=name,
            scores=tuple(column[position] for column in scores),
            deltas={metric: column[position] for metric, column in deltas.items()},
            drilldown=drilldowns[position],
        )
        for position, name in enumerate(ids)
    ]


def blocking_by_id(gate: GateReport | None) -> Mapping[str | None, Sequence[Reason]]:
    """Case id -> the reasons that block because of it; under None those that name no case.

    A strict gate refuses for a reason to review as well: no report looks better than the exit code.
    """
    by_id: defaultdict[str | None, list[Reason]] = defaultdict(list)
    known = set() if gate is None else {case.id for case in gate.fixtures.cases}
    for reason in refusing(gate):
        # A case that left the set has no row: its reason is about the set.
        for name in [name for name in reason.case_ids if name in known] or (None,):
            by_id[name].append(reason)
    return by_id


def tolerated(gate: GateReport | None) -> list[Reason]:
    """The reasons that do not refuse the change, in their order: somebody should look at it."""
    refused = {id(reason) for reason in refusing(gate)}
    return [] if gate is None else [each for each in gate.reasons if id(each) not in refused]


def refusing(gate: GateReport | None) -> list[Reason]:
    """The reasons for which a gate refuses a change, in their order."""
    return (
        [] if gate is None else [each for each in gate.reasons if gate.is_strict or each.level is Level.BLOCK]
    )


def has_moved(row: CaseRow) -> bool:
    """Whether any metric differs by what prints as more than 0."""
    return any(direction(delta) for delta in row.deltas.values())


def worst_first(row: CaseRow, metrics: Iterable[str]) -> tuple[int, int]:
    """A sort key: the deepest falls in any of `metrics` first, then the highest rises; ties are last."""
    found = (row.deltas.get(metric) for metric in metrics)
    deltas = [ordering_key(delta) for delta in found if delta is not None]
    lowest, highest = min(deltas, default=0), max(deltas, default=0)
    if lowest < 0:
        return 0, lowest
    return (1, -highest) if highest else (2, 0)


def shown_metrics(full: FullReport) -> tuple[str, ...]:
    """The metrics that every case has a figure for; FIRST_SHOWN leads if it was asked for."""
    family = () if full.report.evidence is None else full.report.evidence.options.metrics
    asked = [metric for metric in family if metric in METRICS] or [*METRICS]
    first = FIRST_SHOWN if FIRST_SHOWN in asked else asked[0]
    return first, *(metric for metric in METRICS if metric != first)


def _deltas(full: FullReport) -> Iterator[tuple[str, tuple[Sequence[str], Sequence[float | None]]]]:
    """Metric, then the ids of the compared cases and a delta for each."""
    comparison = full.report.comparison
    if comparison is None:
        return
    ids = comparison.a.ids
    for difference in comparison.differences:
        yield difference.metric, (ids, difference.per_case)
    evidence = full.report.evidence
    if evidence is not None and evidence.compare is not None:
        for metric, each in evidence.compare.metrics.items():
            if metric not in METRICS:
                yield metric, (ids, each.per_case)


def _cases(score: BackendScore) -> Sequence[CaseScore]:
    return [score.case(at) for at in range(score.n_cases)]


def _aligned(ids: Sequence[str], found: Sequence[str], values: Sequence[T]) -> Sequence[T | None]:
    """One of `values` per id; by position if the ids are equal, and only then they may repeat."""
    if ids == found:
        return values
    by_id = dict(zip(found, values, strict=True))
    return [by_id.get(name) for name in ids]
