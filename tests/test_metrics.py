from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.measurement.matching.matches import CaseMatch
from cce.measurement.metrics.ranked import (
    f1,
    first_relevant_rank,
    harmonic_mean,
    precision_at_k,
    recall,
    reciprocal_rank,
)


def match(*matches: tuple[int, ...], k: int, n_anchors: int) -> CaseMatch:
    return CaseMatch(k, matches, (1,) * n_anchors)


def test_two_results_at_ten_divide_by_ten() -> None:
    assert precision_at_k(match((0,), (1,), k=10, n_anchors=2)) == 0.2


def test_a_result_that_matches_two_anchors_is_one_relevant_result() -> None:
    both = match((0, 1), (), k=2, n_anchors=2)
    assert precision_at_k(both) == 0.5
    assert recall(both) == 1.0


def test_an_anchor_matched_by_two_results_is_one_matched_anchor() -> None:
    twice = match((1,), (1,), k=2, n_anchors=4)
    assert precision_at_k(twice) == 1.0
    assert recall(twice) == 0.25


@pytest.mark.parametrize(
    ("matches", "rank", "reciprocal"),
    [
        (((0,),), 1, 1.0),
        (((), (), (0,), (0,)), 3, 1 / 3),
        (((), ()), None, 0.0),
        ((), None, 0.0),
    ],
)
def test_the_first_relevant_rank_counts_from_one(
    matches: tuple[tuple[int, ...], ...], rank: int | None, reciprocal: float
) -> None:
    judged = match(*matches, k=5, n_anchors=1)
    assert first_relevant_rank(judged) == rank
    assert reciprocal_rank(judged) == reciprocal


def test_an_empty_ranking_scores_zero_everywhere() -> None:
    nothing = match(k=5, n_anchors=3)
    assert (precision_at_k(nothing), recall(nothing), f1(nothing)) == (0.0, 0.0, 0.0)


def test_a_perfect_ranking_scores_one_everywhere() -> None:
    everything = match((0,), (1,), k=2, n_anchors=2)
    assert (precision_at_k(everything), recall(everything), f1(everything)) == (1.0, 1.0, 1.0)


def test_f1_is_the_harmonic_mean() -> None:
    # P = 2/5, R = 1/2: 2 * 0.2 / 0.9 = 4/9
    assert f1(match((), (), (0,), (0,), (), k=5, n_anchors=2)) == pytest.approx(4 / 9, abs=1e-15)
    assert harmonic_mean(0.0, 1.0) == 0.0
    assert harmonic_mean(0.0, 0.0) == 0.0
    assert harmonic_mean(0.25, 0.25) == 0.25


def test_a_cut_off_too_large_for_a_float_gives_a_tiny_precision() -> None:
    assert precision_at_k(match((0,), k=10**400, n_anchors=1)) == 0.0
    assert f1(match((0,), k=10**400, n_anchors=1)) == 0.0


MATCHES = st.lists(st.sets(st.integers(0, 4)).map(lambda found: tuple(sorted(found))), max_size=10)


@given(MATCHES, st.integers(0, 5))
@settings(deadline=None, max_examples=150)
def test_every_metric_stays_between_zero_and_one(matches: list[tuple[int, ...]], spare: int) -> None:
    judged = match(*matches, k=max(1, len(matches) + spare), n_anchors=5)
    figures = (precision_at_k(judged), recall(judged), reciprocal_rank(judged), f1(judged))
    assert all(0.0 <= figure <= 1.0 for figure in figures)
    assert min(figures[:2]) - 1e-15 <= f1(judged) <= max(figures[:2]) + 1e-15


@given(MATCHES)
@settings(deadline=None, max_examples=100)
def test_either_every_metric_is_zero_or_none_is(matches: list[tuple[int, ...]]) -> None:
    judged = match(*matches, k=10, n_anchors=5)
    figures = (precision_at_k(judged), recall(judged), reciprocal_rank(judged), f1(judged))
    assert len({figure > 0.0 for figure in figures}) == 1
    assert (first_relevant_rank(judged) is None) == (figures[0] == 0.0)
