"""Full report in, its headline and one line per compared metric out, for the formats that people read.

Evidence takes precedence over the t-test. Nothing is computed but the counts of cases that moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cce.domain.comparison import Difference
from cce.domain.evidence import DifferenceEvidence, Evidence, Verdict
from cce.domain.full_report import FullReport
from cce.domain.gate import GateOutcome
from cce.quoting import counted
from cce.report.view.cells import direction, label
from cce.report.view.rows import columns, compared_names


class Tone(StrEnum):
    """The colour and sign of a headline."""

    GOOD = "good"
    CAUTION = "caution"
    BAD = "bad"
    PLAIN = "plain"


_OUTCOME_TONES = {
    GateOutcome.GO: Tone.GOOD,
    GateOutcome.REVIEW: Tone.CAUTION,
    GateOutcome.BLOCK: Tone.BAD,
}
VERDICT_TONES = {
    Verdict.IDENTICAL: Tone.PLAIN,
    Verdict.CANNOT_TELL: Tone.CAUTION,
    Verdict.IMPROVED: Tone.GOOD,
    Verdict.REGRESSED: Tone.BAD,
    Verdict.EQUIVALENT: Tone.GOOD,
    Verdict.NO_CASE_MOVED: Tone.PLAIN,
    Verdict.INCONCLUSIVE: Tone.PLAIN,
}
_WORST_FIRST = (Tone.BAD, Tone.GOOD, Tone.CAUTION, Tone.PLAIN)


@dataclass(frozen=True, slots=True)
class Headline:
    """The first thing a reader sees: a title, and a subtitle below it."""

    tone: Tone
    title: str
    subtitle: str


@dataclass(frozen=True, slots=True)
class Change:
    """One metric, B - A; bounds are of the evidence where `verdict` is set, else of the t-test."""

    metric: str
    mean_a: float | None
    mean_b: float | None
    delta: float | None
    low: float | None
    high: float | None
    per_case: tuple[float | None, ...]
    better: int
    worse: int
    tied: int
    verdict: Verdict | None
    evidence: DifferenceEvidence | None


def headline(full: FullReport) -> Headline:
    """The verdict: of the gate, else of the evidence, else what was measured at all."""
    sides = compared_names(full)
    if full.gate is not None:
        outcome = full.gate.outcome
        return Headline(_OUTCOME_TONES[outcome], f"GATE: {outcome}", _sides(sides) or _measured(full))
    if sides is None:
        return Headline(Tone.PLAIN, _measured(full), "")
    evidence = full.report.evidence
    if evidence is None or evidence.compare is None:
        return Headline(Tone.PLAIN, _sides(sides), "no verdict was asked for: --evidence gives one")
    metrics = evidence.compare.metrics
    tones = {VERDICT_TONES[each.verdict] for each in metrics.values()}
    tone = next(tone for tone in _WORST_FIRST if tone in tones)
    return Headline(tone, _verdicts(metrics), f"{_sides(sides)} on {_queries(full)}")


def changes(full: FullReport) -> list[Change]:
    """One entry per metric of the comparison, the four of every report first; empty without one."""
    comparison = full.report.comparison
    if comparison is None:
        return []
    evidence = full.report.evidence
    compare = None if evidence is None else evidence.compare
    weighed = {} if compare is None else compare.metrics
    means = (
        (difference, comparison.a.mean(difference.metric), comparison.b.mean(difference.metric))
        for difference in comparison.differences
    )
    reported = [_reported(*each, weighed.get(each[0].metric)) for each in means]
    known = {change.metric for change in reported}
    if evidence is None:
        return reported
    added = [_weighed(name, each, evidence) for name, each in weighed.items() if name not in known]
    return reported + added


def interval_kind(found: Sequence[Change]) -> str:
    """Where the bounds of the changes come from."""
    kinds = {each.evidence is not None for each in found}
    if kinds == {True, False}:
        return "t with two made-up cases where there is a verdict, paired t elsewhere"
    return "t with two made-up cases" if True in kinds else "paired t"


def _reported(
    difference: Difference, mean_a: float, mean_b: float, weighed: DifferenceEvidence | None
) -> Change:
    directions = [*map(direction, difference.per_case)]
    bounds = difference.test if weighed is None else weighed
    return Change(
        metric=difference.metric,
        mean_a=mean_a,
        mean_b=mean_b,
        delta=difference.of_means,
        low=bounds.ci95_low,
        high=bounds.ci95_high,
        per_case=difference.per_case,
        better=directions.count(1),
        worse=directions.count(-1),
        tied=directions.count(0),
        verdict=None if weighed is None else weighed.verdict,
        evidence=weighed,
    )


def _weighed(metric: str, weighed: DifferenceEvidence, evidence: Evidence) -> Change:
    a, b = (each.metrics[metric].mean for each in evidence.backends)
    return Change(
        metric=metric,
        mean_a=a,
        mean_b=b,
        delta=weighed.mean_delta,
        low=weighed.ci95_low,
        high=weighed.ci95_high,
        per_case=weighed.per_case,
        better=len(weighed.better),
        worse=len(weighed.worse),
        tied=weighed.tied,
        verdict=weighed.verdict,
        evidence=weighed,
    )


def _verdicts(metrics: Mapping[str, DifferenceEvidence]) -> str:
    """`MRR regressed; P@k, recall inconclusive`: the verdicts that occur, in the order of Verdict."""
    groups = []
    for verdict in Verdict:
        names = [label(name) for name, each in metrics.items() if each.verdict is verdict]
        if names:
            groups.append(f"{_joined(names)} {verdict}")
    return "; ".join(groups)


def _measured(full: FullReport) -> str:
    return f"{_joined([column.name for column in columns(full)])} on {_queries(full)}"


def _queries(full: FullReport) -> str:
    return counted(full.report.n_queries, "query", "queries")


def _sides(sides: tuple[str, str] | None) -> str:
    return "" if sides is None else f"{sides[0]} → {sides[1]}"


def _joined(names: Sequence[str]) -> str:
    """`bm25`, `bm25 and hybrid`, `bm25, hybrid and vector`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
