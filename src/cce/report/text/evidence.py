"""Evidence in, blocks of text lines out: tables for a terminal and sentences for a review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cce.domain.evidence import (
    ComparisonEvidence,
    DifferenceEvidence,
    Evidence,
    EvidenceOptions,
    Interval,
    SliceDifference,
    SliceEvidence,
)
from cce.numerals import format_score
from cce.quoting import one_line
from cce.report.text.tables import align
from cce.report.view.cells import bounds, direction, number, signed, signed_bounds, unsigned
from cce.report.view.sentences import family_of, sentences

_STRIP_WIDTH = 50
_MAX_STRIP_CASES = 200
_MARKS = {1: "+", -1: "-", 0: "."}
_UNDEFINED_MARK = "o"


def evidence_blocks(evidence: Evidence) -> list[list[str]]:
    """The evidence as blocks of lines, in the order in which they are read."""
    blocks = [_settings(evidence.options), _mean_table(evidence)]
    if evidence.compare is not None:
        blocks += _comparison_blocks(evidence.compare, evidence.options)
    if evidence.slices:
        blocks.append(_slice_table(evidence))
    return blocks


def _settings(options: EvidenceOptions) -> list[str]:
    return [
        f"  evidence (alpha {format_score(options.alpha)}, min effect {format_score(options.min_effect)}, "
        f"{options.resamples} resamples, seed {options.seed})"
    ]


def _mean_table(evidence: Evidence) -> list[str]:
    rows = [
        (backend.backend, metric, *_interval_cells(interval))
        for backend in evidence.backends
        for metric, interval in backend.metrics.items()
    ]
    header = ("backend", "metric", "cases", "left out", "mean", "95% CI")
    return ["  means, with bootstrap intervals", *align([header, *rows], n_left=2)]


def _interval_cells(interval: Interval) -> tuple[str, str, str, str]:
    counts = (str(interval.n), str(interval.n_undefined))
    return *counts, unsigned(interval.mean), bounds(interval.ci95_low, interval.ci95_high)


def _comparison_blocks(compare: ComparisonEvidence, options: EvidenceOptions) -> Iterator[list[str]]:
    a, b = one_line(compare.a), one_line(compare.b)
    metrics = compare.metrics.items()
    yield [
        f"  differences ({a} → {b}; positive = {b} wins)",
        *_table(
            ("metric", "cases", "left out", "mean-delta", "95% CI", "better", "worse", "tied", "verdict"),
            ((name, *_delta_cells(each)) for name, each in metrics),
        ),
    ]
    yield [
        f"  how sure (two-sided p values; adjusted over {family_of(compare) or '1 metric'})",
        *_table(
            ("metric", "sign p", "flip p", "adjusted p", "flip method"),
            ((name, *_p_cells(each)) for name, each in metrics),
        ),
    ]
    yield [
        "  what this set can see (power 0.8)",
        *_table(
            ("metric", "effect size", "mde", "cases needed", "least p"),
            ((name, *_sight_cells(each)) for name, each in metrics),
        ),
    ]
    yield from _strips(compare)
    yield ["  in words", *(f"  {line}" for line in sentences(compare, options))]


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return align([header, *rows], n_left=1)


def _delta_cells(each: DifferenceEvidence) -> Sequence[str]:
    counts = (len(each.better), len(each.worse), each.tied)
    interval = signed_bounds(each.ci95_low, each.ci95_high)
    measured = (str(each.n), str(each.n_undefined), signed(each.mean_delta), interval)
    return *measured, *map(str, counts), each.verdict


def _p_cells(each: DifferenceEvidence) -> Sequence[str]:
    return *map(format_score, (each.sign_p, each.flip_p, each.adjusted_p)), each.flip_method


def _sight_cells(each: DifferenceEvidence) -> Sequence[str]:
    p = format_score(each.attainable_p)
    return signed(each.effect_size), unsigned(each.mde), number(each.n_needed), p


def _strips(compare: ComparisonEvidence) -> Iterator[list[str]]:
    """Which cases moved, one mark per case; nothing for more than _MAX_STRIP_CASES cases."""
    strips = {name: _strip(each.per_case) for name, each in compare.metrics.items()}
    if any(len(lines) > _MAX_STRIP_CASES // _STRIP_WIDTH for lines in strips.values()):
        return
    rows = [
        (name if n_line == 0 else "", line)
        for name, lines in strips.items()
        for n_line, line in enumerate(lines)
    ]
    title = "  the cases in their order (+ better, - worse, . tied, o undefined)"
    yield [title, *align(rows, n_left=2)]


def _strip(deltas: Sequence[float | None]) -> list[str]:
    """Lines of marks in groups of ten, so that a reader can find the n-th case: `+..-....+. ....`."""
    marks = "".join(_UNDEFINED_MARK if delta is None else _MARKS[direction(delta)] for delta in deltas)
    groups = [marks[start : start + 10] for start in range(0, len(marks), 10)]
    per_line = _STRIP_WIDTH // 10
    return [" ".join(groups[start : start + per_line]) for start in range(0, len(groups), per_line)]


def _slice_table(evidence: Evidence) -> list[str]:
    names = [backend.backend for backend in evidence.backends]
    deltas = ("mean-delta", "better", "worse", "tied", "sign p") if evidence.compare else ()
    header = ("tag", "metric", "cases", *names, *deltas, "")
    rows = [_slice_row(each, metric) for each in evidence.slices for metric in evidence.options.metrics]
    return [
        "  slices by tag (a hint where to look, never a verdict)",
        *align([header, *rows], n_left=2),
    ]


def _slice_row(each: SliceEvidence, metric: str) -> Sequence[str]:
    means = (unsigned(backend.metrics[metric]) for backend in each.backends)
    deltas = () if each.compare is None else _slice_delta_cells(each.compare.get(metric))
    return each.name, metric, str(each.n), *means, *deltas, "too few" if each.is_too_few else ""


def _slice_delta_cells(each: SliceDifference | None) -> Sequence[str]:
    if each is None:  # a metric with means only
        return ("-",) * 5
    counts = (each.better, each.worse, each.tied)
    return signed(each.mean_delta), *map(str, counts), format_score(each.sign_p)
