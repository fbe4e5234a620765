from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from cce.domain.evidence import (
    BackendEvidence,
    ComparisonEvidence,
    DifferenceEvidence,
    Evidence,
    EvidenceOptions,
    FlipMethod,
    Interval,
    SliceDifference,
    SliceEvidence,
    SliceMeans,
    Verdict,
)
from cce.domain.report import Report
from cce.report.json.report_v2 import render_json
from cce.report.text.report import render_text
from score_rows import score_with_means

DIFFERENCE = DifferenceEvidence(
    per_case=(0.5, 0.25, -0.25, 0.0, None, 1.0, 1.0),
    better=("q1", "q2", "q6", "q7"),
    worse=("q3",),
    tied=1,
    sign_p=0.375,
    flip_p=0.1875,
    flip_method=FlipMethod.EXACT,
    adjusted_p=0.1875,
    mean_delta=5 / 12,
    ci95_low=-1 / 128,
    ci95_high=0.75,
    effect_size=0.816497,
    mde=0.731234,
    n_needed=14,
    attainable_p=0.03125,
    verdict=Verdict.INCONCLUSIVE,
    n=6,
    n_undefined=1,
)
UNDEFINED = DifferenceEvidence(
    per_case=(None,) * 7,
    better=(),
    worse=(),
    tied=0,
    sign_p=1.0,
    flip_p=1.0,
    flip_method=FlipMethod.EXACT,
    adjusted_p=1.0,
    mean_delta=None,
    ci95_low=None,
    ci95_high=None,
    effect_size=None,
    mde=None,
    n_needed=None,
    attainable_p=1.0,
    verdict=Verdict.CANNOT_TELL,
    n=0,
    n_undefined=7,
)
BACKENDS = (
    BackendEvidence(
        "bm25", {"mrr": Interval(0.25, 0.125, 1 / 3, 6, 1), "token_iou": Interval(None, None, None, 0, 7)}
    ),
    BackendEvidence(
        "hybrid", {"mrr": Interval(2 / 3, 0.5, 1.0, 6, 1), "token_iou": Interval(None, None, None, 0, 7)}
    ),
)
FEW = SliceDifference(0.375, better=2, worse=0, tied=0, sign_p=0.5)
NOTHING = SliceDifference(None, better=0, worse=0, tied=0, sign_p=1.0)


def part(tag: str | None, n: int) -> SliceEvidence:
    means = (
        SliceMeans("bm25", {"mrr": 0.25, "token_iou": None}),
        SliceMeans("hybrid", {"mrr": 0.625, "token_iou": None}),
    )
    return SliceEvidence(tag, n, means, {"mrr": FEW, "token_iou": NOTHING})


EVIDENCE = Evidence(
    EvidenceOptions(metrics=("mrr", "token_iou")),
    BACKENDS,
    ComparisonEvidence("bm25", "hybrid", {"mrr": DIFFERENCE, "token_iou": UNDEFINED}, 2),
    (part("symbol", 5), part(None, 2)),
)


def report(evidence: Evidence | None) -> Report:
    scores = tuple(score_with_means(name, (), (0.5, 0.5, 0.5, 0.5)) for name in ("bm25", "hybrid"))
    return Report("src", "hash", 7, scores, None, evidence)


def text_of(evidence: Evidence) -> str:
    """What the evidence adds to the text report."""
    before, after = render_text(report(None)), render_text(report(evidence))
    assert after.startswith(before)
    return after.removeprefix(before)


def json_of(evidence: Evidence) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(render_json(report(evidence)))
    added: dict[str, Any] = fields.pop("evidence")
    assert fields == json.loads(render_json(report(None)))
    return added


def words(difference: DifferenceEvidence, **options: float) -> str:
    """The sentence about mrr alone."""
    compare = ComparisonEvidence("bm25", "hybrid", {"mrr": difference}, 1)
    evidence = Evidence(EvidenceOptions(metrics=("mrr",), **options), (), compare)  # type: ignore[arg-type]
    (line,) = text_of(evidence).split("  in words\n")[1].splitlines()
    return line.strip()


