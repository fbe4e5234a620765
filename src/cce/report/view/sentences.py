"""Evidence of a comparison in, one paragraph per metric out, for every format that people read."""

from __future__ import annotations

import math
from collections.abc import Iterator

from cce.domain.evidence import (
    MAX_RESAMPLES,
    ComparisonEvidence,
    DifferenceEvidence,
    EvidenceOptions,
    Verdict,
)
from cce.numerals import MICRO, format_score, is_below, ordering_key
from cce.quoting import counted, one_line
from cce.report.view.cells import signed_bounds


def sentences(compare: ComparisonEvidence, options: EvidenceOptions) -> list[str]:
    """What the evidence says of each metric, in the order of the metrics."""
    return [_sentences(name, each, compare, options) for name, each in compare.metrics.items()]


def _sentences(
    metric: str, each: DifferenceEvidence, compare: ComparisonEvidence, options: EvidenceOptions
) -> str:
    """What moved, on how many cases, how sure, and what the set could have seen at all."""
    from_to = f"from {one_line(compare.a)} to {one_line(compare.b)}"
    if each.mean_delta is None:
        return f"{metric} is undefined for every case, so there is nothing to compare {from_to}."
    family = family_of(compare)
    moved = f"{metric} {_movement(each.mean_delta)} {from_to} ({_on_what(each, family)})."
    sure = f"Verdict: {each.verdict}{_how_sure(each, family, options)}."
    rest = [*_caveats(each, family, options), _what_could_be_seen(each, each.mean_delta, options)]
    return " ".join([moved, sure, *filter(None, rest)])


def family_of(compare: ComparisonEvidence) -> str:
    """What p values were adjusted over: `4 metrics`, or `8 differences` of several reports; empty for one."""
    if compare.family_size == 1:
        return ""
    is_plain = compare.family_size == len(compare.metrics)
    return counted(compare.family_size, "metric" if is_plain else "difference")


def _movement(mean_delta: float) -> str:
    micro = ordering_key(mean_delta)
    if micro == 0:
        return "kept its mean"
    return f"{'rose' if micro > 0 else 'fell'} by {format_score(abs(mean_delta))} on average"


def _on_what(each: DifferenceEvidence, family: str) -> str:
    left_out = f", {each.n_undefined} left out as undefined" if each.n_undefined else ""
    alone = " of this metric alone" if family else ""
    interval = f"95% CI{alone} {signed_bounds(each.ci95_low, each.ci95_high)}; "
    # The bounds that `equivalent` rests on are others; two intervals would be one too many.
    return (
        f"{'' if each.verdict is Verdict.EQUIVALENT else interval}{counted(each.n, 'case')}{left_out}: "
        f"{len(each.better)} better, {len(each.worse)} worse, {each.tied} tied"
    )


def _how_sure(each: DifferenceEvidence, family: str, options: EvidenceOptions) -> str:
    alpha = f"alpha {format_score(options.alpha)}"
    match each.verdict:
        case Verdict.IDENTICAL:
            return ", every case has the same results in the same order"
        case Verdict.NO_CASE_MOVED:
            return ""
        case Verdict.CANNOT_TELL:
            return (
                f", {_too_few(each, options)} can give no p below {format_score(each.attainable_p)}, {alpha}"
            )
        case Verdict.EQUIVALENT:
            low, high = each.equivalence or (None, None)
            return (
                f", the change lies in {signed_bounds(low, high)}, within {format_score(options.min_effect)} "
                f"of none (one-sided bounds, {alpha}, each with one more case at the worst)"
            )
    adjusted = f" adjusted over {family}" if family else ""
    wanted = ordering_key(options.min_effect) != 0
    counts = f", changes count from {format_score(options.min_effect)}" if wanted else ""
    return f", p = {format_score(each.adjusted_p)}{adjusted}, {alpha}{counts}"


def _too_few(each: DifferenceEvidence, options: EvidenceOptions) -> str:
    if _least_p(each.n) < ordering_key(options.alpha):
        return counted(options.resamples, "draw")
    return counted(each.n, "case")


