"""Findings: what is wrong with the labels of a set, or worth knowing about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""Worst first."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault or remark about one case, or about the whole set if `line` and `case_id` are None.

    `code` is a stable name of the kind of finding, `message` one line.
    """

    level: Severity
    code: str
    line: int | None
    case_id: str | None
    message: str
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class Lint:
    """All findings about a set in the order of its lines, those about the whole set last."""

    fixtures: str
    n_cases: int
    findings: tuple[Finding, ...]

    def count(self, level: Severity) -> int:
        """The number of findings at this level."""
        return sum(finding.level == level for finding in self.findings)

    def at_least(self, level: Severity) -> tuple[Finding, ...]:
        """The findings at `level` or worse."""
        wanted = SEVERITIES[: SEVERITIES.index(level) + 1]
        return tuple(finding for finding in self.findings if finding.level in wanted)
