"""A history in, `cce.history/v1` out. Every field is spelled out."""

from __future__ import annotations

from cce.domain.history import BaselineHistory, BaselineVersion, LabelChanges
from cce.json_text import dump_json
from cce.numerals import format_score
from cce.report.json.fields import Json

SCHEMA = "cce.history/v1"


def render_history_json(history: BaselineHistory) -> str:
    """The history as JSON with sorted keys and one final newline."""
    return dump_json(
        {
            "schema": SCHEMA,
            "baseline": history.path,
            "backend": history.backend,
            "metrics": list(history.metrics),
            "shallow": history.is_cut,
            "versions": [_version(version) for version in history.versions],
        }
    )


def _version(version: BaselineVersion) -> Json:
    fields: Json = {"commit": version.commit, "date": version.date, "subject": version.subject}
    if version.fault is not None:
        return {**fields, "fault": version.fault}
    return {
        **fields,
        "cases": version.n_cases,
        "means": {metric: format_score(mean) for metric, mean in version.means.items()},
        "labels": None if version.labels is None else _labels(version.labels),
        "starts_line": version.starts_line,
    }


def _labels(labels: LabelChanges) -> Json:
    return {"changed": labels.changed, "added": labels.added, "removed": labels.removed}
