from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.comparison import PairedTest
from cce.measurement.evidence.significance import paired_deltas, paired_t_test
from cce.numerals import format_signed


def test_deltas_are_b_minus_a() -> None:
    assert paired_deltas([0.25, 1.0, 0.5], [0.75, 0.0, 0.5]) == (0.5, -1.0, 0.0)


def test_series_of_different_length_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="shorter"):
        paired_deltas([0.1, 0.2], [0.1])


def test_a_difference_within_rounding_noise_is_a_tie() -> None:
    assert paired_deltas([0.3], [0.1 + 0.2]) == (0.0,)
    assert paired_deltas([0.1 + 0.2], [0.3]) == (0.0,)
    assert paired_deltas([1.0], [1.0 + 16 * 2.0**-52]) == (0.0,)
    assert paired_deltas([1.0], [1.0 + 17 * 2.0**-52]) == (17 * 2.0**-52,)


def test_noise_is_relative_so_a_tiny_figure_against_zero_is_no_tie() -> None:
    assert paired_deltas([0.0], [1e-17]) == (1e-17,)


def test_one_case_leaves_everything_but_the_mean_undefined() -> None:
    assert paired_t_test([0.25], [0.75]) == PairedTest(1, 0.5, None, None, None, None)


def test_no_cases_have_no_test() -> None:
    with pytest.raises(ValueError, match="no mean"):
        paired_t_test([], [])


def test_no_difference_anywhere_is_no_evidence() -> None:
    assert paired_t_test([0.5, 0.1, 1.0], [0.5, 0.1, 1.0]) == PairedTest(3, 0.0, None, 1.0, 0.0, 0.0)


def test_a_constant_shift_has_no_t_and_p_zero() -> None:
    test = paired_t_test([0.4, 0.0, 0.2], [0.6, 0.2, 0.4])
    delta = 0.6 - 0.4  # 0.19999999999999996, not the 0.2 of the second case
    assert test == PairedTest(3, delta, None, 0.0, delta, delta)


def test_equal_figures_reached_by_different_routes_are_no_evidence() -> None:
    # k = 5, 4 anchors: 3 relevant rows and 3 anchors against 5 rows and 2 anchors, F1 = 2/3 both ways.
    a, b = 2 * (3 / 5) * (3 / 4) / (3 / 5 + 3 / 4), 2 * 1.0 * 0.5 / 1.5
    assert a != b
    assert paired_t_test([a, *[0.5] * 6], [b, *[0.5] * 6]) == PairedTest(7, 0.0, None, 1.0, 0.0, 0.0)


def test_one_step_up_in_seven_cases_gives_t_one() -> None:
    # One delta d of n: mean d/n, sd d/sqrt(n), so t = 1 whatever d is.
    test = paired_t_test([0.5] + [1.0] * 6, [2 / 3] + [1.0] * 6)
    assert test.t == pytest.approx(1.0, abs=1e-14)
    assert (test.n, test.df) == (7, 6)
    assert test.p == pytest.approx(0.355918, abs=5e-7)
    assert test.ci95_low == pytest.approx(-0.034450, abs=5e-7)
    assert test.ci95_high == pytest.approx(0.082069, abs=5e-7)


def test_two_cases_follow_the_cauchy_distribution() -> None:
    # d = 1, 3: mean 2, se 1, t 2; with one degree of freedom p = 1 - 2/pi * atan(2).
    test = paired_t_test([0.0, 0.0], [1.0, 3.0])
    assert test.mean_delta == 2.0
    assert test.t == pytest.approx(2.0, abs=1e-15)
    assert test.p == pytest.approx(1 - 2 / math.pi * math.atan(2), abs=1e-12)
    critical = math.tan(0.475 * math.pi)  # 12.706205
    assert test.ci95_low == pytest.approx(2 - critical, abs=1e-9)
    assert test.ci95_high == pytest.approx(2 + critical, abs=1e-9)


def test_opposite_deltas_cancel() -> None:
    test = paired_t_test([0.0, 1.0], [1.0, 0.0])
    assert (test.mean_delta, test.t) == (0.0, 0.0)
    assert test.p == pytest.approx(1.0, abs=1e-15)


def test_deltas_whose_squares_vanish_are_still_tested() -> None:
    # Two cases with an astronomic k: one relevant hit more in one of them gives t = 1, p = 1/2.
    test = paired_t_test([0.0, 0.0], [1e-200, 0.0])
    assert test.t == pytest.approx(1.0, abs=1e-15)
    assert test.p == pytest.approx(0.5, abs=1e-12)


FIGURES = st.integers(0, 1000).map(lambda permille: permille / 1000)
PAIRS = st.lists(st.tuples(FIGURES, FIGURES), min_size=3, max_size=40)


def columns(pairs: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


@given(PAIRS.filter(lambda pairs: len({round(1000 * (b - a)) for a, b in pairs}) > 1))
@settings(deadline=None, max_examples=100)
def test_t_is_the_mean_over_its_standard_error(pairs: list[tuple[float, float]]) -> None:
    a, b = columns(pairs)
    test = paired_t_test(a, b)
    deltas = [second - first for first, second in pairs]
    error = statistics.stdev(deltas) / math.sqrt(len(deltas))
    assert test.t == pytest.approx(statistics.fmean(deltas) / error, rel=1e-9, abs=1e-9)
    assert test.mean_delta == pytest.approx(statistics.fmean(deltas), abs=1e-12)


@given(PAIRS.filter(lambda pairs: len({round(1000 * (b - a)) for a, b in pairs}) > 1))
@settings(deadline=None, max_examples=60)
def test_p_and_the_interval_are_those_of_scipy_stats(pairs: list[tuple[float, float]]) -> None:
    from scipy.stats import ttest_rel

    a, b = columns(pairs)
    test = paired_t_test(a, b)
    other = ttest_rel(b, a)
    interval = other.confidence_interval(0.95)
    assert test.p == pytest.approx(other.pvalue, rel=1e-9, abs=1e-12)
    assert test.ci95_low == pytest.approx(interval.low, abs=1e-9)
    assert test.ci95_high == pytest.approx(interval.high, abs=1e-9)


@given(PAIRS)
@settings(deadline=None, max_examples=100)
def test_swapping_the_backends_turns_every_sign(pairs: list[tuple[float, float]]) -> None:
    a, b = columns(pairs)
    there, back = paired_t_test(a, b), paired_t_test(b, a)
    assert back.mean_delta == -there.mean_delta
    assert back.p == there.p
    assert (back.t is None) == (there.t is None)
    assert there.ci95_low is not None
    assert back.ci95_high is not None
    assert format_signed(back.ci95_high) == format_signed(-there.ci95_low)


@given(PAIRS)
@settings(deadline=None, max_examples=100)
def test_the_interval_leaves_zero_out_exactly_when_p_is_below_a_twentieth(
    pairs: list[tuple[float, float]],
) -> None:
    test = paired_t_test(*columns(pairs))
    assert test.p is not None
    assert test.ci95_low is not None
    assert test.ci95_high is not None
    if abs(test.p - 0.05) > 1e-9:
        assert (test.p < 0.05) == (not test.ci95_low <= 0.0 <= test.ci95_high)
