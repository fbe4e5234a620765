from __future__ import annotations

import math
import runpy
import statistics
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.anchor import parse_anchor
from cce.domain.case import Case
from cce.domain.evidence import (
    DifferenceEvidence,
    EvidenceOptions,
    FlipMethod,
    Interval,
    Verdict,
)
from cce.domain.scores import BackendScore, Column
from cce.errors import UsageError
from cce.measurement.evidence.gathering import gather_evidence
from cce.measurement.evidence.power import cases_needed, detectable_effect
from cce.measurement.evidence.significance import case_deltas, paired_t_test
from cce.numerals import format_signed
from score_rows import score_of_columns

QUICK = 200


def backend(name: str, figures: Column, metric: str = "mrr") -> BackendScore:
    return score_of_columns(name, {metric: figures})


def ids(n: int) -> list[str]:
    return [f"q{number}" for number in range(1, n + 1)]


def difference(a: Column, b: Column, **options: float) -> DifferenceEvidence:
    """The evidence of a single metric."""
    asked = EvidenceOptions(
        ("mrr",), alpha=options.get("alpha", 0.05), min_effect=options.get("min_effect", 0.0), resamples=QUICK
    )
    pair = backend("a", a), backend("b", b)
    evidence = gather_evidence(asked, pair, pair)
    assert evidence.compare is not None
    return evidence.compare.metrics["mrr"]


def test_the_options_have_the_documented_defaults() -> None:
    assert EvidenceOptions() == EvidenceOptions(
        metrics=("precision_at_k", "recall", "mrr", "f1"),
        alpha=0.05,
        min_effect=0.0,
        seed=0,
        resamples=10_000,
    )


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, 1.5, math.nan, math.inf, 1e-7])
def test_alpha_lies_between_zero_and_one(alpha: float) -> None:
    with pytest.raises(UsageError, match="--alpha must lie between 0 and 1"):
        EvidenceOptions(alpha=alpha)