def test_the_whole_block_as_it_is_read() -> None:
    assert text_of(EVIDENCE) == (
        """
  evidence (alpha 0.050000, min effect 0.000000, 10000 resamples, seed 0)

  means, with bootstrap intervals
  backend  metric     cases  left out      mean                95% CI
  bm25     mrr            6         1  0.250000  [0.125000, 0.333333]
  bm25     token_iou      0         7       n/a                   n/a
  hybrid   mrr            6         1  0.666667  [0.500000, 1.000000]
  hybrid   token_iou      0         7       n/a                   n/a

  differences (bm25 → hybrid; positive = hybrid wins)
  metric     cases  left out  mean-delta                  95% CI  better  worse  tied       verdict
  mrr            6         1   +0.416667  [-0.007813, +0.750000]       4      1     1  inconclusive
  token_iou      0         7         n/a                     n/a       0      0     0   cannot tell

  how sure (two-sided p values; adjusted over 2 metrics)
  metric       sign p    flip p  adjusted p  flip method
  mrr        0.375000  0.187500    0.187500        exact
  token_iou  1.000000  1.000000    1.000000        exact

  what this set can see (power 0.8)
  metric     effect size       mde  cases needed   least p
  mrr          +0.816497  0.731234            14  0.031250
  token_iou          n/a       n/a           n/a  1.000000

  the cases in their order (+ better, - worse, . tied, o undefined)
  mrr        ++-.o++
  token_iou  ooooooo

  in words
  mrr rose by 0.416667 on average from bm25 to hybrid (95% CI of this metric alone [-0.007813, +0.750000]; """
        """6 cases, 1 left out as undefined: 4 better, 1 worse, 1 tied). Verdict: inconclusive, """
        """p = 0.187500 adjusted over 2 metrics, alpha 0.050000. Only 5 cases moved: even all one way """
        """give p = 0.062500. With this spread 6 cases detect a true change of 0.731234 with 80 % power; """
        """to tell a true change of 0.416667 from none takes 14 cases.
  token_iou is undefined for every case, so there is nothing to compare from bm25 to hybrid.

  slices by tag (a hint where to look, never a verdict)
  tag         metric     cases      bm25    hybrid  mean-delta  better  worse  tied    sign p
  symbol      mrr            5  0.250000  0.625000   +0.375000       2      0     0  0.500000
  symbol      token_iou      5       n/a       n/a         n/a       0      0     0  1.000000
  (untagged)  mrr            2  0.250000  0.625000   +0.375000       2      0     0  0.500000  too few
  (untagged)  token_iou      2       n/a       n/a         n/a       0      0     0  1.000000  too few
"""
    )


def test_no_line_ends_in_white_space() -> None:
    assert all(line == line.rstrip() for line in text_of(EVIDENCE).splitlines())


def test_without_a_comparison_there_are_means_and_slices_only() -> None:
    alone = replace(EVIDENCE, compare=None, slices=(replace(part("symbol", 5), compare=None),))
    assert text_of(alone).count("\n\n") == 2
    assert text_of(alone).endswith(
        "  tag     metric     cases      bm25    hybrid\n"
        "  symbol  mrr            5  0.250000  0.625000\n"
        "  symbol  token_iou      5       n/a       n/a\n"
    )


def test_a_loss_is_said_as_a_fall() -> None:
    worse = replace(
        DIFFERENCE,
        mean_delta=-0.125,
        ci95_high=-0.007813,
        ci95_low=-0.3,
        verdict=Verdict.REGRESSED,
        flip_p=0.01,
        adjusted_p=0.01,
        n_undefined=0,
    )
    assert words(worse, min_effect=0.05).startswith(
        "mrr fell by 0.125000 on average from bm25 to hybrid (95% CI [-0.300000, -0.007813]; 6 cases: "
        "4 better, 1 worse, 1 tied). Verdict: regressed, p = 0.010000, alpha 0.050000, "
        "changes count from 0.050000."
    )


def test_the_cases_to_label_are_for_the_least_effect_that_counts() -> None:
    assert words(DIFFERENCE, min_effect=0.1).endswith("a true change of 0.100000 from none takes 14 cases.")
    assert words(replace(DIFFERENCE, n_needed=None)).endswith("a true change of 0.731234 with 80 % power.")


def test_a_least_effect_that_prints_as_0_is_none() -> None:
    assert words(DIFFERENCE, min_effect=4e-7) == words(DIFFERENCE)
    assert words(DIFFERENCE, min_effect=5e-7) != words(DIFFERENCE), "it prints as 0.000001"


def test_too_few_cases_say_why_they_cannot_tell() -> None:
    few = replace(DIFFERENCE, verdict=Verdict.CANNOT_TELL, n=1, attainable_p=1.0)
    assert words(few).endswith(
        "Verdict: cannot tell, 1 case can give no p below 1.000000, alpha 0.050000. "
        "No result from so few could be evidence."
    )


def test_too_few_draws_say_so() -> None:
    few = replace(DIFFERENCE, verdict=Verdict.CANNOT_TELL, n=60, attainable_p=1 / 11, is_drawn=True)
    assert "cannot tell, 10 draws can give no p below 0.090909, alpha 0.050000." in words(few, resamples=10)


