from __future__ import annotations

from cce.domain.evidence import EvidenceOptions, Verdict
from cce.measurement.evidence.verdicts import Findings, decide
from cce.numerals import MICRO

EFFECT = EvidenceOptions(alpha=0.05, min_effect=0.02)
ANY = EvidenceOptions(alpha=0.05)
MANY, FEW = 0.001, 0.0625  # attainable p of eleven cases and of five
WIDE = (-0.5, 0.5)


def decided(
    mean: float | None,
    p: float,
    bounds: tuple[float, float] | None,
    attainable_p: float,
    options: EvidenceOptions,
    *,
    n_moved: int = 7,
    is_identical: bool = False,
) -> Verdict:
    equivalence = None if bounds is None else (round(bounds[0] * MICRO), round(bounds[1] * MICRO))
    return decide(Findings(mean, p, attainable_p, n_moved, equivalence, is_identical), options)


def test_a_sure_and_large_move_has_a_direction() -> None:
    assert decided(0.05, 0.01, WIDE, MANY, EFFECT) is Verdict.IMPROVED
    assert decided(-0.05, 0.01, WIDE, MANY, EFFECT) is Verdict.REGRESSED
    assert decided(0.000001, 0.01, WIDE, MANY, ANY) is Verdict.IMPROVED


def test_a_mean_that_prints_as_0_has_none() -> None:
    # Ten of a hundred cases better by the last digit, as another way to round does: p = 2 / 2^10.
    assert decided(1e-7, 2 / 2**10, WIDE, MANY, ANY) is Verdict.INCONCLUSIVE
    assert decided(-4e-7, 2 / 2**10, WIDE, MANY, ANY) is Verdict.INCONCLUSIVE
    assert decided(5e-7, 2 / 2**10, WIDE, MANY, ANY) is Verdict.IMPROVED, "it prints as +0.000001"


def test_p_must_be_below_alpha_and_the_mean_may_equal_the_least_effect() -> None:
    assert decided(0.05, 0.05, WIDE, MANY, EFFECT) is Verdict.INCONCLUSIVE
    assert decided(0.05, 0.049999, WIDE, MANY, EFFECT) is Verdict.IMPROVED
    assert decided(0.02, 0.01, WIDE, MANY, EFFECT) is Verdict.IMPROVED
    assert decided(-0.02, 0.01, WIDE, MANY, EFFECT) is Verdict.REGRESSED
    assert decided(0.019999, 0.01, WIDE, MANY, EFFECT) is Verdict.INCONCLUSIVE


def test_rounding_noise_does_not_push_a_mean_below_the_least_effect() -> None:
    noisy = 0.3 - 0.28  # 0.01999999999999996
    assert noisy < 0.02
    assert decided(noisy, 0.01, WIDE, MANY, EFFECT) is Verdict.IMPROVED


def test_equivalent_is_an_interval_strictly_inside_the_least_effect() -> None:
    assert decided(0.0, 1.0, (-0.019999, 0.019999), MANY, EFFECT) is Verdict.EQUIVALENT
    assert decided(0.0, 1.0, (-0.02, 0.01), MANY, EFFECT) is Verdict.INCONCLUSIVE
    assert decided(0.0, 1.0, (-0.01, 0.02), MANY, EFFECT) is Verdict.INCONCLUSIVE
    assert (
        decided(0.01, 0.001, (0.005, 0.015), MANY, EFFECT) is Verdict.EQUIVALENT
    )  # real, but too small to matter


def test_without_a_least_effect_nothing_is_equivalent() -> None:
    assert decided(0.0, 1.0, (0.0, 0.0), MANY, ANY) is Verdict.INCONCLUSIVE


def test_too_few_cases_cannot_tell_whatever_they_show() -> None:
    assert decided(0.9, 0.0625, WIDE, FEW, EFFECT) is Verdict.CANNOT_TELL
    assert decided(None, 1.0, None, 1.0, ANY) is Verdict.CANNOT_TELL
    quarter = EvidenceOptions(alpha=0.0625)
    assert decided(0.9, 0.0625, WIDE, 0.0625, quarter) is Verdict.CANNOT_TELL
    assert decided(0.9, 0.0625, WIDE, 0.03125, quarter) is Verdict.INCONCLUSIVE


def test_too_few_cases_come_before_equivalence() -> None:
    assert decided(0.0, 1.0, (-0.01, 0.01), FEW, EFFECT) is Verdict.CANNOT_TELL


def test_no_move_at_all_is_never_an_improvement() -> None:
    assert decided(0.0, 0.0, (0.0, 0.0), MANY, ANY) is Verdict.INCONCLUSIVE
    assert decided(0.0, 1.0, (0.0, 0.0), MANY, ANY, n_moved=0) is Verdict.NO_CASE_MOVED
    assert decided(0.0, 1.0, (-0.01, 0.01), MANY, EFFECT, n_moved=0) is Verdict.EQUIVALENT


def test_the_same_places_in_the_same_order_need_no_statistics() -> None:
    assert decided(0.0, 1.0, None, 1.0, ANY, is_identical=True) is Verdict.IDENTICAL


def test_a_p_that_prints_as_alpha_is_not_below_it() -> None:
    assert decided(0.05, 0.0499999, WIDE, MANY, ANY) is Verdict.INCONCLUSIVE
    assert decided(0.05, 0.0499994, WIDE, MANY, ANY) is Verdict.IMPROVED, "it prints as 0.049999"
    assert decided(0.05, 0.04, WIDE, 0.0499999, ANY) is Verdict.CANNOT_TELL
