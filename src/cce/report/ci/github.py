"""Full report in, GitHub workflow commands out: one error for each reason to refuse.

A reason about critical cases gives one error on the line of each case in the set. A reason about the whole
set, such as a mean below its floor, gives one error at the top of the set: GitHub shows ten errors per step,
and hundreds of cases would hide the others. Warnings of the run follow. The last line is a notice with the
headline.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from cce.domain.case import Case
from cce.domain.full_report import FullReport
from cce.domain.gate import GateReport, Reason, Rule
from cce.quoting import one_line, shortened
from cce.report.view.changes import headline
from cce.report.view.rows import refusing, tolerated

TITLE = "cce relevance"
MAX_WARNINGS = 5
MAX_REASON = 1_000
MAX_PROPERTY = 300

_CASE_RULES = frozenset({Rule.CRITICAL_MISSED, Rule.CRITICAL_RECALL, Rule.CRITICAL_RANK})
_IN_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_MESSAGE, ":": "%3A", ",": "%2C"}


def render_github(full: FullReport) -> str:
    """One command per line, with one final newline."""
    gate = full.gate
    told = [] if gate is None else [*_errors(gate, _path(full, gate)), *_reviews(gate, _path(full, gate))]
    return "\n".join([*told, *_warnings(full.warnings), _notice(full)]) + "\n"


def _reviews(gate: GateReport, path: str) -> Iterator[str]:
    """A warning for each reason that does not refuse the change."""
    for reason in tolerated(gate):
        title = f"GATE: {gate.outcome} ({reason.rule})"
        message = shortened(reason.text, MAX_REASON)
        yield command("warning", {"title": title, "file": path}, message)


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


def _warnings(texts: Sequence[str]) -> Iterator[str]:
    """At most MAX_WARNINGS; the last one counts those that are left out."""
    n_shown = len(texts) if len(texts) <= MAX_WARNINGS else MAX_WARNINGS - 1
    for text in texts[:n_shown]:
        yield command("warning", {"title": TITLE}, shortened(text, MAX_REASON))
    if n_shown < len(texts):
        more = f"{len(texts) - n_shown} more warnings, which the log and the other reports show"
        yield command("warning", {"title": TITLE}, more)


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
    # Escapes of GitHub first (%0A for a line end); other control characters become `\\x1b` after that.
    return one_line("".join(by_sign.get(sign, sign) for sign in text))
