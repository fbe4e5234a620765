"""Findings about labels as `cce.lint/v1`."""

from __future__ import annotations

import json

from cce.domain.findings import Finding, Lint, Severity

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
    text = json.dumps(fields, ensure_ascii=False, indent=2, sort_keys=True)
    # A path that is not UTF-8 arrives with lone surrogates, which Python spells as JSON does: \udcff.
    return text.encode("utf-8", "backslashreplace").decode() + "\n"


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "anchor": finding.anchor,
        "case": finding.case_id,
        "code": finding.code,
        "level": finding.level,
        "line": finding.line,
        "message": finding.message,
    }
