from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t, ttest_1samp

from cce.measurement.evidence.intervals import difference_interval, equivalence_bounds
from cce.measurement.evidence.randomisation import exact_flip_p
from cce.numerals import MICRO, ordering_key

DELTAS = st.lists(
    st.sampled_from([0, 0, 0, 333_333, -333_333, 500_000, 1, -1, 10**6]), min_size=1, max_size=14
)


def test_nothing_has_no_interval() -> None:
    assert difference_interval([], 1.0, 0) is None
    assert equivalence_bounds([], 0.05) is None


def test_the_interval_is_that_of_the_deltas_and_two_made_up_cases() -> None:
    # Ten ties, 0.5 and -0.5: mean 0, sd sqrt(0.5 / 11) = 0.213201, t(0.025, 11 df) = 2.200985.
    assert difference_interval([0] * 10, 1.0, 0) == (-135_461, 135_461)
    deltas = [0.5, 0.25, 0.25, 0.0, 0.0, 1.0, -0.25, 0.0]
    expected = ttest_1samp([*deltas, 0.5, -0.5], 0.0).confidence_interval(0.95)
    micro = [round(delta * MICRO) for delta in deltas]
    assert difference_interval(micro, 0.2, 218_750) == (
        ordering_key(expected.low),
        ordering_key(expected.high),
    )


def test_an_interval_never_leaves_what_a_metric_can_reach() -> None:
    # Six wins of 1, 0.5 and -0.5: mean 0.75, sd 0.534522, t(0.025, 7 df) = 2.364624.
    assert difference_interval([MICRO] * 6, 0.03125, MICRO) == (303_128, MICRO)
    assert difference_interval([-MICRO] * 6, 0.03125, -MICRO) == (-MICRO, -303_128)
    assert difference_interval([10 * MICRO], 1.0, 10 * MICRO, width=10) == (-10 * MICRO, 10 * MICRO)


def test_an_interval_agrees_with_the_test_of_the_same_deltas() -> None:
    # Six of six by 0.01: the made-up cases outweigh them, but p is 2 / 2^6.
    small = [10_000] * 6
    assert difference_interval(small, 1.0, 10_000) == (-215_970, 230_970)
    assert difference_interval(small, 0.03125, 10_000) == (1, 230_970)
    assert difference_interval([-10_000] * 6, 0.03125, -10_000) == (-230_970, -1)
    # Seven large gains: without a p below 0.05 the interval reaches 0.
    assert difference_interval([MICRO] * 7, 0.0499999, MICRO) == (0, MICRO)
    assert difference_interval([-MICRO] * 7, 0.05, -MICRO) == (-MICRO, 0)
    assert difference_interval(small, 0.03125, 0) == (-215_970, 230_970), "a mean that prints as 0"


@given(DELTAS)
@settings(deadline=None, max_examples=150)
def test_an_interval_leaves_0_out_exactly_where_p_is_below_5_percent(deltas: list[int]) -> None:
    p, mean = exact_flip_p(deltas), ordering_key(sum(deltas) / len(deltas) / MICRO)
    low, high = difference_interval(deltas, p, mean) or (0, 0)
    assert low <= mean <= high
    assert (low > 0 or high < 0) == (p < 0.05 and mean != 0)


def test_equivalence_bounds_have_one_more_case_at_the_worst() -> None:
    # 20 ties and a -1: mean -1/21, sd 0.218218, t(0.05, 20 df) = 1.724718.
    assert equivalence_bounds([0] * 20, 0.05) == (-129_748, 129_748)
    margin = t.isf(0.05, 20) * statistics.stdev([0.0] * 20 + [-1.0]) / math.sqrt(21)
    assert equivalence_bounds([0] * 20, 0.05) == (
        ordering_key(-1 / 21 - margin),
        ordering_key(1 / 21 + margin),
    )
    assert equivalence_bounds([0], 0.05) == (-3_656_876, 3_656_876)  # t(0.05, 1 df) = 6.313752


@given(st.lists(st.integers(-400, 400), min_size=2, max_size=30), st.sampled_from([0.01, 0.05, 0.2]))
@settings(deadline=None, max_examples=60)
def test_equivalence_bounds_are_those_of_one_sided_t_tests(deltas: list[int], alpha: float) -> None:
    bounds = equivalence_bounds([delta * 1000 for delta in deltas], alpha)
    assert bounds is not None
    for bound, worst, side in zip(bounds, (-1.0, 1.0), ("greater", "less"), strict=True):
        figures = [*(delta / 1000 for delta in deltas), worst]
        assert ttest_1samp(figures, bound / MICRO, alternative=side).pvalue == pytest.approx(alpha, abs=1e-3)


@pytest.mark.parametrize("n", [5, 10, 24])
def test_rare_losses_that_a_set_did_not_draw_seldom_pass_as_no_difference(n: int) -> None:
    # Of the cases 5 % lose all. All-tied sets are drawn with 0.95^n; at 0.05 they must not be equivalent.
    low, _ = equivalence_bounds([0] * n, 0.05) or (0, 0)
    assert low < -50_000
