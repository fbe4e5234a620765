"""Report in, plain text out: aligned tables for a terminal, the same bytes on every system.

Nothing is computed here. Widths count characters; a name too long for its column pushes the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from cce.domain.full_report import FullReport
from cce.domain.redaction import Redaction
from cce.domain.report import Report, SavedPair
from cce.domain.scores import METRICS, TOKEN_METRICS, BackendScore
from cce.numerals import format_score, format_signed
from cce.quoting import one_line
from cce.report.text.tables import row
from cce.report.view.cells import LABELS, signed, signed_bounds, unsigned

if TYPE_CHECKING:
    from cce.domain.comparison import Comparison, Difference, PairedTest
    from cce.domain.costs import Costs

TITLE = "CCE relevance — ranking quality vs labeled fixtures (cce.relevance/v1)"
SAVED_TITLE = "CCE compare — two saved reports, paired by case (cce.relevance.report/v2)"

_METRIC_WIDTHS = (12, 12, 12, 12)
_TOKEN_WIDTHS = (12, 12, 12)
_COST_WIDTHS = (12, 14, 14)
_TEST_WIDTHS = (14, 12, 12, 26)
_QUERY_WIDTH = 24


def render_text_report(full: FullReport) -> str:
    """The report for a terminal; where a gate was asked its answer, and of several one after the other."""
    if full.gate is None:
        return "\n".join(map(render_text, (full.report, *full.others)))
    from cce.report.text.gate import render_gate_text  # most reports have no gate

    return render_gate_text(full.gate, full.warnings)


def render_text(report: Report) -> str:
    """The report for a terminal, with one final newline."""
    blocks = [_heading(report), _ranking_table(report.backends)]
    if any(score.n_ranged for score in report.backends):
        blocks.append(_token_table(report))
    if report.comparison is not None:
        blocks += [_delta_table(report.comparison), _test_table(report.comparison.differences)]
    if report.evidence is not None:
        from cce.report.text.evidence import evidence_blocks  # most reports have none

        blocks += evidence_blocks(report.evidence)
    if report.costs:
        blocks.append(_cost_table(report.costs))
    if report.notes:
        blocks.append(["  notes", *(f"    {one_line(note)}" for note in report.notes)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _cost_table(costs: Mapping[str, Costs]) -> list[str]:
    units = dict.fromkeys(each.unit for each in costs.values() if each.unit is not None)
    title = "  costs, means per query"
    columns: tuple[str, ...] = ("pairs", "tokens")
    if units:
        title, columns = f"{title} (est. in {one_line(', '.join(units))})", (*columns, "est.")
    widths = _COST_WIDTHS[: len(columns)]
    cells = ((name, (each.pairs, each.tokens, each.estimate)[: len(columns)]) for name, each in costs.items())
    return [
        title,
        row("backend", columns, widths),
        *(row(name, map(unsigned, figures), widths) for name, figures in cells),
    ]


def _heading(report: Report) -> list[str]:
    saved = report.saved
    return [
        *([TITLE] if saved is None else _saved_heading(saved)),
        f"  corpus  : {one_line(report.corpus)}",
        f"  embedder: {one_line(report.embedder)}",
        *(["  redact  : strict"] if report.redaction is Redaction.STRICT else []),
        f"  queries : {report.n_queries}{_left_out(saved)}",
    ]


def _saved_heading(saved: SavedPair) -> list[str]:
    return [
        SAVED_TITLE,
        f"  old     : {one_line(saved.old)}",
        f"  new     : {one_line(saved.new)}",
        "  figures : as saved, with six decimals",
    ]


def _left_out(saved: SavedPair | None) -> str:
    if saved is None or not saved.n_left_out:
        return ""
    return f" ({saved.n_left_out} left out, not in both reports with the same k)"


def _ranking_table(scores: Iterable[BackendScore]) -> list[str]:
    rows = [row(score.backend, _means(score, METRICS), _METRIC_WIDTHS) for score in scores]
    return [row("backend", LABELS.values(), _METRIC_WIDTHS), *rows]


def _token_table(report: Report) -> list[str]:
    n_ranged = max(score.n_ranged for score in report.backends)  # a system without lines has none
    title = f"  token-level span metrics ({n_ranged} of {report.n_queries} queries carry ranged anchors)"
    rows = [
        row(score.backend, _means(score, TOKEN_METRICS), _TOKEN_WIDTHS)
        for score in report.backends
        if score.n_ranged
    ]
    return [title, row("backend", ("tok-P", "tok-recall", "tok-IoU"), _TOKEN_WIDTHS), *rows]


def _means(score: BackendScore, metrics: Iterable[str]) -> list[str]:
    return [format_score(score.mean(metric)) for metric in metrics]


def _delta_table(comparison: Comparison) -> list[str]:
    a, b = one_line(comparison.a.backend), one_line(comparison.b.backend)
    ids = comparison.a.ids
    deltas = zip(*(difference.per_case for difference in comparison.differences), strict=True)
    means = [difference.of_means for difference in comparison.differences]
    labels = [f"d{LABELS[difference.metric]}" for difference in comparison.differences]
    return [
        f"  per-query deltas ({a} → {b}; positive = {b} wins)",
        row("query", labels, _METRIC_WIDTHS, _QUERY_WIDTH),
        *(_delta_row(name, case_deltas) for name, case_deltas in zip(ids, deltas, strict=True)),
        _delta_row("mean", means),
    ]


def _delta_row(name: str, deltas: Iterable[float]) -> str:
    return row(name, map(format_signed, deltas), _METRIC_WIDTHS, _QUERY_WIDTH)


def _test_table(differences: Sequence[Difference]) -> list[str]:
    test = differences[0].test
    return [
        f"  paired t-test on the per-query deltas (two-sided, n={test.n}, df={test.df})",
        row("metric", ("mean-delta", "t", "p", "95% CI"), _TEST_WIDTHS),
        *(row(LABELS[each.metric], _test_cells(each.test), _TEST_WIDTHS) for each in differences),
    ]


def _test_cells(test: PairedTest) -> tuple[str, str, str, str]:
    return (
        format_signed(test.mean_delta),
        signed(test.t),
        unsigned(test.p),
        signed_bounds(test.ci95_low, test.ci95_high),
    )
