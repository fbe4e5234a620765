"""Every outcome of a gate and its exit code, limits met exactly included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

import score_rows
from cce.domain.anchor import parse_anchor
from cce.domain.case import Case, FixtureSet
from cce.domain.evidence import EvidenceOptions
from cce.domain.gate import GateOutcome, GatePolicy, GateReport, Level, Limits, Reason, Rule
from cce.domain.report import Report
from cce.domain.scores import BackendScore
from cce.errors import UnknownNameError, UsageError
from cce.measurement.evidence.gathering import gather_evidence
from cce.measurement.gate.baseline import accept, as_saved, pair_with_baseline, require_unique, score_in
from cce.measurement.gate.policy_tables import PolicyError
from cce.measurement.gate.rules import judge_gate, named_metrics
from cce.measurement.matching.matches import TokenScore
from cce.measurement.reports.reading import SavedReport
from cce.measurement.scoring import with_saved_metrics
from score_rows import score_of

GO, REVIEW, BLOCK = GateOutcome.GO, GateOutcome.REVIEW, GateOutcome.BLOCK

Ranks = Mapping[str, "int | None"]


@dataclass(frozen=True)
class Row:
    """One case on one side: recall, first relevant rank; precision and F1 follow recall."""

    recall: float = 1.0
    rank: int | None = 1
    k: int = 3
    tokens: float | None = None


def score(rows: Mapping[str, Row], backend: str = "hybrid") -> BackendScore:
    return score_of(backend, [_case_score(name, row) for name, row in rows.items()])


def _case_score(name: str, row: Row) -> score_rows.Row:
    mrr = 0.0 if row.rank is None else 1.0 / row.rank
    tokens = None if row.tokens is None else TokenScore(row.tokens, row.tokens, row.tokens)
    return score_rows.Row(name, row.k, row.recall, row.recall, mrr, row.recall, row.rank, tokens)


@dataclass(frozen=True)
class Rules:
    """A policy, and what the set says of its cases."""

    critical: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    floor: Mapping[str, float] = field(default_factory=dict)
    drop: Mapping[str, float] = field(default_factory=dict)
    ceiling: Mapping[str, float] = field(default_factory=dict)
    evidence: EvidenceOptions | None = None
    slices: Mapping[str, Limits] = field(default_factory=dict)
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def ask(
    rules: Rules, then: Mapping[str, Row], now: Mapping[str, Row], *, is_strict: bool = False
) -> GateReport:
    """What the gate says of `now` against the saved `then`."""
    policy = GatePolicy(
        "gate.toml",
        "set.jsonl",
        "hybrid",
        "baseline.json",
        "hybrid",
        critical=rules.critical,
        limits=Limits(rules.floor, rules.drop, rules.ceiling),
        evidence=rules.evidence,
        slices=rules.slices,
    )
    anchors = (parse_anchor("a.py"),)
    cases = tuple(
        Case(name, name, anchors, row.k, line, rules.tags.get(name, ()), critical=name in rules.marked)
        for line, (name, row) in enumerate(now.items(), start=2)
    )
    fixtures = FixtureSet("set.jsonl", "src", cases)
    candidate = score(now)
    pair = pair_with_baseline(candidate, as_saved(score(then)), "baseline.json")
    evidence = None
    if rules.evidence is not None:
        sides = pair.baseline, pair.candidate
        evidence = gather_evidence(rules.evidence, sides, sides)
    measured = with_saved_metrics(candidate, named_metrics(policy))
    reasons = judge_gate(policy, fixtures, measured, pair, evidence)
    report = Report("src", "hash", len(now), (pair.baseline, pair.candidate), None, evidence)
    return GateReport(policy, fixtures, "0" * 64, candidate, report, reasons, is_strict)


def ranked(**ranks: int | None) -> dict[str, Row]:
    return {name: Row(0.0 if rank is None else 1.0, rank) for name, rank in ranks.items()}


def recalled(**recalls: float) -> dict[str, Row]:
    return {name: Row(recall, 1) for name, recall in recalls.items()}


def six(*ranks: int | None) -> dict[str, Row]:
    """Cases a, b, c, ... of which six are the fewest that can ever be evidence at alpha 0.05."""
    return ranked(**dict(zip("abcdefgh", ranks, strict=False)))


def mrr(alpha: float = 0.05, min_effect: float = 0.0) -> EvidenceOptions:
    return EvidenceOptions(("mrr",), alpha, min_effect, resamples=100)


SLICE = {"x": ("slow",), "y": ("slow", "other")}

SCENARIOS: dict[str, tuple[Rules, Mapping[str, Row], Mapping[str, Row], GateOutcome, list[Rule]]] = {
    "nothing asked, nothing moved": (Rules(), ranked(a=1), ranked(a=1), GO, []),
    "nothing asked, everything lost": (Rules(), ranked(a=1), ranked(a=None), GO, []),
    # Critical cases.
    "a critical case of the policy is missed": (
        Rules(critical=("a",)), ranked(a=1, b=1), ranked(a=None, b=1), BLOCK, [Rule.CRITICAL_MISSED],
    ),
    "a critical case of the set is missed": (
        Rules(marked=("b",)), ranked(a=1, b=1), ranked(a=1, b=None), BLOCK, [Rule.CRITICAL_MISSED],
    ),
    "a critical case was always missed": (
        Rules(critical=("a",)), ranked(a=None), ranked(a=None), BLOCK, [Rule.CRITICAL_MISSED],
    ),
    "a new critical case is missed": (
        Rules(critical=("b",)), ranked(a=1), ranked(a=1, b=None), BLOCK,
        [Rule.CRITICAL_MISSED, Rule.NO_BASELINE],
    ),
    "another case is missed": (Rules(critical=("b",)), ranked(a=1, b=1), ranked(a=None, b=1), GO, []),
    "the recall of a critical case fell by the least that prints": (
        Rules(critical=("a",)), recalled(a=0.5), recalled(a=0.499999), BLOCK, [Rule.CRITICAL_RECALL],
    ),
    "the recall of a critical case fell by less than prints": (
        Rules(critical=("a",)), recalled(a=0.5), recalled(a=0.4999996), GO, [],
    ),
    "the recall of a critical case is a third, as saved": (
        Rules(critical=("a",)), recalled(a=1 / 3), recalled(a=1 / 3), GO, [],
    ),
    "the recall of a critical case rose": (
        Rules(critical=("a",)), recalled(a=0.5), recalled(a=0.75), GO, [],
    ),
    "the recall of another case fell": (
        Rules(critical=("b",)), recalled(a=0.5, b=1), recalled(a=0.25, b=1), GO, [],
    ),
    "a critical case came one rank later": (
        Rules(critical=("a",)), ranked(a=1), ranked(a=2), REVIEW, [Rule.CRITICAL_RANK],
    ),
    "a critical case came at the same rank": (Rules(critical=("a",)), ranked(a=2), ranked(a=2), GO, []),
    "a critical case came earlier": (Rules(critical=("a",)), ranked(a=2), ranked(a=1), GO, []),
    "a critical case is found at last": (Rules(critical=("a",)), ranked(a=None), ranked(a=3), GO, []),
    "another case came later": (Rules(critical=("b",)), ranked(a=1, b=1), ranked(a=3, b=1), GO, []),
    "a critical case has another k": (
        Rules(critical=("a",)), {"a": Row(k=5), "b": Row()}, {"a": Row(0.5, 2), "b": Row()}, REVIEW,
        [Rule.NO_BASELINE],
    ),
    # Floors.
    "a mean equal to its floor": (
        Rules(floor={"recall": 0.75}), recalled(a=1, b=1), recalled(a=1, b=0.5), GO, [],
    ),
    "a mean above its floor": (
        Rules(floor={"recall": 0.75}), recalled(a=1, b=1), recalled(a=1, b=0.500002), GO, [],
    ),
    "a mean below its floor by the least that prints": (
        Rules(floor={"recall": 0.75}), recalled(a=1, b=1), recalled(a=1, b=0.499998), BLOCK, [Rule.FLOOR],
    ),
    "a mean below its floor by less than prints": (
        Rules(floor={"recall": 0.75}), recalled(a=1, b=1), recalled(a=1, b=0.4999998), GO, [],
    ),
    "a third and a floor of a third, both as they print": (
        Rules(floor={"recall": 0.333333}), recalled(a=1), recalled(a=1 / 3), GO, [],
    ),
    "a floor counts cases without a baseline": (
        Rules(floor={"recall": 0.75}), recalled(a=1), recalled(a=1, b=0), BLOCK,
        [Rule.FLOOR, Rule.NO_BASELINE],
    ),
    "a floor looks at its own metric": (
        Rules(floor={"recall": 1.0}), ranked(a=1, b=1), ranked(a=3, b=3), GO, [],
    ),
    "a floor under a metric that only some cases have": (
        Rules(floor={"token_iou": 0.5}), {"a": Row(), "b": Row(tokens=0.5)},
        {"a": Row(), "b": Row(tokens=0.5)}, GO, [],
    ),
    # Drops.
    "a fall equal to its limit": (
        Rules(drop={"recall": 0.02}), recalled(a=1, b=0.5), recalled(a=0.96, b=0.5), GO, [],
    ),
    "a fall above its limit by the least that prints": (
        Rules(drop={"recall": 0.02}), recalled(a=1, b=0.5), recalled(a=0.959998, b=0.5), BLOCK, [Rule.DROP],
    ),
    "no fall at all is allowed and there is none": (
        Rules(drop={"recall": 0.0}), recalled(a=1 / 3, b=2 / 3), recalled(a=1 / 3, b=2 / 3), GO, [],
    ),
    "no fall at all is allowed and there is one": (
        Rules(drop={"recall": 0.0}), recalled(a=0.5), recalled(a=0.499999), BLOCK, [Rule.DROP],
    ),
    "a rise is no fall": (Rules(drop={"recall": 0.0}), recalled(a=0.5), recalled(a=1), GO, []),
    "a fall of printed means: 1/3 to 0.313333": (
        Rules(drop={"recall": 0.02}), recalled(a=1 / 3), recalled(a=1 / 3 - 0.02), GO, [],
    ),
    # Half of 0.666667 + 0.5 would print as 0.583334; the baseline says 0.583333.
    "a fall of the means that the reports print, not of their printed cases": (
        Rules(drop={"recall": 0.02}), recalled(a=2 / 3, b=0.5), recalled(a=0.626666, b=0.5), GO, [],
    ),
    "a fall equal to its limit as that prints": (
        Rules(drop={"recall": 0.0199996}), recalled(a=1), recalled(a=0.98), GO, [],
    ),
    "a drop leaves out cases without a baseline": (
        Rules(drop={"recall": 0.02}), recalled(a=1), recalled(a=1, b=0), REVIEW, [Rule.NO_BASELINE],
    ),
    "a drop leaves out cases that the set has no more": (
        Rules(drop={"recall": 0.02}), recalled(a=0.5, b=1), recalled(a=0.5), REVIEW, [Rule.CASES_REMOVED],
    ),
    "a drop that no case has a figure for": (
        Rules(drop={"token_iou": 0.02}), {"a": Row(tokens=0.5)}, {"a": Row()}, REVIEW, [Rule.CANNOT_TELL],
    ),
    "a drop of a metric that only some cases have": (
        Rules(drop={"token_iou": 0.1}), {"a": Row(), "b": Row(tokens=0.5)},
        {"a": Row(), "b": Row(tokens=0.3)}, BLOCK, [Rule.DROP],
    ),
    # Slices.
    "a slice at its floor": (
        Rules(slices={"slow": Limits(floor={"recall": 0.5})}, tags=SLICE),
        recalled(x=1, y=1, z=1), recalled(x=1, y=0, z=0), GO, [],
    ),
    "a slice below its floor": (
        Rules(slices={"slow": Limits(floor={"recall": 0.5})}, tags=SLICE),
        recalled(x=1, y=1, z=1), recalled(x=0.9, y=0, z=1), BLOCK, [Rule.FLOOR],
    ),
    "a slice fell as far as it may": (
        Rules(slices={"slow": Limits(drop={"recall": 0.25})}, tags=SLICE),
        recalled(x=1, y=1, z=1), recalled(x=0.5, y=1, z=0), GO, [],
    ),
    "a slice fell too far while the whole set rose": (
        Rules(slices={"slow": Limits(drop={"recall": 0.25})}, drop={"recall": 0.0}, tags=SLICE),
        recalled(x=1, y=1, z=0), recalled(x=0.4, y=1, z=1), BLOCK, [Rule.DROP],
    ),
    "a slice of new cases only": (
        Rules(slices={"slow": Limits(drop={"recall": 0.25})}, tags=SLICE),
        recalled(z=1), recalled(x=1, y=1, z=1), REVIEW, [Rule.NO_BASELINE, Rule.CANNOT_TELL],
    ),
    "a mean equal to its ceiling": (
        Rules(ceiling={"recall": 0.5}), recalled(a=1, b=0), recalled(a=1, b=0), GO, [],
    ),
    "a mean above its ceiling by the least that prints": (
        Rules(ceiling={"recall": 0.5}), recalled(a=1, b=0), recalled(a=1, b=0.000002), BLOCK, [Rule.CEILING],
    ),
    "a slice above its ceiling": (
        Rules(slices={"slow": Limits(ceiling={"recall": 0.5})}, tags=SLICE),
        recalled(x=1, y=1, z=0), recalled(x=1, y=1, z=0), BLOCK, [Rule.CEILING],
    ),
    # Evidence. Six cases that all fall give p = 2 / 2^6 = 0.031250, five give 0.0625.
    "six of six worse": (
        Rules(evidence=mrr()), six(1, 1, 1, 1, 1, 1), six(2, 2, 2, 2, 2, 2), BLOCK,
        [Rule.REGRESSED, Rule.MORE_WORSE],
    ),
    "six of six worse, alpha just met": (
        Rules(evidence=mrr(alpha=0.03125)), six(1, 1, 1, 1, 1, 1), six(2, 2, 2, 2, 2, 2), REVIEW,
        [Rule.MORE_WORSE, Rule.CANNOT_TELL],
    ),
    "six of six worse by exactly the effect that matters": (
        Rules(evidence=mrr(min_effect=0.5)), six(1, 1, 1, 1, 1, 1), six(2, 2, 2, 2, 2, 2), BLOCK,
        [Rule.REGRESSED, Rule.MORE_WORSE],
    ),
    "six of six worse by less than matters": (
        Rules(evidence=mrr(min_effect=0.500001)), six(1, 1, 1, 1, 1, 1), six(2, 2, 2, 2, 2, 2), REVIEW,
        [Rule.MORE_WORSE],
    ),
    "six of six better": (
        Rules(evidence=mrr()), six(2, 2, 2, 2, 2, 2), six(1, 1, 1, 1, 1, 1), GO, [],
    ),
    "five of six worse": (
        Rules(evidence=mrr()), six(1, 1, 1, 1, 1, 1), six(2, 2, 2, 2, 2, 1), REVIEW, [Rule.MORE_WORSE],
    ),
    "as many worse as better, though the mean fell": (
        Rules(evidence=mrr()), six(1, 1, 2, 2, 1, 1), six(3, 3, 1, 1, 1, 1), GO, [],
    ),
    "one more worse than better, though the mean rose": (
        Rules(evidence=mrr()), six(2, 3, 3, 1, 1, 1), six(3, 1, 1, 2, 2, 1), REVIEW, [Rule.MORE_WORSE],
    ),
    "five cases can never tell": (
        Rules(evidence=mrr()), six(1, 1, 1, 1, 1), six(1, 1, 1, 1, 1), REVIEW, [Rule.CANNOT_TELL],
    ),
    "four cases at an alpha just met": (
        Rules(evidence=mrr(alpha=0.125)), six(1, 1, 1, 1), six(1, 1, 1, 1), REVIEW, [Rule.CANNOT_TELL],
    ),
    "four cases at an alpha just above": (
        Rules(evidence=mrr(alpha=0.125001)), six(1, 1, 1, 1), six(1, 1, 1, 1), GO, [],
    ),
    "evidence looks at its own metrics": (
        Rules(evidence=EvidenceOptions(("recall",), resamples=100)), six(1, 1, 1, 1, 1, 1),
        six(2, 2, 2, 2, 2, 2), GO, [],
    ),
    # Cases without a baseline.
    "one case is new": (Rules(), ranked(a=1), ranked(a=1, b=1), REVIEW, [Rule.NO_BASELINE]),
    "one case is gone": (Rules(), ranked(a=1, b=1), ranked(a=1), REVIEW, [Rule.CASES_REMOVED]),
    "one case has another k": (
        Rules(), {"a": Row(), "b": Row(k=5)}, {"a": Row(), "b": Row()}, REVIEW, [Rule.NO_BASELINE],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_gate_says(name: str) -> None:
    rules, then, now, outcome, told = SCENARIOS[name]
    gate = ask(rules, then, now)
    assert (gate.outcome, [reason.rule for reason in gate.reasons]) == (outcome, told)


@pytest.mark.parametrize("name", SCENARIOS)
def test_only_a_block_is_refused_and_with_strict_a_review_too(name: str) -> None:
    rules, then, now, outcome, _ = SCENARIOS[name]
    assert ask(rules, then, now).is_refused == (outcome is BLOCK)
    assert ask(rules, then, now, is_strict=True).is_refused == (outcome is not GO)


def test_the_scenarios_meet_every_rule_and_outcome() -> None:
    told = {rule for *_, rules in SCENARIOS.values() for rule in rules}
    # tests/test_exam.py has the rules about labels.
    labels = {Rule.RENAMED, Rule.LABELS_CHANGED, Rule.LABELS_STALE, Rule.LABELS_UNMATCHED}
    systems = {Rule.FAILED_CASES, Rule.OTHER_CORPUS}  # tests/test_gate_systems.py
    assert told == set(Rule) - labels - {Rule.TAGS_CHANGED, Rule.NOT_CRITICAL} - systems
    assert {outcome for *_, outcome, _ in SCENARIOS.values()} == set(GateOutcome)


def only(gate: GateReport) -> Reason:
    (reason,) = gate.reasons
    return reason


def test_a_reason_to_block_has_the_number_the_limit_and_the_cases() -> None:
    gate = ask(Rules(floor={"recall": 0.9}), recalled(a=1), recalled(a=1, b=0.5, c=0.75))
    floor, unpaired = gate.reasons
    assert floor == Reason(
        Level.BLOCK,
        Rule.FLOOR,
        "recall 0.750000 is below its floor 0.900000, as are 2 cases (b, c)",
        "recall",
        0.75,
        0.9,
        ("b", "c"),
    )
    assert (unpaired.seen, unpaired.limit, unpaired.case_ids) == (2, 0, ("b", "c"))


@pytest.mark.parametrize(
    ("rules", "then", "now", "text", "numbers", "case_ids"),
    [
        (
            Rules(critical=("rc02",)), ranked(rc02=2), ranked(rc02=None),
            "critical case rc02 has no relevant result in its top 3", (0, 1), ("rc02",),
        ),
        (
            Rules(critical=("rc02",)), recalled(rc02=1), recalled(rc02=0.5),
            "recall of critical case rc02 fell from 1.000000 to 0.500000", (0.5, 1.0), ("rc02",),
        ),
        (
            Rules(critical=("rc02",)), ranked(rc02=1), ranked(rc02=3),
            "first relevant result of critical case rc02 fell from rank 1 to 3", (3, 1), ("rc02",),
        ),
        (
            Rules(drop={"recall": 0.1}), recalled(a=1, b=1, c=0, d=1), recalled(a=0.5, b=0.25, c=0.25, d=1),
            "recall fell by 0.250000 from 0.750000 to 0.500000, limit 0.100000; worse for 2 cases (a, b)",
            (0.25, 0.1), ("a", "b"),
        ),
        (
            Rules(slices={"slow": Limits(floor={"recall": 0.5})}, tags=SLICE),
            recalled(x=1, y=1), recalled(x=0.4, y=0.2),
            "slice slow: recall 0.300000 is below its floor 0.500000, as are 2 cases (x, y)",
            (pytest.approx(0.3), 0.5), ("x", "y"),
        ),
        (
            Rules(evidence=mrr()), six(1, 1, 1, 1, 2, 1), six(2, 2, 2, 2, 1, 1),
            "mrr worse for 4 cases (a, b, c, d), better for 1 (sign test p = 0.375000)",
            (4, 1), ("a", "b", "c", "d"),
        ),
        (
            Rules(evidence=mrr()), six(1, 1, 1, 1), six(1, 1, 1, 1),
            "4 cases cannot tell about mrr: the least p they can give is 0.125000, alpha 0.050000",
            (0.125, 0.05), (),
        ),
        (
            Rules(), ranked(a=1), ranked(a=1, b=1), "1 case without a baseline (b)", (1, 0), ("b",),
        ),
    ],
)  # fmt: skip
def test_a_reason_says(
    rules: Rules,
    then: Mapping[str, Row],
    now: Mapping[str, Row],
    text: str,
    numbers: tuple[object, object],
    case_ids: tuple[str, ...],
) -> None:
    reason = only(ask(rules, then, now))
    assert (reason.text, (reason.seen, reason.limit), reason.case_ids) == (text, numbers, case_ids)


def test_a_regression_says_how_sure() -> None:
    regressed, _ = ask(Rules(evidence=mrr()), six(1, 1, 1, 1, 1, 1), six(2, 2, 2, 2, 2, 2)).reasons
    assert regressed.text == (
        "mrr regressed by 0.500000 on average (p = 0.031250, alpha 0.050000); "
        "worse for 6 cases (a, b, c, d, e, f), better for 0"
    )
    assert (regressed.seen, regressed.limit) == (0.03125, 0.05)


def test_reasons_that_block_come_first_each_level_in_the_order_of_its_rules() -> None:
    rules = Rules(
        critical=("a", "b"),
        floor={"recall": 0.9},
        drop={"recall": 0.0, "mrr": 0.0},
        evidence=mrr(),
        slices={"slow": Limits(floor={"recall": 1.0})},
        tags={"b": ("slow",)},
    )
    then = ranked(a=1, b=1)
    now = {"a": Row(0.0, None), "b": Row(0.5, 2), "new": Row()}
    told = [
        (reason.level.value, reason.rule, reason.metric, reason.tag)
        for reason in ask(rules, then, now).reasons
    ]
    assert told == [
        ("block", Rule.CRITICAL_MISSED, "hit", None),
        ("block", Rule.CRITICAL_RECALL, "recall", None),
        ("block", Rule.FLOOR, "recall", None),
        ("block", Rule.FLOOR, "recall", "slow"),
        ("block", Rule.DROP, "recall", None),
        ("block", Rule.DROP, "mrr", None),
        ("review", Rule.MORE_WORSE, "mrr", None),
        ("review", Rule.CRITICAL_RANK, "mrr", None),
        ("review", Rule.NO_BASELINE, None, None),
        ("review", Rule.CANNOT_TELL, "mrr", None),
    ]


def test_many_cases_are_listed_in_part_and_carried_whole() -> None:
    rows = {f"c{n:02}": Row(0.0, None) for n in range(13)}
    reason = only(ask(Rules(floor={"recall": 0.5}), rows, rows))
    assert reason.text.endswith("13 cases (c00, c01, c02, c03, c04, c05, c06, c07, c08, c09, … 3 more)")
    assert len(reason.case_ids) == 13


def test_an_id_with_a_line_end_stays_on_its_line() -> None:
    assert only(ask(Rules(), ranked(a=1), {**ranked(a=1), "b\nGATE: GO": Row()})).text == (
        "1 case without a baseline (b\\nGATE: GO)"
    )


def test_a_floor_under_a_figure_that_no_case_has_is_a_wrong_policy() -> None:
    with pytest.raises(PolicyError, match=r"gate\.toml: floor\.token_iou: undefined for every case"):
        ask(Rules(floor={"token_iou": 0.5}), ranked(a=1), ranked(a=1))
    rules = Rules(slices={"slow": Limits(floor={"token_iou": 0.5})}, tags=SLICE)
    with pytest.raises(PolicyError, match=r"gate\.toml: slices\.slow\.floor\.token_iou: undefined"):
        ask(rules, ranked(x=1), {"x": Row(), "z": Row(tokens=0.5)} | ranked(x=1))


# Baselines.


def test_a_baseline_without_a_common_case_is_foreign() -> None:
    with pytest.raises(UsageError, match=r"baseline\.json: the baseline shares no case with the set"):
        ask(Rules(), ranked(x=1), ranked(a=1))
    with pytest.raises(
        UsageError, match=r"set, since the 1 id they share has another k: 'a' \([53] and [53]\): name"
    ):
        ask(Rules(), {"a": Row(k=5)}, {"a": Row(k=3)})


def test_what_was_measured_is_rounded_as_the_baseline_was() -> None:
    pair = pair_with_baseline(score(recalled(a=2 / 3)), as_saved(score(recalled(a=2 / 3))), "")
    assert pair.candidate.mean("recall") == pair.baseline.mean("recall") == 0.666667
    assert pair.candidate.columns["recall"] == (0.666667,)


def test_cases_are_paired_by_id_in_the_order_of_the_set() -> None:
    pair = pair_with_baseline(score(ranked(a=1, new=1, b=2)), score(ranked(b=3, gone=1, a=1)), "")
    assert pair.candidate.ids == ("a", "b")
    assert pair.baseline.first_relevant_ranks == (1, 3)
    assert (pair.pairing.added, pair.pairing.removed) == (("new",), ("gone",))


def test_the_sides_have_names_that_differ() -> None:
    same = pair_with_baseline(score(ranked(a=1)), score(ranked(a=1)), "")
    assert (same.baseline.backend, same.candidate.backend) == ("baseline", "hybrid")
    other = pair_with_baseline(score(ranked(a=1)), score(ranked(a=1), "bm25"), "")
    assert (other.baseline.backend, other.candidate.backend) == ("baseline:bm25", "hybrid")


def test_an_unknown_backend_of_the_baseline_is_named_with_the_nearest() -> None:
    saved = SavedReport("old.json", "src", "hash", (score(ranked(a=1)),))
    assert score_in(saved, "hybrid").backend == "hybrid"
    with pytest.raises(UnknownNameError, match=r"old\.json: unknown backend 'hybird'; did you mean 'hybrid'"):
        score_in(saved, "hybird")


def _set(*ids: str) -> FixtureSet:
    cases: Sequence[Case] = [Case(name, "q", (parse_anchor("a"),), 1, 1) for name in ids]
    return FixtureSet("set.jsonl", None, tuple(cases))


def test_an_id_used_twice_cannot_be_held_against_a_baseline() -> None:
    require_unique(_set("a", "b"))
    with pytest.raises(UsageError, match=r"set\.jsonl: 2 cases are called 'b'"):
        require_unique(_set("a", "b", "b"))


# Acceptance.


def test_a_first_baseline_has_nothing_to_move_from() -> None:
    acceptance = accept("b.json", None, score(ranked(a=1)))
    assert acceptance.is_first
    assert [(move.metric, move.before, move.after) for move in acceptance.means][2] == ("mrr", None, 1.0)


def test_a_new_baseline_tells_which_cases_moved() -> None:
    then, now = ranked(a=1, b=2, c=3, gone=1), ranked(a=2, b=1, c=3, new=1)
    acceptance = accept("b.json", score(then), score({**now, "c": Row(1.0, 3)}))
    assert not acceptance.is_first
    assert (acceptance.better, acceptance.worse) == (("b",), ("a",))
    assert (acceptance.added, acceptance.removed) == (("new",), ("gone",))


def test_a_case_with_another_k_left_and_came() -> None:
    acceptance = accept("b.json", score({"a": Row(k=3)}), score({"a": Row(k=5)}))
    assert (acceptance.added, acceptance.removed, acceptance.better) == (("a",), ("a",), ())


def test_a_move_smaller_than_what_prints_is_none() -> None:
    acceptance = accept("b.json", score(recalled(a=0.5)), score(recalled(a=0.5000004)))
    assert (acceptance.better, acceptance.worse) == ((), ())
