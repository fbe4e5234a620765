"""Ties: the two extreme orders give the least and the most of every metric that they are meant for."""

from __future__ import annotations

from itertools import pairwise, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.ranking import Hit, Ranking
from cce.measurement.matching.matches import CaseMatch
from cce.measurement.metrics.catalog import metric_called
from cce.measurement.ties import BOUNDED_METRICS, extreme_orders
from corpora import make_chunk


def ranking_of(scores: list[float]) -> Ranking:
    return tuple(Hit(make_chunk(f"{n}.py", "x"), score) for n, score in enumerate(scores))


def equal(a: float | None, b: float | None) -> bool:
    return a is not None and a == b


def figure(metric: str, ranking: Ranking, grades: dict[Hit, int], k: int) -> float:
    """Each grade is that of an anchor of its own, so that a hit matches the anchor with its grade."""
    shown = [grades[hit] for hit in ranking[:k]]
    matches = tuple((grade - 1,) if grade else () for grade in shown)
    ideal = tuple(sorted((grade for grade in grades.values() if grade), reverse=True)[:k])
    value = metric_called(metric).figure(CaseMatch(k, matches, (1, 2, 3), ideal))
    return 0.0 if value is None else value


def all_orders(ranking: Ranking) -> list[Ranking]:
    groups: list[list[Hit]] = [[ranking[0]]]
    for last, hit in pairwise(ranking):
        if last.score == hit.score:
            groups[-1].append(hit)
        else:
            groups.append([hit])
    return [tuple(hit for group in order for hit in group) for order in product(*map(permutations, groups))]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3)), min_size=1, max_size=6), st.integers(1, 6))
@pytest.mark.parametrize("metric", BOUNDED_METRICS)
def test_two_orders_are_the_least_and_the_most_of_all_orders(
    metric: str, rows: list[tuple[int, int]], k: int
) -> None:
    rows = sorted(rows, key=lambda row: -row[0])
    ranking = ranking_of([float(score) for score, _ in rows])
    grades = dict(zip(ranking, (grade for _, grade in rows), strict=True))
    orders = extreme_orders(ranking, [grades[hit] for hit in ranking], equal)
    figures = [figure(metric, order, grades, k) for order in all_orders(ranking)]
    assert figure(metric, orders.worst, grades, k) == pytest.approx(min(figures), abs=1e-12)
    assert figure(metric, orders.best, grades, k) == pytest.approx(max(figures), abs=1e-12)


def test_what_has_no_score_ties_with_nothing_and_the_file_keeps_its_order() -> None:
    ranking = tuple(hit._replace(score=None) for hit in ranking_of([1.0, 1.0, 1.0]))
    orders = extreme_orders(ranking, [0, 2, 1], equal)
    assert orders.worst == orders.best == ranking


def test_equal_grades_stay_in_the_order_of_the_file() -> None:
    ranking = ranking_of([2.0, 1.0, 1.0, 1.0, 1.0])
    orders = extreme_orders(ranking, [0, 0, 1, 0, 1], equal)
    assert [ranking.index(hit) for hit in orders.worst] == [0, 1, 3, 2, 4]
    assert [ranking.index(hit) for hit in orders.best] == [0, 2, 4, 1, 3]
