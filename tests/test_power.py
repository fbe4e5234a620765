from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import nctdtr
from scipy.stats import nct, t, ttest_1samp

from cce.measurement.evidence.power import (
    POWER,
    attainable_p,
    cases_needed,
    critical_t,
    detectable_effect,
    power,
)

ALPHA = 0.05


@pytest.mark.parametrize(("n", "p"), [(0, 1.0), (1, 1.0), (2, 0.5), (5, 0.0625), (6, 0.03125), (5000, 0.0)])
def test_all_cases_of_one_sign_are_the_most_that_can_be_seen(n: int, p: float) -> None:
    assert attainable_p(n) == p


@pytest.mark.parametrize(
    ("df", "tail", "critical"), [(1, 0.025, 12.706205), (5, 0.025, 2.570582), (59, 0.05, 1.671093)]
)
def test_critical_values_are_those_of_the_tables(df: int, tail: float, critical: float) -> None:
    assert critical_t(df, tail) == pytest.approx(critical, abs=5e-7)
    assert critical_t(df, 1 - tail) == pytest.approx(-critical, abs=5e-7)


@given(st.integers(1, 5000), st.floats(1e-6, 0.999999))
@settings(deadline=None, max_examples=60)
def test_critical_values_are_those_of_scipy_stats(df: int, tail: float) -> None:
    assert critical_t(df, tail) == pytest.approx(t.isf(tail, df), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "effect"), [(6, 1.43), (10, 1.00), (20, 0.66), (30, 0.53), (50, 0.40), (100, 0.28)]
)
def test_the_detectable_effect_shrinks_with_the_cases(n: int, effect: float) -> None:
    assert detectable_effect(n, ALPHA) == pytest.approx(effect, abs=0.005)


def test_few_cases_detect_only_giant_effects() -> None:
    # Two cases leave one degree of freedom, whose critical value is 12.7.
    assert detectable_effect(0, ALPHA) is None
    assert detectable_effect(1, ALPHA) is None
    assert detectable_effect(2, ALPHA) == pytest.approx(11.549888, abs=5e-7)
    assert detectable_effect(3, ALPHA) == pytest.approx(3.264044, abs=5e-7)


def test_a_test_that_accepts_everything_detects_everything() -> None:
    assert detectable_effect(10, 0.9) == pytest.approx(0.0, abs=1e-12)


def test_without_an_effect_the_power_is_alpha() -> None:
    for n in (2, 3, 6, 60, 1000):
        assert power(n, 0.0, ALPHA) == pytest.approx(ALPHA, abs=1e-12)
        assert power(n, 1e-9, ALPHA) == pytest.approx(ALPHA, abs=1e-9)


def test_far_in_the_tail_the_power_is_one_where_scipy_may_have_no_answer() -> None:
    # n = 60 at 3 sd: the other tail, nctdtr(59, 23.2, -2), is NaN in some releases and 2e-119 in others.
    other_tail = float(nctdtr(59, 23.2, -2.0))
    assert math.isnan(other_tail) or other_tail < 1e-100
    assert power(60, 3.0, ALPHA) == power(60, -3.0, ALPHA) == 1.0
    for n in (2, 3, 60, 2000):
        assert power(n, 1e6, ALPHA) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.01])
@pytest.mark.parametrize("n", [3, 4, 5, 6, 10, 20, 60, 300, 5000])
@pytest.mark.parametrize("share", [0.3, 1.0, 1.2])
def test_the_power_is_that_of_the_noncentral_t(n: int, share: float, alpha: float) -> None:
    effect = share * (detectable_effect(n, alpha) or 0.0)
    shift, critical = effect * math.sqrt(n), t.isf(alpha / 2, n - 1)
    with np.errstate(all="ignore"):
        expected = _both_tails(critical, n - 1, shift)
    if math.isnan(expected):
        pytest.skip(f"this scipy has no noncentral t at df = {n - 1}, shift = {shift}")
    assert power(n, effect, alpha) == pytest.approx(expected, abs=1e-8)


def _both_tails(critical: float, df: int, shift: float) -> float:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # where its series does not converge
        return float(nct.sf(critical, df, shift) + nct.cdf(-critical, df, shift))


@pytest.mark.parametrize("n", [2, 6, 30])
def test_simulated_t_tests_find_the_detectable_effect_four_times_in_five(n: int) -> None:
    effect = detectable_effect(n, ALPHA)
    assert effect is not None
    deltas = np.random.RandomState(0).standard_normal((20_000, n)) + effect
    found = float(np.mean(ttest_1samp(deltas, 0.0, axis=1).pvalue < ALPHA))
    assert found == pytest.approx(POWER, abs=4 * math.sqrt(0.16 / 20_000))


@given(st.integers(2, 3000), st.sampled_from([0.2, 0.05, 0.01]))
@settings(deadline=None, max_examples=40)
def test_the_detectable_effect_has_the_power_asked_for(n: int, alpha: float) -> None:
    effect = detectable_effect(n, alpha)
    assert effect is not None
    assert power(n, effect, alpha) == pytest.approx(POWER, abs=1e-9)
    assert power(n, effect * 0.99, alpha) < POWER


@pytest.mark.parametrize(
    ("effect", "n"),
    # As in the tables of Cohen's d for paired samples: 0.2, 0.5, 0.8 need 199, 34, 15.
    [(0.2, 199), (0.5, 34), (0.8, 15), (1.0, 10), (50.0, 2)],
)
def test_the_cases_needed_are_those_of_the_tables(effect: float, n: int) -> None:
    assert cases_needed(effect, ALPHA) == cases_needed(-effect, ALPHA) == n


@given(st.floats(0.001, 5.0), st.sampled_from([0.3, 0.05, 0.001]))
@settings(deadline=None, max_examples=60)
def test_the_cases_needed_are_the_fewest(effect: float, alpha: float) -> None:
    n = cases_needed(effect, alpha)
    assert power(n, effect, alpha) >= POWER
    assert n == 2 or power(n - 1, effect, alpha) < POWER


def test_a_tiny_effect_needs_as_many_cases_as_the_normal_approximation_says() -> None:
    # ((1.959964 + 0.841621) / 1e-6)^2
    assert cases_needed(1e-6, ALPHA) == pytest.approx(7.848880e12, rel=1e-5)


def test_where_alpha_alone_reaches_the_power_two_cases_are_enough() -> None:
    assert cases_needed(1e-3, 0.9) == 2


def test_detectable_effect_and_cases_needed_are_each_others_inverse() -> None:
    for n in (3, 6, 10, 20, 30, 50, 100, 1000):
        effect = detectable_effect(n, ALPHA)
        assert effect is not None
        assert cases_needed(effect * (1 + 1e-9), ALPHA) == n
        assert cases_needed(effect * (1 - 1e-9), ALPHA) == n + 1
