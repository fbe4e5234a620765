"""Full report in, GitHub workflow commands out: an error for each thing that makes a gate refuse.

What is wrong with one case, a critical one, stands on the line of that case in the set. A mean below its
floor is no fault of any single case, so it has one error, at the top of the set: GitHub shows ten errors
a step, which hundreds of cases would fill. The last line is a notice that says what the others are
about, and the only one where nothing is refused or no gate was asked.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from cce.domain.case import Case
from cce.domain.gate import GateReport, Reason, Rule
from cce.domain.report import FullReport
from cce.quoting import one_line, shortened
from cce.report.view.changes import headline
from cce.report.view.rows import refusing

TITLE = "cce relevance"
MAX_REASON = 1_000
MAX_PROPERTY = 300

_CASE_RULES = frozenset({Rule.CRITICAL_MISSED, Rule.CRITICAL_RECALL, Rule.CRITICAL_RANK})
_IN_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_MESSAGE, ":": "%3A", ",": "%2C"}


def render_github(full: FullReport) -> str:
    """One command a line, with one final newline."""
    errors = [] if full.gate is None else [*_errors(full.gate, _path(full, full.gate))]
    return "\n".join([*errors, _notice(full)]) + "\n"


def _path(full: FullReport, gate: GateReport) -> str:
    """GitHub looks the path up as text, from the root of the repository: a/../b would be no file of it."""
    return full.fixtures_in_git or posixpath.normpath(gate.fixtures.path)


def _errors(gate: GateReport, path: str) -> Iterator[str]:
    """Those about the whole set, then one per case, each in the order of the gate's reasons."""
    by_case: defaultdict[str, list[Reason]] = defaultdict(list)
    for reason in refusing(gate):
        if reason.rule not in _CASE_RULES:
            yield _error(gate, [reason], {"file": path})
        for name in reason.case_ids if reason.rule in _CASE_RULES else ():
            by_case[name].append(reason)
    cases: defaultdict[str, list[Case]] = defaultdict(list)
    for case in gate.fixtures.cases:
        cases[case.id].append(case)
    for name, reasons in by_case.items():
        for case in cases[name]:
            yield _error(gate, reasons, {"file": path, "line": str(case.line)})


def _error(gate: GateReport, reasons: Sequence[Reason], place: Mapping[str, str]) -> str:
    title = f"GATE: {gate.outcome} ({reasons[0].rule})"
    message = "\n".join(shortened(reason.text, MAX_REASON) for reason in reasons)
    return command("error", {"title": title, **place}, message)


def _notice(full: FullReport) -> str:
    head = headline(full)
    message = " — ".join(shortened(text, MAX_REASON) for text in (head.title, head.subtitle) if text)
    return command("notice", {"title": TITLE}, message)


def command(name: str, properties: Mapping[str, str], message: str) -> str:
    """A workflow command, on one line whatever the texts hold."""
    fields = ",".join(
        f"{key}={_escaped(shortened(value, MAX_PROPERTY), _IN_PROPERTY)}" for key, value in properties.items()
    )
    return f"::{name} {fields}::{_escaped(message, _IN_MESSAGE)}"


def _escaped(text: str, by_sign: Mapping[str, str]) -> str:
    # What GitHub reads comes first; all else that does not print is spelled out afterwards.
    return one_line("".join(by_sign.get(sign, sign) for sign in text))