def _least_p(n: int) -> int:
    """2 / 2^n in units of 1e-6: what n cases that all moved one way give."""
    return ordering_key(min(1.0, 2.0 ** (1 - n)))


def _caveats(each: DifferenceEvidence, family: str, options: EvidenceOptions) -> Iterator[str]:
    """What qualifies a verdict that rests on a p."""
    if each.verdict not in (Verdict.IMPROVED, Verdict.REGRESSED, Verdict.INCONCLUSIVE):
        return
    yield _interval_against_p(each, family, options)
    if each.verdict is Verdict.INCONCLUSIVE:
        yield _small_change(each, options)
        yield _few_moved(each, options)
    if each.is_drawn and abs(each.adjusted_p - options.alpha) <= _drawing_error(options):
        more = min(MAX_RESAMPLES, 10 * options.resamples)
        way_out = f"; --resamples {more} draws more" if more > options.resamples else ""
        yield f"This p is too near alpha for {counted(options.resamples, 'draw')}{way_out}."
    if each.is_fragile:
        yield _fragility(each)


def _interval_against_p(each: DifferenceEvidence, family: str, options: EvidenceOptions) -> str:
    """Why the interval and the verdict disagree on whether there is a change; empty where they agree."""
    holds_zero = ordering_key(each.ci95_low or 0.0) <= 0 <= ordering_key(each.ci95_high or 0.0)
    is_sure = is_below(each.adjusted_p, options.alpha)
    if holds_zero == (not is_sure) or not ordering_key(each.mean_delta or 0.0):
        return ""
    at = f"alpha {format_score(options.alpha)}"
    if is_sure:
        return f"The interval is one at 0.05 and holds 0; at {at} the change counts."
    if is_below(each.flip_p, options.alpha):
        verb = "count" if abs(each.mean_delta or 0.0) >= options.min_effect else "have a p below alpha"
        return f"Alone it would {verb}, among {family} it does not."
    return f"Alone, its p of {format_score(each.flip_p)} is below 0.05, but not below {at}."


def _small_change(each: DifferenceEvidence, options: EvidenceOptions) -> str:
    if not is_below(each.adjusted_p, options.alpha):
        return ""
    if not ordering_key(each.mean_delta or 0.0):
        return "A mean that prints as 0 has no direction."
    return "There is a change, but its mean is smaller than what counts."


def _few_moved(each: DifferenceEvidence, options: EvidenceOptions) -> str:
    n_moved = len(each.better) + len(each.worse)
    least = _least_p(n_moved)
    if least < ordering_key(options.alpha):
        return ""
    return f"Only {counted(n_moved, 'case')} moved: even all one way give p = {format_score(least / MICRO)}."


def _drawing_error(options: EvidenceOptions) -> float:
    """Three standard errors of a p near alpha that was estimated from `resamples` draws."""
    return 3.0 * math.sqrt(options.alpha * (1.0 - options.alpha) / options.resamples)


def _fragility(each: DifferenceEvidence) -> str:
    deltas = [ordering_key(delta) for delta in each.per_case if delta is not None]
    is_gain = each.verdict is Verdict.IMPROVED
    most = max(0, -min(deltas) if is_gain else max(deltas))
    loses, lost = ("loses", "lost") if is_gain else ("gains", "gained")
    limit = f"more than {format_score(most / MICRO)}" if most else "anything"
    return f"One case that {loses} everything would undo this; no case here {lost} {limit}."


def _what_could_be_seen(each: DifferenceEvidence, mean_delta: float, options: EvidenceOptions) -> str:
    if each.verdict is Verdict.IDENTICAL:
        return ""
    if each.verdict is Verdict.CANNOT_TELL:
        return "No result from so few could be evidence."
    if each.mde is None:
        return "The deltas do not vary, so there is no telling what else this set could have seen."
    seen = (
        f"With this spread {counted(each.n, 'case')} detect a true change of {format_score(each.mde)} "
        "with 80 % power"
    )
    if each.n_needed is None:
        return f"{seen}."
    wanted = options.min_effect if ordering_key(options.min_effect) else abs(mean_delta)
    return (
        f"{seen}; to tell a true change of {format_score(wanted)} from none takes "
        f"{counted(each.n_needed, 'case')}."
    )
