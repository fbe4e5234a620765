"""Report in, plain text out: aligned tables for a terminal, the same bytes on every system.

Nothing is computed here. Widths count characters; a name too long for its column pushes the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cce.domain.comparison import Comparison, Difference, PairedTest
from cce.domain.report import Report
from cce.domain.scores import BackendScore
from cce.numerals import format_score, format_signed

TITLE = "CCE relevance — ranking quality vs labeled fixtures (cce.relevance/v1)"
LABELS = {"precision_at_k": "P@k", "recall": "recall", "mrr": "MRR", "f1": "F1"}
UNDEFINED = "n/a"

_METRIC_WIDTHS = (12, 12, 12, 12)
_TOKEN_WIDTHS = (12, 12, 12)
_TEST_WIDTHS = (14, 12, 12, 26)
_NAME_WIDTH = 10
_QUERY_WIDTH = 24

# What would end a line, move the cursor or be no character at all.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def render_text(report: Report) -> str:
    """The report for a terminal, with one final newline."""
    blocks = [_heading(report), _ranking_table(report.backends)]
    if any(score.tokens for score in report.backends):
        blocks.append(_token_table(report))
    if report.comparison is not None:
        blocks += [_delta_table(report.comparison), _test_table(report.comparison.differences)]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _heading(report: Report) -> list[str]:
    return [
        TITLE,
        f"  corpus  : {one_line(report.corpus)}",
        f"  embedder: {one_line(report.embedder)}",
        f"  queries : {report.n_queries}",
    ]


def _ranking_table(scores: Iterable[BackendScore]) -> list[str]:
    rows = [_row(score.backend, map(format_score, score.figures), _METRIC_WIDTHS) for score in scores]
    return [_row("backend", LABELS.values(), _METRIC_WIDTHS), *rows]


def _token_table(report: Report) -> list[str]:
    n_ranged = report.backends[0].n_ranged
    title = f"  token-level span metrics ({n_ranged} of {report.n_queries} queries carry ranged anchors)"
    rows = [
        _row(score.backend, map(format_score, (tokens.precision, tokens.recall, tokens.iou)), _TOKEN_WIDTHS)
        for score in report.backends
        if (tokens := score.tokens) is not None
    ]
    return [title, _row("backend", ("tok-P", "tok-recall", "tok-IoU"), _TOKEN_WIDTHS), *rows]


def _delta_table(comparison: Comparison) -> list[str]:
    a, b = one_line(comparison.a.backend), one_line(comparison.b.backend)
    ids = [case.id for case in comparison.a.cases]
    deltas = zip(*(difference.per_case for difference in comparison.differences), strict=True)
    means = [difference.of_means for difference in comparison.differences]
    labels = [f"d{LABELS[difference.metric]}" for difference in comparison.differences]
    return [
        f"  per-query deltas ({a} → {b}; positive = {b} wins)",
        _row("query", labels, _METRIC_WIDTHS, _QUERY_WIDTH),
        *(_delta_row(name, row) for name, row in zip(ids, deltas, strict=True)),
        _delta_row("mean", means),
    ]


def _delta_row(name: str, deltas: Iterable[float]) -> str:
    return _row(name, map(format_signed, deltas), _METRIC_WIDTHS, _QUERY_WIDTH)


def _test_table(differences: Sequence[Difference]) -> list[str]:
    test = differences[0].test
    return [
        f"  paired t-test on the per-query deltas (two-sided, n={test.n}, df={test.df})",
        _row("metric", ("mean-delta", "t", "p", "95% CI"), _TEST_WIDTHS),
        *(_row(LABELS[each.metric], _test_cells(each.test), _TEST_WIDTHS) for each in differences),
    ]


def _test_cells(test: PairedTest) -> tuple[str, str, str, str]:
    return (
        format_signed(test.mean_delta),
        UNDEFINED if test.t is None else format_signed(test.t),
        UNDEFINED if test.p is None else format_score(test.p),
        _interval(test.ci95_low, test.ci95_high),
    )


def _interval(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return UNDEFINED
    return f"[{format_signed(low)}, {format_signed(high)}]"


def _row(name: str, cells: Iterable[str], widths: Iterable[int], name_width: int = _NAME_WIDTH) -> str:
    aligned = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return f"  {one_line(name):<{name_width}}{''.join(aligned)}"


def one_line(text: str) -> str:
    r"""`text` with control characters, line ends and lone surrogates spelled out, as `\n` or `\x1b`."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
