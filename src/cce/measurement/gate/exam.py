"""Reasons about the exam itself: a gate compares figures only while the questions stay the same.

The policy, the set and its pairing with the baseline enter; reasons leave, in the order of Rule. `rules` has
the reasons about figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cce.domain.case import FixtureSet
from cce.domain.gate import DoubtfulLabels, GatePolicy, Level, Reason, Rule
from cce.measurement.gate.baseline import BaselinePair
from cce.quoting import counted, listed_with_rest, on_one_line

# Far more than a mean's cases: these are what a reviewer has to look at one by one.
_N_SHOWN = 50


@dataclass(frozen=True, slots=True)
class CriticalCases:
    """Which cases are critical.

    then  ids of the baseline's cases: critical by the baseline or the policy
    now   ids of the set's cases: critical by the set or the policy
    """

    then: frozenset[str]
    now: frozenset[str]
    renamed: tuple[tuple[str, str], ...] = ()

    @property
    def ids(self) -> frozenset[str]:
        """Ids of the set's cases that are critical now, or were under the id that they had."""
        names = dict(self.renamed)
        return self.now | {names.get(name, name) for name in self.then}


def critical_cases(policy: GatePolicy, fixtures: FixtureSet, pair: BaselinePair) -> CriticalCases:
    """Critical is what the set or the policy says now, or what the baseline said."""
    names = dict(pair.pairing.renamed)
    ids = {case.id for case in fixtures.cases}
    marked = {case.id for case in fixtures.cases if case.critical}
    named = {name if name in ids else names.get(name, name) for name in policy.critical}
    then = {name for name, label in pair.labels.items() if label.critical}
    return CriticalCases(
        frozenset({*then, *policy.critical}), frozenset(marked | named), pair.pairing.renamed
    )


def exam_reasons(
    policy: GatePolicy, fixtures: FixtureSet, pair: BaselinePair, doubt: DoubtfulLabels
) -> Iterator[Reason]:
    """Why this is not quite the exam that the baseline sat."""
    pairing, critical = pair.pairing, critical_cases(policy, fixtures, pair)
    if pairing.added:
        yield _reason(Level.REVIEW, Rule.NO_BASELINE, "{} without a baseline ({})", pairing.added)
    if pairing.renamed:
        text = f"{counted(len(pairing.renamed), 'case')} renamed ({_renamings(pairing.renamed)})"
        ids = tuple(now for _, now in pairing.renamed)
        yield Reason(Level.REVIEW, Rule.RENAMED, text, None, len(ids), 0, ids)
    yield from _split(
        Rule.LABELS_CHANGED, "labels changed for {} ({})", pairing.changed, critical.ids, policy.labels
    )
    yield from _split(
        Rule.CASES_REMOVED,
        "{} of the baseline left the set ({})",
        pairing.removed,
        critical.then,
        policy.labels,
    )
    if doubt.stale:
        yield _reason(policy.labels, Rule.LABELS_STALE, "labels are stale for {} ({})", doubt.stale)
    if doubt.unmatched:
        yield _reason(
            policy.labels, Rule.LABELS_UNMATCHED, "labels match nothing for {} ({})", doubt.unmatched
        )
    yield from _marks(policy, fixtures, pair, critical)


def _split(
    rule: Rule, text: str, ids: Sequence[str], critical: frozenset[str], level: Level
) -> Iterator[Reason]:
    """One reason for the critical cases, which block, and one for the others."""
    worst = tuple(name for name in ids if name in critical)
    others = tuple(name for name in ids if name not in critical)
    if worst:
        yield _reason(Level.BLOCK, rule, text, worst, "critical case")
    if others:
        yield _reason(level, rule, text, others)


def _marks(
    policy: GatePolicy, fixtures: FixtureSet, pair: BaselinePair, critical: CriticalCases
) -> Iterator[Reason]:
    """What changed in the marks of cases whose labels stayed."""
    if not pair.labels:
        return
    then_by_now = {now: then for then, now in pair.pairing.renamed}
    labels = {name: pair.labels[then_by_now.get(name, name)] for name in pair.candidate.ids}
    tags = {case.id: set(case.tags) for case in fixtures.cases}
    retagged = tuple(name for name, label in labels.items() if set(label.tags) != tags[name])
    if policy.slices and retagged:
        yield _reason(Level.REVIEW, Rule.TAGS_CHANGED, "tags changed for {} ({})", retagged)
    freed = tuple(name for name, label in labels.items() if label.critical and name not in critical.now)
    if freed:
        yield _reason(Level.REVIEW, Rule.NOT_CRITICAL, "{} no longer marked as critical ({})", freed)


def _reason(level: Level, rule: Rule, text: str, ids: tuple[str, ...], noun: str = "case") -> Reason:
    names = listed_with_rest(map(on_one_line, ids), len(ids), _N_SHOWN)
    return Reason(level, rule, text.format(counted(len(ids), noun), names), None, len(ids), 0, ids)


def _renamings(renamed: Sequence[tuple[str, str]]) -> str:
    texts = (f"{on_one_line(then)} is now {on_one_line(now)}" for then, now in renamed)
    return listed_with_rest(texts, len(renamed), _N_SHOWN)
