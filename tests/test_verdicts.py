from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from cce.domain.evidence import EvidenceOptions, Verdict
from cce.measurement.evidence.verdicts import decide, equivalence_interval, holm

EFFECT = EvidenceOptions(alpha=0.05, min_effect=0.02)
ANY = EvidenceOptions(alpha=0.05)
MANY, FEW = 0.001, 0.0625  # attainable p of eleven cases and of five
WIDE = (-0.5, 0.5)
P_VALUES = st.lists(
    st.sampled_from([0.0, 0.001, 0.01, 0.0125, 0.02, 0.03125, 0.04, 0.5, 1.0]), min_size=1, max_size=9
)


def test_one_p_value_stays_as_it_is() -> None:
    assert holm([]) == ()
    assert holm([0.03]) == (0.03,)


def test_the_smallest_pays_for_all_the_next_for_the_rest() -> None:
    # 4 x 0.01, 3 x 0.02, 2 x 0.04, 1 x 0.5
    assert holm([0.04, 0.01, 0.5, 0.02]) == pytest.approx((0.08, 0.04, 0.5, 0.06))


def test_adjusted_values_never_fall_below_a_smaller_one_and_never_pass_one() -> None:
    # 3 x 0.01 = 0.03, then 2 x 0.011 = 0.022 is lifted to 0.03, then 0.012 too.
    assert holm([0.011, 0.012, 0.01]) == pytest.approx((0.03, 0.03, 0.03))
    assert holm([0.6, 0.9]) == (1.0, 1.0)


def test_equal_values_are_adjusted_alike() -> None:
    assert holm([0.03125] * 4) == (0.125,) * 4


@given(P_VALUES, st.sampled_from([0.011, 0.026, 0.051, 0.11]))
@settings(deadline=None, max_examples=150)
def test_an_adjusted_value_is_below_alpha_exactly_where_the_steps_down_reject(
    p_values: list[float], alpha: float
) -> None:
    rejected: set[float] = set()
    for n_left, p in zip(range(len(p_values), 0, -1), sorted(p_values), strict=True):
        if p * n_left >= alpha:
            break
        rejected.add(p)
    assert [adjusted < alpha for adjusted in holm(p_values)] == [p in rejected for p in p_values]


def test_a_mean_of_one_case_has_no_equivalence_interval() -> None:
    assert equivalence_interval(0.0, 0.0, 1, 0.05) is None
    assert equivalence_interval(0.1, 0.0, 2, 0.05) == (0.1, 0.1)


def test_the_equivalence_interval_is_the_ninety_per_cent_t_interval() -> None:
    # n = 9, sd 0.3: standard error 0.1, t(0.05, 8) = 1.859548.
    assert equivalence_interval(0.0, 0.3, 9, 0.05) == pytest.approx((-0.1859548, 0.1859548), abs=5e-8)
    assert equivalence_interval(0.5, 0.3, 9, 0.05) == pytest.approx((0.3140452, 0.6859548), abs=5e-8)


@given(st.lists(st.integers(-40, 40), min_size=3, max_size=30).filter(lambda deltas: len(set(deltas)) > 1))
@settings(deadline=None, max_examples=60)
def test_equivalence_is_two_one_sided_t_tests(deltas: list[int]) -> None:
    n, mean = len(deltas), sum(deltas) / len(deltas) / 1000
    sd = (sum((delta / 1000 - mean) ** 2 for delta in deltas) / (n - 1)) ** 0.5
    above = ttest_1samp([delta / 1000 for delta in deltas], -0.02, alternative="greater").pvalue
    below = ttest_1samp([delta / 1000 for delta in deltas], 0.02, alternative="less").pvalue
    interval = equivalence_interval(mean, sd, n, 0.05)
    verdict = decide(mean, 1.0, interval, MANY, EFFECT)
    if abs(max(above, below) - 0.05) > 1e-3:
        assert (verdict is Verdict.EQUIVALENT) == (max(above, below) < 0.05)


