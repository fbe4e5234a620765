"""The list of metrics as an aligned table."""

from __future__ import annotations

from collections.abc import Iterable

from cce.domain.scores import MetricEntry
from cce.report.text.tables import align

_HEADER = ("metric", "range", "needs", "definition, over the first k results of a case")


def render_metrics_text(entries: Iterable[MetricEntry]) -> str:
    """One line a metric, with one final newline."""
    rows = [(each.name, _range(each), _need(each), each.definition) for each in entries]
    return "\n".join(align([_HEADER, *rows], n_left=len(_HEADER))) + "\n"


def _range(entry: MetricEntry) -> str:
    low, high = entry.range
    return f"{low} to {high}"


def _need(entry: MetricEntry) -> str:
    return "index" if entry.needs_index else ""