def test_the_same_places_and_no_move_are_said_without_a_p() -> None:
    same = replace(DIFFERENCE, mean_delta=0.0, verdict=Verdict.IDENTICAL)
    assert words(same).endswith("Verdict: identical, every case has the same results in the same order.")
    still = replace(DIFFERENCE, mean_delta=0.0, mde=None, verdict=Verdict.NO_CASE_MOVED)
    assert words(still).endswith(
        "Verdict: no case moved. The deltas do not vary, so there is no telling what else this set "
        "could have seen."
    )


def test_equivalence_gives_the_bounds_it_rests_on_and_no_other_interval() -> None:
    alike = replace(
        DIFFERENCE, mean_delta=0.001, verdict=Verdict.EQUIVALENT, equivalence=(-0.015, 0.0125), n_undefined=0
    )
    assert words(alike, min_effect=0.02).startswith(
        "mrr rose by 0.001000 on average from bm25 to hybrid (6 cases: 4 better, 1 worse, 1 tied). "
        "Verdict: equivalent, the change lies in [-0.015000, +0.012500], within 0.020000 of none "
        "(one-sided bounds, alpha 0.050000, each with one more case at the worst). With this spread"
    )


CLEAR = replace(
    DIFFERENCE,
    better=tuple("abcdefgh"),
    worse=(),
    n=8,
    ci95_low=0.1,
    flip_p=0.03,
    adjusted_p=0.03,
    verdict=Verdict.IMPROVED,
)


def family_words(difference: DifferenceEvidence, **options: float) -> str:
    """The sentence about mrr as one of two metrics."""
    compare = ComparisonEvidence("bm25", "hybrid", {"mrr": difference, "token_iou": UNDEFINED}, 2)
    asked = EvidenceOptions(metrics=("mrr", "token_iou"), **options)  # type: ignore[arg-type]
    evidence = Evidence(asked, (), compare)
    return text_of(evidence).split("  in words\n")[1].splitlines()[0].strip()


def test_an_interval_without_0_beside_an_open_verdict_is_explained() -> None:
    open_ = replace(CLEAR, adjusted_p=0.06, verdict=Verdict.INCONCLUSIVE)
    assert "Alone it would count, among 2 metrics it does not." in family_words(open_)
    assert "Alone it would have a p below alpha, among 2 metrics it does not." in family_words(
        open_, min_effect=0.5
    )
    strict = replace(CLEAR, verdict=Verdict.INCONCLUSIVE)
    said = "Alone, its p of 0.030000 is below 0.05, but not below alpha 0.010000."
    assert said in words(strict, alpha=0.01)
    lenient = replace(CLEAR, ci95_low=-0.1, flip_p=0.1, adjusted_p=0.1)
    assert "The interval is one at 0.05 and holds 0; at alpha 0.200000 the change counts." in words(
        lenient, alpha=0.2
    )
    assert "Alone" not in words(CLEAR) + family_words(CLEAR)


def test_a_sure_change_below_what_counts_is_said_as_that() -> None:
    small = replace(CLEAR, mean_delta=0.01, verdict=Verdict.INCONCLUSIVE)
    assert "There is a change, but its mean is smaller than what counts." in words(small, min_effect=0.02)
    assert "A mean that prints as 0 has no direction." in words(replace(small, mean_delta=1e-7))


def test_a_drawn_p_near_alpha_asks_for_more_draws() -> None:
    # Three standard errors of p = 0.05 over 10,000 draws: 3 * sqrt(0.05 * 0.95 / 10000) = 0.006538.
    near = replace(CLEAR, flip_p=0.0435, adjusted_p=0.0435, is_drawn=True)
    said = "This p is too near alpha for 10000 draws; --resamples 100000 draws more."
    assert said in words(near)
    assert "too near" not in words(replace(near, adjusted_p=0.0434))
    assert "too near" not in words(replace(near, is_drawn=False))
    most = words(replace(near, adjusted_p=0.05, verdict=Verdict.INCONCLUSIVE), resamples=1_000_000)
    assert "too near alpha for 1000000 draws." in most


def test_a_verdict_that_one_case_would_undo_names_the_most_that_was_lost() -> None:
    fragile = replace(CLEAR, is_fragile=True)
    assert "One case that loses everything would undo this; no case here lost more than 0.250000." in words(
        fragile
    )
    assert "would undo this; no case here lost anything." in words(replace(fragile, per_case=(0.5, 0.0)))
    fall = replace(fragile, mean_delta=-0.1, ci95_low=-0.2, ci95_high=-0.1, verdict=Verdict.REGRESSED)
    assert "One case that gains everything would undo this; no case here gained more than 1.000000." in words(
        fall
    )