@pytest.mark.parametrize("min_effect", [-0.01, 1.01, math.nan, math.inf])
def test_the_least_effect_lies_in_the_range_of_a_metric(min_effect: float) -> None:
    with pytest.raises(UsageError, match=r"--min-effect must lie in 0\.\.1"):
        EvidenceOptions(min_effect=min_effect)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"resamples": 0}, "--resamples must lie in 1..1000000, got 0"),
        ({"resamples": 1_000_001}, "--resamples must lie in"),
        ({"seed": -1}, "--seed must lie in 0..4294967295, got -1"),
        ({"seed": 2**32}, "--seed must lie in"),
        ({"metrics": ()}, "--metrics names no metric"),
        ({"metrics": ("mrr", "mrr")}, "--metrics names a metric twice"),
    ],
)
def test_options_out_of_range_are_refused_at_birth(options: dict[str, int], fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        EvidenceOptions(**options)  # type: ignore[arg-type]


def test_deltas_leave_out_cases_that_either_side_does_not_define() -> None:
    assert case_deltas([0.5, None, 0.0, 0.25], [1.0, 0.5, None, 0.25]) == (0.5, None, None, 0.0)
    assert case_deltas([], []) == ()


def test_a_backend_alone_has_its_means_and_nothing_to_compare() -> None:
    options = EvidenceOptions(("mrr", "recall"), resamples=QUICK)
    only = score_of_columns("bm25", {"recall": (1.0, 1.0), "mrr": (0.0, 1.0)})
    evidence = gather_evidence(options, [only])
    assert evidence.compare is None
    assert [(each.backend, list(each.metrics)) for each in evidence.backends] == [("bm25", ["mrr", "recall"])]
    assert evidence.backends[0].metrics["mrr"] == Interval(0.5, 0.0, 1.0, n=2)
    assert evidence.backends[0].metrics["recall"] == Interval(1.0, 1.0, 1.0, n=2)


def test_undefined_figures_are_left_out_and_counted() -> None:
    options = EvidenceOptions(("ap", "mrr"), resamples=QUICK)
    a = score_of_columns("a", {"ap": (0.5, None, 0.5), "mrr": (1.0, 1.0, 1.0)})
    b = score_of_columns("b", {"ap": (None, 0.5, 1.0), "mrr": (1.0, 1.0, 1.0)})
    evidence = gather_evidence(options, [a, b], (a, b))
    assert evidence.backends[0].metrics["ap"] == Interval(0.5, 0.5, 0.5, n=2, n_undefined=1)
    assert evidence.compare is not None
    found = evidence.compare.metrics["ap"]
    assert (found.better, found.tied, found.n, found.n_undefined) == (("q3",), 0, 1, 2)
    assert found.per_case == (None, None, 0.5)


def test_a_metric_defined_nowhere_has_no_figures_and_cannot_tell() -> None:
    found = difference([None, None], [None, None])
    assert (found.mean_delta, found.ci95_low, found.effect_size, found.mde, found.n_needed) == (None,) * 5
    assert (found.sign_p, found.flip_p, found.adjusted_p, found.attainable_p) == (1.0,) * 4
    assert (found.n, found.n_undefined, found.tied) == (0, 2, 0)
    assert found.verdict is Verdict.CANNOT_TELL


def test_one_case_shows_its_delta_and_proves_nothing() -> None:
    found = difference([0.25], [0.75])
    # With two made-up cases 0.5 and -0.5: mean 1/6, sd 0.577350, t(0.025, 2 df) 4.302653: beyond -1 and 1.
    assert (found.mean_delta, found.ci95_low, found.ci95_high) == (0.5, -1.0, 1.0)
    assert (found.effect_size, found.mde, found.n_needed) == (None, None, None)
    assert (found.sign_p, found.attainable_p, found.verdict) == (1.0, 1.0, Verdict.CANNOT_TELL)


def test_no_difference_anywhere_is_never_an_improvement() -> None:
    # 20 zeros and a -1: mean -0.047619, sd 0.218218, t(0.05, 20 df) 1.724718: lower bound -0.129748.
    for min_effect, verdict in (
        (0.0, Verdict.NO_CASE_MOVED),
        (0.129748, Verdict.NO_CASE_MOVED),
        (0.129749, Verdict.EQUIVALENT),
    ):
        found = difference([0.5, 1.0] * 10, [0.5, 1.0] * 10, min_effect=min_effect)
        assert (found.better, found.worse, found.tied) == ((), (), 20)
        assert (found.sign_p, found.flip_p, found.flip_method) == (1.0, 1.0, FlipMethod.EXACT)
        assert (found.effect_size, found.mde, found.n_needed) == (None, None, None)
        assert found.verdict is verdict


def test_deltas_within_rounding_noise_are_tied() -> None:
    found = difference([0.3, 0.1 + 0.2, 0.5], [0.1 + 0.2, 0.3, 0.5 + 4e-7])
    assert (found.better, found.worse, found.tied) == ((), (), 3)


def test_six_wins_are_just_enough_for_one_metric() -> None:
    found = difference([0.5, 1 / 3, 0.25, 0.2, 0.5, 0.0], [1.0] * 6)
    assert found.better == ("q1", "q2", "q3", "q4", "q5", "q6")
    assert (found.sign_p, found.flip_p, found.adjusted_p, found.attainable_p) == (0.03125,) * 4
    assert found.verdict is Verdict.IMPROVED
    assert difference([1.0] * 6, [0.5, 1 / 3, 0.25, 0.2, 0.5, 0.0]).verdict is Verdict.REGRESSED


def family(**columns: tuple[Column, Column]) -> dict[str, DifferenceEvidence]:
    """The evidence of several metrics, each with its figures of A and of B."""
    a, b = (
        score_of_columns("ab"[side], {name: pair[side] for name, pair in columns.items()}) for side in (0, 1)
    )
    compare = gather_evidence(EvidenceOptions(tuple(columns), resamples=QUICK), [a, b], (a, b)).compare
    assert compare is not None
    assert (compare.a, compare.b, list(compare.metrics)) == ("a", "b", list(columns))
    return dict(compare.metrics)


def test_metrics_that_never_move_cost_the_others_nothing() -> None:
    still = ((1.0,) * 7, (1.0,) * 7)
    found = family(mrr=((0.5,) * 7, (1.0,) * 7), hit=still, recall=still, f1=still)
    # 7 to 0: 2 / 2^7. No sign pattern brings the others to it.
    assert (found["mrr"].flip_p, found["mrr"].adjusted_p) == (0.015625, 0.015625)
    assert found["mrr"].verdict is Verdict.IMPROVED
    assert (found["hit"].adjusted_p, found["hit"].verdict) == (1.0, Verdict.NO_CASE_MOVED)


def test_seven_of_seven_are_evidence_among_four_metrics_that_move_the_same_way() -> None:
    halves, thirds = ((0.5,) * 7, (1.0,) * 7), ((1 / 3, 0.5, 0.25, 0.2, 0.5, 0.1, 0.0), (1.0,) * 7)
    found = family(mrr=thirds, hit=halves, recall=halves, f1=thirds)
    assert {each.adjusted_p for each in found.values()} == {0.015625}
    assert {each.verdict for each in found.values()} == {Verdict.IMPROVED}


def test_five_of_five_cannot_tell_whatever_the_family() -> None:
    wins = ((0.0,) * 5, (1.0,) * 5)
    found = family(mrr=wins, hit=wins, recall=wins, f1=wins)
    assert {each.verdict for each in found.values()} == {Verdict.CANNOT_TELL}
    assert {(each.mde, each.n_needed) for each in found.values()} == {(None, None)}


def test_twenty_of_twenty_are_evidence_beside_a_metric_with_one_large_win() -> None:
    small = ((0.5,) * 20, (0.51,) * 20)
    large = ((0.0,) * 20, (1.0, *(0.0,) * 19))
    found = family(mrr=small, recall=large)
    assert found["mrr"].adjusted_p == 2 / 2**20
    assert found["mrr"].verdict is Verdict.IMPROVED
    assert found["recall"].verdict is Verdict.INCONCLUSIVE


def test_detectable_change_and_cases_needed_are_those_of_the_family() -> None:
    a, b = (0.5,) * 10, (0.6, 0.4) * 4 + (0.6, 0.6)
    alone, both = family(mrr=(a, b))["mrr"], family(mrr=(a, b), recall=(a, a))["mrr"]
    sd = statistics.stdev(y - x for x, y in zip(a, b, strict=True))
    assert alone.mde == pytest.approx((detectable_effect(10, 0.05) or 0) * sd, rel=1e-6)
    assert both.mde == pytest.approx((detectable_effect(10, 0.025) or 0) * sd, rel=1e-6)
    assert alone.n_needed == 212
    assert both.n_needed == cases_needed(0.02 / sd, 0.025)


def test_the_cases_needed_are_never_fewer_than_any_evidence_takes() -> None:
    # Twelve deltas around 0.9 at an sd of 0.07: two cases have the power, but 2 / 2^5 is not below 0.05.
    found = difference((0.0,) * 12, (0.85, 0.95) * 6)
    assert cases_needed(0.9 / statistics.stdev((0.85, 0.95) * 6), 0.05) < 6
    assert found.n_needed == 6


def test_the_same_places_in_the_same_order_are_identical_before_all_else() -> None:
    a = score_of_columns("a", {"mrr": (1.0, 0.5)})
    compare = gather_evidence(
        EvidenceOptions(("mrr",), resamples=QUICK), [a, a], (a, a), are_identical=True
    ).compare
    assert compare is not None
    assert compare.metrics["mrr"].verdict is Verdict.IDENTICAL


def test_more_than_36_moved_cases_are_drawn_and_no_p_is_below_what_the_draws_give() -> None:
    found = difference((0.0,) * 40, (1.0,) * 40)
    assert (found.flip_method, found.is_drawn) == (FlipMethod.MONTE_CARLO, True)
    assert found.attainable_p == found.adjusted_p == 1 / (QUICK + 1)


def test_an_improvement_that_one_lost_case_would_undo_is_marked() -> None:
    # Seven wins of 0.1 and a loss of 1: the mean turns negative.
    # Seven wins of 1 and a loss of 1: 2 * (1 + 8) / 2^8 = 0.07.
    assert difference((0.0,) * 7, (0.1,) * 7).is_fragile
    assert difference((0.0,) * 7, (1.0,) * 7).is_fragile
    # Eleven wins of 1 and a loss of 1: 2 * (1 + 12) / 2^12 = 0.006.
    assert not difference((0.0,) * 11, (1.0,) * 11).is_fragile
    assert difference((0.1,) * 7, (0.0,) * 7).is_fragile, "a regression that one more win would undo"
    assert not difference((0.0, 0.5) * 7, (0.5, 0.0) * 7).is_fragile, "there is nothing to undo"


def test_five_wins_of_five_cannot_tell() -> None:
    found = difference([0.0] * 5, [1.0] * 5)
    assert (found.sign_p, found.attainable_p, found.verdict) == (0.0625, 0.0625, Verdict.CANNOT_TELL)


def test_wins_and_losses_are_named_and_weighed() -> None:
    # Deltas 1/2 1/2 -1/4 0 0 0 1/2 0: of 16 sign patterns those with a sum of at least 5/4 are 4.
    found = difference([0.5, 0.5, 0.5, 1, 1, 1, 0.5, 0], [1.0, 1.0, 0.25, 1, 1, 1, 1.0, 0])
    assert (found.better, found.worse, found.tied) == (("q1", "q2", "q7"), ("q3",), 4)
    assert (found.sign_p, found.flip_p) == (0.625, 0.25)
    assert found.mean_delta == 0.15625
    deltas = [0.5, 0.5, -0.25, 0, 0, 0, 0.5, 0]
    assert found.effect_size == pytest.approx(0.15625 / statistics.stdev(deltas), rel=1e-12)
    assert found.verdict is Verdict.INCONCLUSIVE


def test_equal_deltas_reached_by_different_routes_have_no_spread() -> None:
    found = difference([0.4, 0.0, 0.2] * 2, [0.6, 0.2, 0.4] * 2)
    assert (found.effect_size, found.mde, found.n_needed) == (None, None, None)
    assert found.verdict is Verdict.IMPROVED


def test_the_detectable_delta_is_in_metric_units() -> None:
    # Deltas +-0.1, five times each: sd = 0.1 sqrt(10/9); ten cases detect 0.996001 sd.
    found = difference([0.5] * 10, [0.6, 0.4] * 5)
    assert found.mde == pytest.approx(0.9960014 * 0.1 * math.sqrt(10 / 9), abs=1e-7)
    assert found.n_needed is None  # no effect seen, none asked for


def test_the_cases_needed_are_for_the_least_effect_or_else_for_the_one_seen() -> None:
    a, b = [0.5] * 10, [0.6, 0.4] * 4 + [0.6, 0.6]
    seen = difference(a, b)  # 0.02 at an sd of sqrt(0.096 / 9) = 0.103280
    assert seen.effect_size == pytest.approx(0.193649, abs=5e-7)
    assert seen.n_needed == 212  # (2.801585 / 0.193649)^2 = 209.3 if the sd were known
    assert difference(a, b, min_effect=0.05164).n_needed == 34  # d = 0.5


@given(
    st.lists(
        st.tuples(*[st.sampled_from([0.0, 1.0, 0.5, 1 / 3, 0.25, 0.2, 1 / 6, 1 / 7])] * 2),
        min_size=2,
        max_size=25,
    )
)
@settings(deadline=None, max_examples=60)
def test_the_mean_is_that_of_the_t_test_block_and_lies_within_its_bounds(
    pairs: list[tuple[float, ...]],
) -> None:
    a, b = ([pair[side] for pair in pairs] for side in (0, 1))
    found = difference(a, b)
    assert found.mean_delta is not None
    assert found.ci95_low is not None
    assert found.ci95_high is not None
    assert format_signed(found.mean_delta) == format_signed(paired_t_test(a, b).mean_delta)
    assert found.ci95_low <= found.mean_delta + 1e-12
    assert found.mean_delta <= found.ci95_high + 1e-12
    assert found.n == len(found.better) + len(found.worse) + found.tied


@given(
    st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, 0.5, 1 / 3, 0.2, None])] * 2), min_size=1, max_size=25)
)
@settings(deadline=None, max_examples=60)
def test_swapping_the_backends_turns_every_sign(pairs: list[tuple[float | None, ...]]) -> None:
    a, b = ([pair[side] for pair in pairs] for side in (0, 1))
    there, back = difference(a, b), difference(b, a)
    assert (back.better, back.worse, back.tied) == (there.worse, there.better, there.tied)
    assert (back.sign_p, back.flip_p, back.mde, back.n_needed) == (
        there.sign_p,
        there.flip_p,
        there.mde,
        there.n_needed,
    )
    assert back.mean_delta == (None if there.mean_delta is None else -there.mean_delta)
    opposite = {Verdict.IMPROVED: Verdict.REGRESSED, Verdict.REGRESSED: Verdict.IMPROVED}
    assert back.verdict is opposite.get(there.verdict, there.verdict)


