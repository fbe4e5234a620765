"""The list of metrics as JSON."""

from __future__ import annotations

from collections.abc import Iterable

from cce.domain.scores import MetricEntry
from cce.json_text import dump_json


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
    return dump_json({"metrics": rows})
