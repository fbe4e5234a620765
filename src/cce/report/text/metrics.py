"""The list of metrics, as an aligned table and as JSON."""

from __future__ import annotations

import json
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


def render_metrics_json(entries: Iterable[MetricEntry]) -> str:
    """One object with sorted keys and one final newline."""
    rows = [
        {
            "name": each.name,
            "definition": each.definition,
            "range": list(each.range),
            "needs_index": each.needs_index,
        }
        for each in entries
    ]
    return json.dumps({"metrics": rows}, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
