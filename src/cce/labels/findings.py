"""Findings about labels, and their two forms: text grouped by case, and JSON. Nothing is looked up here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from cce.quoting import on_one_line
from cce.report.json.dump import dump_json

SCHEMA = "cce.lint/v1"

Level = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")
"""From what must be mended to what is good to know."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about one case, or about the whole set if `line` and `case_id` are None.

    `code` is a stable name of the kind of finding, `message` one line.
    """

    level: Level
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

    def count(self, level: Level) -> int:
        """How many findings have this level."""
        return sum(finding.level == level for finding in self.findings)

    def at_least(self, level: Level) -> tuple[Finding, ...]:
        """The findings that are not below `level`."""
        wanted = LEVELS[: LEVELS.index(level) + 1]
        return tuple(finding for finding in self.findings if finding.level in wanted)


def render_text(lint: Lint, level: Level = "note") -> str:
    """The findings from `level` up under a heading a case, then the number of all."""
    return "".join(f"{line}\n" for line in _lines(lint, level))


def _lines(lint: Lint, level: Level) -> Iterator[str]:
    place = on_one_line(lint.fixtures)
    shown = lint.at_least(level)
    for (line, case_id), findings in groupby(shown, key=lambda finding: (finding.line, finding.case_id)):
        yield place if line is None else f"{place}:{line}: {on_one_line(case_id or '')}"
        yield from (f"  {finding.level:<7}  {finding.message}" for finding in findings)
        yield ""
    summary = ", ".join(_number(lint.count(each), each) for each in LEVELS)
    yield f"{summary} in {_number(lint.n_cases, 'case')}"


def _number(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def render_json(lint: Lint, level: Level = "note") -> str:
    """The findings from `level` up for machines, the number of all, one final newline."""
    fields = {
        "schema": SCHEMA,
        "fixtures": lint.fixtures,
        "cases": lint.n_cases,
        "errors": lint.count("error"),
        "warnings": lint.count("warning"),
        "notes": lint.count("note"),
        "findings": _as_json(lint.at_least(level)),
    }
    return dump_json(fields)


def _as_json(findings: Sequence[Finding]) -> list[dict[str, object]]:
    return [
        {
            "anchor": finding.anchor,
            "case": finding.case_id,
            "code": finding.code,
            "level": finding.level,
            "line": finding.line,
            "message": finding.message,
        }
        for finding in findings
    ]
