from __future__ import annotations

import pytest

from cce.domain.scores import METRICS
from cce.errors import UnknownNameError
from cce.measurement.matching.matches import CaseMatch, TokenScore
from cce.measurement.metrics.catalog import (
    CATALOG,
    DEFAULT_METRICS,
    metric_called,
)

# The first relevant of four results is the last; one of two anchors is matched.
FOUND = CaseMatch(4, ((), (), (), (0,)), (1, 1), tokens=TokenScore(precision=0.1, recall=0.2, iou=0.3))
MISSED = CaseMatch(4, ((), ()), (1,))


def figure(name: str, match: CaseMatch) -> float | None:
    return metric_called(name).figure(match)


def test_every_metric_of_the_norm_is_there_once_and_in_order() -> None:
    assert list(CATALOG) == [
        *("precision_at_k", "recall", "mrr", "f1", "hit", "ndcg", "ndcg_linear", "ap"),
        *("token_iou", "token_precision", "token_recall"),
    ]
    assert all(metric.name == name for name, metric in CATALOG.items())


def test_the_default_metrics_are_the_four_of_every_report() -> None:
    assert DEFAULT_METRICS == METRICS == ("precision_at_k", "recall", "mrr", "f1")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("precision_at_k", 0.25),
        ("recall", 0.5),
        ("mrr", 0.25),
        ("f1", 1 / 3),
        ("hit", 1.0),
        ("token_iou", 0.3),
        ("token_precision", 0.1),
        ("token_recall", 0.2),
    ],
)
def test_each_name_has_its_own_figure(name: str, expected: float) -> None:
    assert figure(name, FOUND) == expected


def test_a_case_without_a_relevant_result_is_no_hit() -> None:
    assert figure("hit", MISSED) == 0.0


def test_token_metrics_are_undefined_for_a_case_without_ranges() -> None:
    assert [figure(f"token_{name}", MISSED) for name in ("iou", "precision", "recall")] == [None] * 3


def test_a_token_figure_of_zero_is_defined() -> None:
    nothing = CaseMatch(4, (), (1,), tokens=TokenScore(0.0, 0.0, 0.0))
    assert figure("token_iou", nothing) == 0.0


def test_the_metrics_that_need_the_index_are_the_graded_ones() -> None:
    needing = [name for name, metric in CATALOG.items() if metric.needs_index]
    assert needing == ["ndcg", "ndcg_linear", "ap"]


@pytest.mark.parametrize("name", ["ndcg", "ndcg_linear", "ap"])
def test_a_perfect_ranking_reaches_the_end_of_the_range(name: str) -> None:
    metric = metric_called(name)
    assert metric.figure(CaseMatch(2, ((1,), (0,)), (1, 3), ideal=(3, 1))) == metric.range[1] == 1


def test_definitions_are_one_line_and_differ() -> None:
    definitions = [metric.definition for metric in CATALOG.values()]
    assert len(set(definitions)) == len(definitions)
    assert all(definition.isprintable() and len(definition) > 15 for definition in definitions)


def test_an_unknown_name_gets_help() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown metric 'ndgc'; did you mean 'ndcg'\? \(known: prec"):
        metric_called("ndgc")
    with pytest.raises(UnknownNameError, match=r"unknown metric 'MRR'; did you mean 'mrr'\?"):
        metric_called("MRR")