def test_a_sure_and_large_move_has_a_direction() -> None:
    assert decide(0.05, 0.01, WIDE, MANY, EFFECT) is Verdict.IMPROVED
    assert decide(-0.05, 0.01, WIDE, MANY, EFFECT) is Verdict.REGRESSED
    assert decide(0.000001, 0.01, WIDE, MANY, ANY) is Verdict.IMPROVED


def test_a_mean_that_prints_as_0_has_none() -> None:
    # Ten of a hundred cases better by the last digit, as another way to round does: p = 2 / 2^10.
    assert decide(1e-7, 2 / 2**10, WIDE, MANY, ANY) is Verdict.INCONCLUSIVE
    assert decide(-4e-7, 2 / 2**10, WIDE, MANY, ANY) is Verdict.INCONCLUSIVE
    assert decide(5e-7, 2 / 2**10, WIDE, MANY, ANY) is Verdict.IMPROVED, "it prints as +0.000001"


def test_p_must_be_below_alpha_and_the_mean_may_equal_the_least_effect() -> None:
    assert decide(0.05, 0.05, WIDE, MANY, EFFECT) is Verdict.INCONCLUSIVE
    assert decide(0.05, 0.049999, WIDE, MANY, EFFECT) is Verdict.IMPROVED
    assert decide(0.02, 0.01, WIDE, MANY, EFFECT) is Verdict.IMPROVED
    assert decide(-0.02, 0.01, WIDE, MANY, EFFECT) is Verdict.REGRESSED
    assert decide(0.019999, 0.01, WIDE, MANY, EFFECT) is Verdict.INCONCLUSIVE


def test_rounding_noise_does_not_push_a_mean_below_the_least_effect() -> None:
    noisy = 0.3 - 0.28  # 0.01999999999999996
    assert noisy < 0.02
    assert decide(noisy, 0.01, WIDE, MANY, EFFECT) is Verdict.IMPROVED
    assert decide(noisy, 1.0, (noisy, noisy), MANY, EFFECT) is Verdict.INCONCLUSIVE


def test_equivalent_is_an_interval_strictly_inside_the_least_effect() -> None:
    assert decide(0.0, 1.0, (-0.019999, 0.019999), MANY, EFFECT) is Verdict.EQUIVALENT
    assert decide(0.0, 1.0, (-0.02, 0.01), MANY, EFFECT) is Verdict.INCONCLUSIVE
    assert decide(0.0, 1.0, (-0.01, 0.02), MANY, EFFECT) is Verdict.INCONCLUSIVE
    assert (
        decide(0.01, 0.001, (0.005, 0.015), MANY, EFFECT) is Verdict.EQUIVALENT
    )  # real, but too small to matter


def test_without_a_least_effect_nothing_is_equivalent() -> None:
    assert decide(0.0, 1.0, (0.0, 0.0), MANY, ANY) is Verdict.INCONCLUSIVE


def test_too_few_cases_cannot_tell_whatever_they_show() -> None:
    assert decide(0.9, 0.0625, WIDE, FEW, EFFECT) is Verdict.CANNOT_TELL
    assert decide(None, 1.0, None, 1.0, ANY) is Verdict.CANNOT_TELL
    quarter = EvidenceOptions(alpha=0.0625)
    assert decide(0.9, 0.0625, WIDE, 0.0625, quarter) is Verdict.CANNOT_TELL
    assert decide(0.9, 0.0625, WIDE, 0.03125, quarter) is Verdict.INCONCLUSIVE


def test_equivalence_comes_before_the_number_of_cases() -> None:
    assert decide(0.0, 1.0, (-0.01, 0.01), FEW, EFFECT) is Verdict.EQUIVALENT


def test_no_move_at_all_is_never_an_improvement() -> None:
    assert decide(0.0, 0.0, (0.0, 0.0), MANY, ANY) is Verdict.INCONCLUSIVE
