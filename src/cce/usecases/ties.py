"""What ties across a cut-off leave open in the figures of a saved run, as one line for its reader."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from cce.domain.case import Case
from cce.domain.outside import Question
from cce.domain.ranking import Ranking
from cce.domain.scores import BackendScore
from cce.measurement.matching.matches import CaseMatch, match_case
from cce.measurement.ties import BOUNDED_METRICS, extreme_orders
from cce.numerals import format_score
from cce.quoting import counted, on_one_line
from cce.retrieval.external.door import Door
from cce.retrieval.external.saved_run import SavedRun

Allowed = Callable[[Case], Collection[int] | None]


def ties_notice(
    system: SavedRun,
    cases: Sequence[Case],
    door: Door,
    score: Callable[[Sequence[Ranking]], BackendScore],
    allowed: Allowed = lambda _: None,
    match: Callable[[Case, Ranking], CaseMatch] = match_case,
) -> str | None:
    """The least and the most of each figure over all orders of the ties; None if no cut-off is within any.

    door     one of its own: what comes through it is counted nowhere else
    score    the figures of BOUNDED_METRICS for one ranking per case
    allowed  the positions of the chunks that the scope of a case leaves
    match    says what is relevant; with an index it knows the chunks that a location touches
    """
    orders = []
    n_open = 0
    for case in cases:
        question = Question(case.id, case.query, case.k)
        results = system.through_ties(question)
        n_open += len(results) > case.k
        ranking = door.ranking(question._replace(k=max(case.k, len(results))), results, allowed(case))
        deep = case._replace(k=max(1, len(ranking)))
        grades = match(deep, ranking).hit_grades
        orders.append(extreme_orders(ranking, grades, system.is_tied))
    if not n_open:
        return None
    least, most = score([each.worst for each in orders]), score([each.best for each in orders])
    spans = ", ".join(
        f"{metric} {_shown(least.means[metric])} to {_shown(most.means[metric])}"
        for metric in BOUNDED_METRICS
    )
    n_cases = counted(n_open, "case")
    return (
        f"{on_one_line(system.name)}: in {n_cases} ties reach across the cut-off; over their orders {spans}"
    )


def _shown(figure: float | None) -> str:
    return "n/a" if figure is None else format_score(figure)
