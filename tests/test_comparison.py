from __future__ import annotations

import pytest

from cce.domain.scores import BackendScore
from cce.errors import UsageError
from cce.measurement.evidence.comparison import compare
from cce.measurement.evidence.significance import paired_t_test
from score_rows import Row, score_of


def case_score(name: str, figure: float, k: int = 10, mrr: float = 0.0) -> Row:
    return Row(name, k, figure, figure / 2, mrr, figure / 4, None)


def backend(name: str, *cases: Row) -> BackendScore:
    return score_of(name, cases)


def test_deltas_are_b_minus_a_per_case_and_metric() -> None:
    a = backend("bm25", case_score("x", 0.0), case_score("y", 1.0))
    b = backend("hybrid", case_score("x", 0.5), case_score("y", 0.0, mrr=1.0))
    comparison = compare(a, b)
    assert (comparison.a, comparison.b) == (a, b)
    assert {each.metric: each.per_case for each in comparison.differences} == {
        "precision_at_k": (0.5, -1.0),
        "recall": (0.25, -0.5),
        "mrr": (0.0, 1.0),
        "f1": (0.125, -0.25),
    }
    assert [each.of_means for each in comparison.differences] == [-0.25, -0.125, 0.5, -0.0625]


def test_metrics_come_in_report_order() -> None:
    score = backend("bm25", case_score("x", 0.5))
    names = [each.metric for each in compare(score, score).differences]
    assert names == ["precision_at_k", "recall", "mrr", "f1"]


def test_every_metric_has_its_own_test() -> None:
    a = backend("bm25", case_score("x", 0.0), case_score("y", 0.5), case_score("z", 0.5))
    b = backend("hybrid", case_score("x", 1.0), case_score("y", 0.5), case_score("z", 0.5))
    precision, recall, mrr, _ = compare(a, b).differences
    assert precision.test == paired_t_test([0.0, 0.5, 0.5], [1.0, 0.5, 0.5])
    assert recall.test == paired_t_test([0.0, 0.25, 0.25], [0.5, 0.25, 0.25])
    assert (mrr.test.t, mrr.test.p) == (None, 1.0)


def test_the_difference_of_the_means_is_not_rebuilt_from_the_deltas() -> None:
    a = backend("bm25", *(case_score(f"q{n}", 0.1) for n in range(10)))
    b = backend("hybrid", *(case_score(f"q{n}", 0.3) for n in range(10)))
    precision = compare(a, b).differences[0]
    assert precision.of_means == b.mean("precision_at_k") - a.mean("precision_at_k")
    assert precision.of_means != precision.test.mean_delta  # 0.2 less a few last bits, in either case
    assert precision.of_means == pytest.approx(precision.test.mean_delta, abs=1e-15)


def test_a_backend_against_itself_differs_nowhere() -> None:
    score = backend("bm25", case_score("x", 0.3), case_score("y", 0.7))
    for each in compare(score, score).differences:
        assert (each.per_case, each.of_means, each.test.p) == ((0.0, 0.0), 0.0, 1.0)


@pytest.mark.parametrize(
    ("others", "fault"),
    [
        ([case_score("x", 0.1)], "2 and 1 cases"),
        ([case_score("y", 0.1), case_score("x", 0.1)], "case 1 is 'x' at k = 10 and 'y' at k = 10"),
        ([case_score("x", 0.1), case_score("z", 0.1)], "case 2 is 'y' at k = 10 and 'z' at k = 10"),
        ([case_score("x", 0.1), case_score("y", 0.1, k=5)], "case 2 is 'y' at k = 10 and 'y' at k = 5"),
    ],
)
def test_other_cases_or_another_order_cannot_be_paired(others: list[Row], fault: str) -> None:
    a = backend("bm25", case_score("x", 0.1), case_score("y", 0.1))
    with pytest.raises(UsageError) as caught:
        compare(a, backend("hybrid", *others))
    message = str(caught.value)
    assert message.startswith("cannot pair bm25 with hybrid: ")
    assert fault in message
    assert "\n" not in message


def test_an_id_used_twice_is_paired_by_position() -> None:
    a = backend("bm25", case_score("x", 0.0), case_score("x", 1.0))
    b = backend("hybrid", case_score("x", 1.0), case_score("x", 1.0))
    assert compare(a, b).differences[0].per_case == (1.0, 0.0)
