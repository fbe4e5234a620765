"""Full report in, JUnit XML out: a suite per backend, a case per case, for the test tab of a CI server.

Suites and classes name the policy, the set and the backend, so that two gates of one build stay apart. A bad
score is a result, so without a gate nothing fails. A reason to block is a failure in the suite of the
candidate: at each case it names, or at a test of its own if it is about the whole set.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, indent, tostring

from cce.domain.full_report import FullReport
from cce.domain.gate import GateReport, Reason
from cce.domain.scores import METRICS, CaseScore
from cce.numerals import format_score
from cce.quoting import one_line, shortened
from cce.report.view.cells import first_rank
from cce.report.view.rows import CaseRow, NamedScore, blocking_by_id, case_rows, columns, tolerated

NAME = "cce relevance"
MAX_NAME = 200
MAX_TEXT = 2_000

# All that XML 1.0 has no way to write, not even as a reference.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(full: FullReport) -> str:
    """The report as JUnit XML, with one final newline."""
    rows, reasons = case_rows(full), blocking_by_id(full.gate)
    root = Element("testsuites", {"name": NAME})
    for position, column in enumerate(columns(full)):
        # A baseline was measured earlier: it is no test of this run.
        if full.gate is None or column.score is full.gate.candidate:
            suite = _suite(suite_name(full, column), position, rows, reasons)
            if full.gate is not None and tolerated(full.gate):
                suite.append(_element("system-out", _review(full.gate)))
            if full.warnings:
                suite.append(_element("system-err", "\n".join(map(one_line, full.warnings))))
            root.append(suite)
    _count(root, list(root))
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _review(gate: GateReport) -> str:
    """What does not fail a test: the verdict, and a line for each reason to look at the change."""
    lines = (f"review: {shortened(reason.text, MAX_TEXT)}" for reason in tolerated(gate))
    return "\n".join([f"GATE: {gate.outcome}", *lines])


def suite_name(full: FullReport, column: NamedScore) -> str:
    """What was measured: `eval/gate.toml: eval/code.jsonl: hybrid`, without the parts that are missing."""
    policy = None if full.gate is None else full.gate.policy.path
    return ": ".join(part for part in (policy, full.fixtures_path, column.name) if part)


def _suite(
    name: str, position: int, rows: Sequence[CaseRow], reasons: Mapping[str | None, Sequence[Reason]]
) -> Element:

    suite = Element("testsuite", {"name": _name(name)})
    for row in rows:
        score = row.scores[position]
        if score is not None:
            suite.append(_case(name, row, score, reasons.get(row.id, ())))
    for reason in reasons.get(None, ()):
        suite.append(_rule(name, reason))
    _count(suite, list(suite))
    return suite


def _case(suite: str, row: CaseRow, score: CaseScore, reasons: Sequence[Reason]) -> Element:
    case = _test(suite, row.id)
    for reason in reasons[:1]:
        # Readers expect one failure a test at most; further reasons stand in its text.
        case.append(_failure(reason, reasons))
    case.append(_element("system-out", _figures(row, score)))
    return case


def _rule(suite: str, reason: Reason) -> Element:
    """A test for a reason about the whole set, such as a mean below its floor."""
    about = [reason.rule.value, reason.metric, reason.tag]
    test = _test(suite, f"gate: {' '.join(part for part in about if part)}")
    test.append(_failure(reason, [reason]))
    return test


def _test(suite: str, name: str) -> Element:

    return Element("testcase", {"classname": _name(suite), "name": _name(name)})


def _failure(first: Reason, reasons: Sequence[Reason]) -> Element:
    failure = _element("failure", "\n".join(shortened(reason.text, MAX_TEXT) for reason in reasons))
    failure.attrib.update({"message": xml_text(shortened(first.text, MAX_TEXT)), "type": first.rule.value})
    return failure


def _figures(row: CaseRow, score: CaseScore) -> str:
    query = [] if row.drilldown is None else [f"query: {shortened(row.drilldown.query, MAX_TEXT)}"]
    figures = (f"{name}: {format_score(score.figures[name] or 0.0)}" for name in METRICS)
    return "\n".join([*query, f"first relevant rank: {first_rank(score.first_relevant_rank)}", *figures])


def _element(tag: str, text: str) -> Element:

    element = Element(tag)
    element.text = xml_text(text)
    return element


def _count(parent: Element, children: Sequence[Element]) -> None:
    """Set how many tests and failures `parent` holds: the sum over suites, or one per test."""
    tests = sum(int(child.get("tests", "1")) for child in children)
    failures = sum(int(child.get("failures", "0")) or len(child.findall("failure")) for child in children)
    parent.attrib.update({"tests": str(tests), "failures": str(failures), "errors": "0"})


def _name(text: str) -> str:
    """`text` as a name. Servers identify a test by it, so one that is cut ends in a digest of the whole."""
    if len(text) <= MAX_NAME:
        return xml_text(text)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return xml_text(f"{shortened(text, MAX_NAME)} ({digest})")


def xml_text(text: str) -> str:
    """`text` with U+FFFD for every character that XML 1.0 forbids."""
    return _FORBIDDEN.sub("\ufffd", text)
