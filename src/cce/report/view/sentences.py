"""Evidence of a comparison in, one paragraph per metric out, for every format that people read."""

from __future__ import annotations

from cce.domain.evidence import ComparisonEvidence, DifferenceEvidence, EvidenceOptions, Verdict
from cce.numerals import format_score, ordering_key
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
    moved = f"{metric} {_movement(each.mean_delta)} {from_to} ({_on_what(each)})."
    sure = f"Verdict: {each.verdict}, {_how_sure(each, len(compare.metrics), options)}."
    return f"{moved} {sure} {_what_could_be_seen(each, each.mean_delta, options)}"


def _movement(mean_delta: float) -> str:
    micro = ordering_key(mean_delta)
    if micro == 0:
        return "kept its mean"
    return f"{'rose' if micro > 0 else 'fell'} by {format_score(abs(mean_delta))} on average"


def _on_what(each: DifferenceEvidence) -> str:
    left_out = f", {each.n_undefined} left out as undefined" if each.n_undefined else ""
    return (
        f"95% CI {signed_bounds(each.ci95_low, each.ci95_high)}; {counted(each.n, 'case')}{left_out}: "
        f"{len(each.better)} better, {len(each.worse)} worse, {each.tied} tied"
    )


def _how_sure(each: DifferenceEvidence, n_metrics: int, options: EvidenceOptions) -> str:
    alpha = f"alpha {format_score(options.alpha)}"
    if each.verdict is Verdict.CANNOT_TELL:
        return f"{counted(each.n, 'case')} can give no p below {format_score(each.attainable_p)}, {alpha}"
    family = f" after Holm over {n_metrics} metrics" if n_metrics > 1 else ""
    wanted = ordering_key(options.min_effect) != 0
    counts = f", changes count from {format_score(options.min_effect)}" if wanted else ""
    return f"p = {format_score(each.holm_p)}{family}, {alpha}{counts}"


def _what_could_be_seen(each: DifferenceEvidence, mean_delta: float, options: EvidenceOptions) -> str:
    if each.mde is None:
        return "The deltas do not vary, so there is no telling what else this set could have seen."
    seen = (
        f"With this spread {counted(each.n, 'case')} show a mean change of {format_score(each.mde)} or more "
        "in four of five tries"
    )
    if each.n_needed is None:
        return f"{seen}."
    wanted = options.min_effect if ordering_key(options.min_effect) else abs(mean_delta)
    return f"{seen}; to show {format_score(wanted)} takes {counted(each.n_needed, 'case')}."
