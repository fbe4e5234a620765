"""Findings about labels as text, grouped by case."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from cce.domain.findings import SEVERITIES, Lint, Severity
from cce.quoting import counted, on_one_line


def render_findings(lint: Lint, level: Severity = "note") -> str:
    """The findings at `level` or worse under one heading per case, then the numbers of all findings."""
    return "".join(f"{line}\n" for line in _lines(lint, level))


def _lines(lint: Lint, level: Severity) -> Iterator[str]:
    place = on_one_line(lint.fixtures)
    shown = lint.at_least(level)
    for (line, case_id), findings in groupby(shown, key=lambda finding: (finding.line, finding.case_id)):
        yield place if line is None else f"{place}:{line}: {on_one_line(case_id or '')}"
        yield from (f"  {finding.level:<7}  {finding.message}" for finding in findings)
        yield ""
    summary = ", ".join(counted(lint.count(each), each) for each in SEVERITIES)
    yield f"{summary} in {counted(lint.n_cases, 'case')}"