def test_deltas_that_do_not_vary_allow_no_forecast() -> None:
    same = replace(DIFFERENCE, mean_delta=0.25, mde=None, n_needed=None, effect_size=None)
    assert words(replace(same, mean_delta=0.0)).startswith("mrr kept its mean from bm25 to hybrid (")
    assert words(same).endswith(
        "The deltas do not vary, so there is no telling what else this set could have seen."
    )


def strip_of(deltas: tuple[float | None, ...]) -> str:
    compare = ComparisonEvidence("bm25", "hybrid", {"mrr": replace(DIFFERENCE, per_case=deltas)}, 1)
    text = text_of(Evidence(EvidenceOptions(metrics=("mrr",)), (), compare))
    return text.split("  the cases in their order (")[1].split("\n\n")[0] if "in their order" in text else ""


def test_a_strip_has_a_mark_a_case_in_groups_of_ten() -> None:
    assert strip_of((1.0,) * 10 + (0.0,) + (-1e-3,) * 45).split("\n")[1:] == [
        "  mrr  ++++++++++ .--------- ---------- ---------- ----------",
        "       ------",
    ]


def test_what_prints_as_zero_is_marked_as_tied() -> None:
    assert strip_of((4e-7, -4e-7)).endswith("mrr  ..")


@pytest.mark.parametrize(("n", "has_strip"), [(200, True), (201, False)])
def test_a_set_of_hundreds_of_cases_has_no_strip(n: int, has_strip: bool) -> None:
    assert bool(strip_of((0.0,) * n)) == has_strip


def test_names_that_would_break_a_line_are_spelled_out() -> None:
    odd = replace(part("a\nb\x1b", 5), compare=None)
    assert "  a\\nb\\x1b  mrr " in text_of(replace(EVIDENCE, compare=None, slices=(odd,)))


def test_the_json_has_every_field_of_the_norm() -> None:
    added = json_of(EVIDENCE)
    assert {name: added[name] for name in ("alpha", "metrics", "min_effect", "resamples", "seed")} == {
        "alpha": "0.050000",
        "metrics": ["mrr", "token_iou"],
        "min_effect": "0.000000",
        "resamples": 10000,
        "seed": 0,
    }
    assert added["backends"][0] == {
        "backend": "bm25",
        "metrics": {
            "mrr": {"ci95_high": "0.333333", "ci95_low": "0.125000", "mean": "0.250000", "n": 6},
            "token_iou": {"ci95_high": None, "ci95_low": None, "mean": None, "n": 0},
        },
    }
    assert set(added) == {
        *("alpha", "metrics", "min_effect", "resamples", "seed"),
        "backends",
        "compare",
        "slices",
    }


def test_a_difference_in_json_is_spelled_out() -> None:
    compare = json_of(EVIDENCE)["compare"]
    assert (compare["a"], compare["b"]) == ("bm25", "hybrid")
    assert compare["metrics"]["mrr"] == {
        "attainable_p": "0.031250",
        "better": ["q1", "q2", "q6", "q7"],
        "ci95_high": "+0.750000",
        "ci95_low": "-0.007813",
        "effect_size": "+0.816497",
        "flip_method": "exact",
        "flip_p": "0.187500",
        "adjusted_p": "0.187500",
        "mde": "0.731234",
        "mean_delta": "+0.416667",
        "n": 6,
        "n_needed": 14,
        "sign_p": "0.375000",
        "tied": 1,
        "verdict": "inconclusive",
        "worse": ["q3"],
    }
    undefined = compare["metrics"]["token_iou"]
    assert [name for name, value in undefined.items() if value is None] == [
        *("ci95_high", "ci95_low", "effect_size", "mde", "mean_delta", "n_needed")
    ]


def test_slices_in_json_count_instead_of_naming() -> None:
    symbol, untagged = json_of(EVIDENCE)["slices"]
    assert (symbol["tag"], symbol["n"], untagged["tag"]) == ("symbol", 5, "(untagged)")
    assert symbol["backends"][1] == {"backend": "hybrid", "metrics": {"mrr": "0.625000", "token_iou": None}}
    assert symbol["compare"]["mrr"] == {
        "better": 2,
        "mean_delta": "+0.375000",
        "sign_p": "0.500000",
        "tied": 0,
        "worse": 0,
    }


def test_json_without_comparison_and_tags_leaves_both_keys_out() -> None:
    assert set(json_of(replace(EVIDENCE, compare=None, slices=()))) == {
        *("alpha", "backends", "metrics", "min_effect", "resamples", "seed")
    }
    (only,) = json_of(replace(EVIDENCE, slices=(replace(part("x", 9), compare=None),)))["slices"]
    assert set(only) == {"backends", "n", "tag"}
