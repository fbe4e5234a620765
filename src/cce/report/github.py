"""Full report in, GitHub workflow commands out: an error on the line of each case that blocks a gate.

GitHub shows ten errors a step, so they come in the order of the gate's reasons, what is about the whole
set first. The last line is a notice that says what the others are about, and the only one where nothing
blocks or no gate was asked.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from cce.domain.full_report import FullReport
from cce.domain.gate import GateReport, Reason
from cce.report.changes import headline
from cce.report.rows import blocking_by_id
from cce.report.tables import one_line

TITLE = "cce relevance"

_IN_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_MESSAGE, ":": "%3A", ",": "%2C"}


def render_github(full: FullReport) -> str:
    """One command a line, with one final newline."""
    errors = [] if full.gate is None else [*_errors(full.gate)]
    return "\n".join([*errors, _notice(full)]) + "\n"


def _errors(gate: GateReport) -> Iterator[str]:
    """Those about the whole set, then one per case that blocks, in the order of what it blocks by first."""
    by_id = blocking_by_id(gate)
    for reason in by_id.get(None, ()):
        yield command("error", _place(gate, reason), reason.text)
    ranks = {id(reason): rank for rank, reason in enumerate(gate.reasons)}
    blocking = [case for case in gate.fixtures.cases if case.id in by_id]
    for case in sorted(blocking, key=lambda case: ranks[id(by_id[case.id][0])]):
        reasons = by_id[case.id]
        place = {**_place(gate, reasons[0]), "line": str(case.line)}
        yield command("error", place, "\n".join(reason.text for reason in reasons))


def _place(gate: GateReport, reason: Reason) -> dict[str, str]:
    # GitHub looks the path up as text: a/../b would be no file of the repository.
    path = posixpath.normpath(gate.fixtures.path)
    return {"title": f"GATE: {gate.outcome} ({reason.rule})", "file": path}


def _notice(full: FullReport) -> str:
    head = headline(full)
    return command("notice", {"title": TITLE}, " — ".join(filter(None, (head.title, head.subtitle))))


def command(name: str, properties: Mapping[str, str], message: str) -> str:
    """A workflow command, on one line whatever the texts hold."""
    told = ",".join(f"{key}={_escaped(value, _IN_PROPERTY)}" for key, value in properties.items())
    return f"::{name} {told}::{_escaped(message, _IN_MESSAGE)}"


def _escaped(text: str, by_sign: Mapping[str, str]) -> str:
    # What GitHub reads comes first; all else that does not print is spelled out afterwards.
    return one_line("".join(by_sign.get(sign, sign) for sign in text))
