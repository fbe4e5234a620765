"""Findings about labels as `cce.lint/v1`."""

from __future__ import annotations

from cce.domain.findings import Finding, Lint, Severity
from cce.json_text import dump_json
from cce.report.json.fields import Json

SCHEMA = "cce.lint/v1"


def render_findings_json(lint: Lint, level: Severity = "note") -> str:
    """The findings at `level` or worse with the numbers of all, sorted keys, one final newline."""
    fields = {
        "schema": SCHEMA,
        "fixtures": lint.fixtures,
        "cases": lint.n_cases,
        "errors": lint.count("error"),
        "warnings": lint.count("warning"),
        "notes": lint.count("note"),
        "findings": [_finding(finding) for finding in lint.at_least(level)],
    }
    return dump_json(fields)


def _finding(finding: Finding) -> Json:
    return {
        "anchor": finding.anchor,
        "case": finding.case_id,
        "code": finding.code,
        "level": finding.level,
        "line": finding.line,
        "message": finding.message,
    }