def test_reports_of_one_backend_can_be_compared_under_one_name() -> None:
    old, new = backend("hybrid", (0.5, 0.5)), backend("hybrid", (1.0, 1.0))
    evidence = gather_evidence(EvidenceOptions(("mrr",), resamples=QUICK), (old, new), (old, new))
    assert evidence.compare is not None
    assert (evidence.compare.a, evidence.compare.b) == ("hybrid", "hybrid")
    assert [each.metrics["mrr"].mean for each in evidence.backends] == [0.5, 1.0]


def test_cases_with_tags_give_slices() -> None:
    tagged = Case("q1", "a query", (parse_anchor("a.py"),), 10, line=1, tags=("x",))
    options = EvidenceOptions(("mrr",), resamples=QUICK)
    (only,) = gather_evidence(options, [backend("a", (1.0,))], cases=[tagged]).slices
    assert (only.tag, only.n) == ("x", 1)


def test_the_same_seed_gives_the_same_evidence_and_another_one_other_bounds() -> None:
    pair = backend("a", (0.0, 0.5, 1.0, 0.25) * 16), backend("b", (0.2, 0.25, 1.0, 0.35) * 16)
    one, again, other = (
        gather_evidence(EvidenceOptions(("mrr",), seed=seed, resamples=QUICK), pair, pair)
        for seed in (1, 1, 2)
    )
    assert one == again
    assert one.compare != other.compare
    assert one.backends != other.backends


