"""What ties across a cut-off leave open in the figures of a saved run, as one line for its reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, cast

from cce.domain.case import Case, FixtureSet
from cce.domain.outside import OutsideResult, Question
from cce.domain.systems import RunFile
from cce.measurement.matching.scoping import ScopedCase
from cce.measurement.matching.spans import LineWeights
from cce.measurement.scoring import SetScorer
from cce.measurement.ties import BOUNDED_METRICS, ExtremeOrders, extreme_orders
from cce.numerals import format_score
from cce.quoting import counted, on_one_line
from cce.retrieval.external.door import Door
from cce.retrieval.indexing.index import Index
from cce.usecases.opened_systems import OpenSystems, Surroundings, door_of
from cce.usecases.scopes import CaseScopes


class TiedRun(Protocol):
    """What a saved run knows of its ties, as `SavedRun` does."""

    name: str

    def n_with_ties(self, question: Question) -> int:
        """How many results `through_ties` gives."""

    def through_ties(self, question: Question) -> tuple[OutsideResult, ...]:
        """The results for the question, and those that tie with the last of them."""

    def is_tied(self, a: float | None, b: float | None) -> bool:
        """Whether two scores leave open which result is the better one."""


def all_ties(
    fixtures: FixtureSet, index: Index | None, systems: OpenSystems, scopes: CaseScopes
) -> Iterator[str]:
    """A notice for each saved run with ties across a cut-off."""
    for each in systems.outside.values():
        # What a second stage sorts anew does not follow the run's own ties.
        if isinstance(each.table.source, RunFile) and each.stage is None:
            scoped = scopes.scoped(fixtures.cases, each.scopes)
            door = door_of(each.table, Surroundings(index, fixtures))
            notice = ties_notice(cast(TiedRun, each.system), fixtures, index, door, scoped)
            if notice is not None:
                yield notice


def ties_notice(
    system: TiedRun,
    fixtures: FixtureSet,
    index: Index | None,
    door: Door,
    scoped: Sequence[ScopedCase] | None = None,
) -> str | None:
    """The least and the most of each figure over all orders of the ties; None if no cut-off is within any.

    door    one of its own: what comes through it is counted nowhere else
    scoped  the cases as scopes leave them, in case order; None without a scope
    """
    questions = [Question(case.id, case.query, case.k) for case in fixtures.cases]
    n_open = sum(system.n_with_ties(question) > question.k for question in questions)
    if not n_open:
        return None
    found = [system.through_ties(question) for question in questions]
    scorer = _scorer(fixtures, index)
    asked = [ScopedCase(case) for case in fixtures.cases] if scoped is None else scoped
    orders = [
        _extremes(case, results, system, door, scorer) for case, results in zip(asked, found, strict=True)
    ]
    least = scorer.score(system.name, [each.worst for each in orders], scoped=scoped).means
    most = scorer.score(system.name, [each.best for each in orders], scoped=scoped).means
    spans = ", ".join(f"{name} {_shown(least[name])} to {_shown(most[name])}" for name in BOUNDED_METRICS)
    reach = f"in {counted(n_open, 'case')} ties reach across the cut-off"
    return f"{on_one_line(system.name)}: {reach}; over all their orders {spans}"


def _scorer(fixtures: FixtureSet, index: Index | None) -> SetScorer:
    if index is None:
        return SetScorer(fixtures, None, BOUNDED_METRICS, LineWeights(lambda _path: ()))
    return SetScorer(fixtures, index.chunks, BOUNDED_METRICS, LineWeights(index.outer_chunks_of))


def _extremes(
    scoped: ScopedCase, results: Sequence[OutsideResult], system: TiedRun, door: Door, scorer: SetScorer
) -> ExtremeOrders:
    case, allowed = scoped
    question = Question(case.id, case.query, max(case.k, len(results)))
    ranking = door.ranking(question, results, allowed)
    if not case.anchors:
        return ExtremeOrders(ranking, ranking)
    deep: Case = case._replace(k=max(1, len(ranking)))
    grades = scorer.matcher.match(deep, ranking, (), allowed).hit_grades
    return extreme_orders(ranking, grades, system.is_tied)


def _shown(figure: float | None) -> str:
    return "n/a" if figure is None else format_score(figure)
