"""A policy, a measurement and a baseline in; the reasons against a change out, in a fixed order.

Figures are compared as they print, on integers of 1e-6: a mean equal to its floor passes. A reason has
the number seen, the last number that would have passed, and the cases. `policy` reads policies,
`baseline` pairs cases, `exam` has the reasons about labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cce.domain.case import FixtureSet
from cce.domain.evidence import DifferenceEvidence, Evidence, Verdict
from cce.domain.gate import NO_DOUBT, DoubtfulLabels, GatePolicy, Level, Limits, Reason, Rule
from cce.domain.scores import METRICS, BackendScore, CaseScore, Column
from cce.measurement.evidence.slices import positions_by_tag
from cce.measurement.gate.baseline import BaselinePair
from cce.measurement.gate.exam import critical_cases, exam_reasons
from cce.measurement.gate.policy_tables import PolicyError
from cce.measurement.scoring import with_saved_metrics
from cce.numerals import MICRO, format_score, is_below, mean, ordering_key
from cce.quoting import counted, listed_with_rest, on_one_line

_N_SHOWN = 10
_ORDER = {rule: position for position, rule in enumerate(Rule)}


def named_metrics(policy: GatePolicy) -> tuple[str, ...]:
    """The metrics that `policy` names anywhere, without those that every report has."""
    tables = (policy.limits, *policy.slices.values())
    limited = [metric for limits in tables for table in _tables(limits) for metric in table]
    return tuple(name for name in dict.fromkeys((*limited, *weighed_metrics(policy))) if name not in METRICS)


def weighed_metrics(policy: GatePolicy) -> tuple[str, ...]:
    """The metrics that are held against the baseline: those of drops and of the evidence."""
    dropped = [metric for limits in (policy.limits, *policy.slices.values()) for metric in limits.drop]
    weighed = () if policy.evidence is None else policy.evidence.metrics
    return tuple(dict.fromkeys((*dropped, *weighed)))


def _tables(limits: Limits) -> tuple[Mapping[str, float], ...]:
    return limits.floor, limits.ceiling, limits.drop


def judge_gate(
    policy: GatePolicy,
    fixtures: FixtureSet,
    measured: BackendScore,
    pair: BaselinePair,
    evidence: Evidence | None,
    doubt: DoubtfulLabels = NO_DOUBT,
    firm: Evidence | None = None,
    others: Iterable[Reason] = (),
) -> tuple[Reason, ...]:
    """All reasons against the candidate: those that block first, each level in the order of Rule.

    measured  the candidate on all cases of the set, not rounded, with a column for each named metric
    evidence  on the paired cases; None if the policy asks for none
    doubt     cases whose labels are stale: what blocks only because of them is for review
    firm      the evidence without these; None if there are no others, or nothing regressed
    others    reasons that are known already

    Raises PolicyError for a floor or ceiling on a metric that is undefined for all cases.
    """
    critical = critical_cases(policy, fixtures, pair).ids
    reasons = [*_critical(critical, measured, pair, doubt), *exam_reasons(policy, fixtures, pair, doubt)]
    reasons += others
    for tag, limits in ((None, policy.limits), *policy.slices.items()):
        reasons += _floors(policy, limits, tag, fixtures, measured)
        reasons += _ceilings(policy, limits, tag, fixtures, measured)
        reasons += _drops(limits, tag, fixtures, pair, doubt)
    if evidence is not None and evidence.compare is not None:
        for metric, difference in evidence.compare.metrics.items():
            n_doubtful = sum(1 for name in pair.candidate.ids if name in doubt.ids)
            note = _only_with(n_doubtful) if n_doubtful and not _is_firm(metric, firm) else ""
            reasons += _evidence(metric, difference, evidence.options.alpha, policy.review_p, note)
    return tuple(sorted(reasons, key=lambda reason: (reason.level is not Level.BLOCK, _ORDER[reason.rule])))


def _is_firm(metric: str, firm: Evidence | None) -> bool:
    """Whether the metric regressed on the cases whose labels are not in doubt, too."""
    return (
        firm is not None
        and firm.compare is not None
        and firm.compare.metrics[metric].verdict is Verdict.REGRESSED
    )


def _only_with(n_doubtful: int) -> str:
    return f"; holds only with {counted(n_doubtful, 'case')} whose labels are stale"


def _critical(
    critical: frozenset[str], score: BackendScore, pair: BaselinePair, doubt: DoubtfulLabels
) -> Iterator[Reason]:
    before = {name: at for at, name in enumerate(pair.baseline.ids)}
    for at, name in enumerate(score.ids):
        if name in critical:
            then = pair.baseline.case(before[name]) if name in before else None
            yield from _critical_case(score.case(at), then, is_doubtful=name in doubt.ids)


def _critical_case(now: CaseScore, then: CaseScore | None, *, is_doubtful: bool) -> Iterator[Reason]:
    """`then` is None without a baseline. If no result is relevant, that is the only reason."""
    case = f"critical case {on_one_line(now.id)}"
    rank = now.first_relevant_rank
    level, note = (Level.REVIEW, _only_with(1)) if is_doubtful else (Level.BLOCK, "")
    if rank is None:
        text = f"{case} has no relevant result in its top {now.k}{note}"
        yield Reason(level, Rule.CRITICAL_MISSED, text, "hit", 0, 1, (now.id,))
        return
    if then is None:
        return
    before, after = then.figures["recall"], now.figures["recall"]
    if before is not None and after is not None and is_below(after, before):
        text = f"recall of {case} fell from {format_score(before)} to {format_score(after)}{note}"
        yield Reason(level, Rule.CRITICAL_RECALL, text, "recall", after, before, (now.id,))
    limit = then.first_relevant_rank
    if limit is not None and rank > limit:
        text = f"first relevant result of {case} fell from rank {limit} to {rank}"
        yield Reason(Level.REVIEW, Rule.CRITICAL_RANK, text, "mrr", rank, limit, (now.id,))


def _floors(
    policy: GatePolicy, limits: Limits, tag: str | None, fixtures: FixtureSet, measured: BackendScore
) -> Iterator[Reason]:
    for metric, limit in limits.floor.items():
        figures = _figures(policy, "floor", metric, tag, fixtures, measured)
        seen = mean([*figures.values()])
        if is_below(seen, limit):
            below = [measured.ids[at] for at, figure in figures.items() if is_below(figure, limit)]
            text = (
                f"{_prefix(tag)}{metric} {format_score(seen)} is below its floor {format_score(limit)}, "
                f"as {'is' if len(below) == 1 else 'are'} {_cases(below)}"
            )
            yield Reason(Level.BLOCK, Rule.FLOOR, text, metric, seen, limit, tuple(below), tag)


def _ceilings(
    policy: GatePolicy, limits: Limits, tag: str | None, fixtures: FixtureSet, measured: BackendScore
) -> Iterator[Reason]:
    for metric, limit in limits.ceiling.items():
        figures = _figures(policy, "ceiling", metric, tag, fixtures, measured)
        seen = mean([*figures.values()])
        if is_below(limit, seen):
            above = [measured.ids[at] for at, figure in figures.items() if is_below(limit, figure)]
            text = (
                f"{_prefix(tag)}{metric} {format_score(seen)} is above its ceiling {format_score(limit)}, "
                f"as {'is' if len(above) == 1 else 'are'} {_cases(above)}"
            )
            yield Reason(Level.BLOCK, Rule.CEILING, text, metric, seen, limit, tuple(above), tag)


def _figures(
    policy: GatePolicy, table: str, metric: str, tag: str | None, fixtures: FixtureSet, measured: BackendScore
) -> dict[int, float]:
    """Position -> figure of the cases that a limit is about, at least one."""
    figures = _defined(measured.columns[metric], _positions(fixtures, tag))
    if not figures:
        place = f"{_key(tag)}{table}.{metric}"
        raise PolicyError(
            f"{on_one_line(policy.path)}: {place}: undefined for every case there, remove this {table}"
        )
    return figures


def _drops(
    limits: Limits, tag: str | None, fixtures: FixtureSet, pair: BaselinePair, doubt: DoubtfulLabels
) -> Iterator[Reason]:
    for metric, limit in limits.drop.items():
        then, now = (
            with_saved_metrics(score, (metric,)).columns[metric] for score in (pair.baseline, pair.candidate)
        )
        shared = {
            at: (old, new)
            for at in _paired_positions(fixtures, tag, pair)
            if (old := then[at]) is not None and (new := now[at]) is not None
        }
        if not shared:
            text = f"{_prefix(tag)}cannot tell whether {metric} fell: no case has it now and in the baseline"
            yield Reason(Level.REVIEW, Rule.CANNOT_TELL, text, metric, None, limit, (), tag)
            continue
        before, after = _means(pair, metric, [*shared.values()])
        fall = ordering_key(before) - ordering_key(after)
        if fall > ordering_key(limit):
            firm = [pairs for at, pairs in shared.items() if pair.candidate.ids[at] not in doubt.ids]
            level, note = Level.BLOCK, ""
            if len(firm) < len(shared) and not _fell(pair, metric, firm, limit):
                level, note = Level.REVIEW, _only_with(len(shared) - len(firm))
            worse = [pair.candidate.ids[at] for at, (old, new) in shared.items() if is_below(new, old)]
            text = (
                f"{_prefix(tag)}{metric} fell by {format_score(fall / MICRO)} from {format_score(before)} to "
                f"{format_score(after)}, limit {format_score(limit)}; worse for {_cases(worse)}{note}"
            )
            yield Reason(level, Rule.DROP, text, metric, fall / MICRO, limit, tuple(worse), tag)


def _evidence(
    metric: str, each: DifferenceEvidence, alpha: float, review_p: float, note: str
) -> Iterator[Reason]:
    """`note` says why a regression is only for review; empty where it blocks."""
    worse = f"worse for {_cases(each.worse)}, better for {len(each.better)}"
    if each.verdict is Verdict.REGRESSED:
        text = (
            f"{metric} regressed by {format_score(abs(each.mean_delta or 0.0))} on average "
            f"(p = {format_score(each.adjusted_p)}, alpha {format_score(alpha)}); {worse}{note}"
        )
        level = Level.REVIEW if note else Level.BLOCK
        yield Reason(level, Rule.REGRESSED, text, metric, each.adjusted_p, alpha, each.worse)
    if len(each.worse) > len(each.better) and not is_below(review_p, each.sign_p):
        text = f"{metric} {worse} (sign test p = {format_score(each.sign_p)})"
        yield Reason(
            Level.REVIEW, Rule.MORE_WORSE, text, metric, len(each.worse), len(each.better), each.worse
        )
    if each.attainable_p >= alpha:
        text = (
            f"{counted(each.n, 'case')} cannot tell about {metric}: the least p they can give is "
            f"{format_score(each.attainable_p)}, alpha {format_score(alpha)}"
        )
        yield Reason(Level.REVIEW, Rule.CANNOT_TELL, text, metric, each.attainable_p, alpha)


def _positions(fixtures: FixtureSet, tag: str | None) -> Sequence[int]:
    """0-based positions in the set of the cases with `tag`; all cases for None."""
    if tag is None:
        return range(len(fixtures.cases))
    return dict(positions_by_tag(fixtures.cases))[tag]


def _paired_positions(fixtures: FixtureSet, tag: str | None, pair: BaselinePair) -> Sequence[int]:
    """0-based positions among the paired cases."""
    ids = {fixtures.cases[at].id for at in _positions(fixtures, tag)}
    return [at for at, name in enumerate(pair.candidate.ids) if name in ids]


def _defined(figures: Column, positions: Iterable[int]) -> dict[int, float]:
    return {at: figure for at in positions if (figure := figures[at]) is not None}


def _fell(pair: BaselinePair, metric: str, shared: Sequence[tuple[float, float]], limit: float) -> bool:
    if not shared:
        return False
    before, after = _means(pair, metric, shared)
    return ordering_key(before) - ordering_key(after) > ordering_key(limit)


def _means(pair: BaselinePair, metric: str, shared: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The means before and after over the `shared` cases; over all cases those that the report shows."""
    if metric in METRICS and len(shared) == pair.candidate.n_cases:
        return pair.baseline.mean(metric), pair.candidate.mean(metric)
    return mean([old for old, _ in shared]), mean([new for _, new in shared])


def _key(tag: str | None) -> str:
    return "" if tag is None else f"slices.{on_one_line(tag)}."


def _prefix(tag: str | None) -> str:
    return "" if tag is None else f"slice {on_one_line(tag)}: "


def _cases(ids: Sequence[str]) -> str:
    return f"{counted(len(ids), 'case')} ({_listed(ids)})" if ids else counted(0, "case")


def _listed(ids: Sequence[str]) -> str:
    return listed_with_rest(map(on_one_line, ids), len(ids), _N_SHOWN)