@pytest.fixture(scope="module")
def simulation() -> SimpleNamespace:
    """The benchmark that counts wrong verdicts where the truth is known."""
    root = Path(__file__).resolve().parent.parent
    return SimpleNamespace(**runpy.run_path(str(root / "eval" / "benchmarks" / "false_verdicts.py")))


@pytest.mark.process  # simulations take seconds
@pytest.mark.parametrize("n", [10, 24, 60])
def test_without_a_difference_verdicts_with_a_direction_are_as_rare_as_alpha(
    simulation: SimpleNamespace, n: int
) -> None:
    populations = simulation.real_differences()
    _, most = simulation.binomial_bounds(0.05, 150)
    for family in simulation.FAMILIES:
        assert simulation.false_share(populations, family, n, 150) <= most


@pytest.mark.process  # simulations take seconds
@pytest.mark.parametrize("n", [10, 24, 60])
def test_the_interval_of_a_difference_holds_the_true_one(simulation: SimpleNamespace, n: int) -> None:
    least, _ = simulation.binomial_bounds(0.95, 150)
    assert simulation.coverage(simulation.real_differences(), n, 150) >= least


@pytest.mark.process  # simulations take seconds
@pytest.mark.parametrize("n", [10, 24])
def test_a_difference_as_large_as_mde_is_found_four_times_in_five(
    simulation: SimpleNamespace, n: int
) -> None:
    least, most = simulation.binomial_bounds(0.8, 200)
    assert least <= simulation.found_share_of_normal_deltas(n, 200) <= most
    populations = simulation.real_differences()
    for family in simulation.FAMILIES:
        assert (
            simulation.found_share_at_mde(populations, family, n, 100)
            >= simulation.binomial_bounds(0.8, 100)[0]
        )


@pytest.mark.parametrize("n", [5, 7, 10, 24, 60, 200])
@pytest.mark.parametrize("limit", [0.02, 0.05, 0.1, 0.2])
def test_rare_losses_seldom_pass_as_equivalent(simulation: SimpleNamespace, n: int, limit: float) -> None:
    assert simulation.false_equivalent_share(n, limit) <= 0.08
