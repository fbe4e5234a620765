"""Every warning of a run is in every report of a gate, and in the reports for people of the others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from cce.domain.full_report import FullReport
from cce.report.catalog import MARKS, RENDERERS
from cce.report.ci.github import render_github
from cce.report.ci.junit import render_junit
from cce.report.html.renderer import render_html
from cce.report.markdown.comment import MAX_CHARACTERS, render_markdown
from conftest import Run
from full_reports import HOSTILE, MISSED, full_report, gated
from trees import plant

FIRST, SECOND = "set.jsonl: 3 of 12 anchors match nothing", "gate.toml: policy: a limit that no set can see"
TWO = (FIRST, SECOND)
MANY = tuple(f"warning number {n}" for n in range(1, 9))


def warned(full: FullReport, *warnings: str) -> FullReport:
    return full._replace(warnings=warnings)


@pytest.mark.parametrize("name", RENDERERS)
def test_every_report_of_a_gate_has_every_warning(name: str) -> None:
    text = RENDERERS[name](warned(gated(MISSED), *TWO))
    plain = re.sub(r"&#(\d+);", lambda found: chr(int(found[1])), text).replace("%3A", ":")
    assert all(warning in plain for warning in TWO)


@pytest.mark.parametrize("name", ["text", "json"])
def test_text_and_json_without_a_gate_keep_their_bytes(name: str) -> None:
    assert RENDERERS[name](warned(full_report(), *TWO)) == RENDERERS[name](full_report())


@pytest.mark.parametrize("name", RENDERERS)
def test_a_report_that_starts_with_a_warning_is_known_as_ours(name: str) -> None:
    for full in (full_report(), gated(MISSED)):
        assert re.match(MARKS[name], RENDERERS[name](warned(full, *TWO)).encode())


def test_the_text_of_a_gate_has_a_line_for_each_behind_the_reasons() -> None:
    lines = RENDERERS["text"](warned(gated(MISSED), *TWO)).splitlines()
    assert lines == [
        "GATE: BLOCK",
        "  block:  critical case lost has no relevant result in its top 2",
        f"  warning: {FIRST}",
        f"  warning: {SECOND}",
    ]


def test_the_json_of_a_gate_has_an_array_of_texts() -> None:
    assert json.loads(RENDERERS["json"](warned(gated(MISSED), *TWO)))["warnings"] == [*TWO]
    assert json.loads(RENDERERS["json"](gated(MISSED)))["warnings"] == []


def test_a_suite_ends_with_the_warnings() -> None:
    suites = fromstring(render_junit(warned(full_report(), *TWO)))
    assert [suite[-1].tag for suite in suites] == ["system-err", "system-err"]
    assert [suite[-1].text for suite in suites] == ["\n".join(TWO)] * 2
    assert [suite.get("tests") for suite in suites] == ["3", "3"]
    assert fromstring(render_junit(full_report())).findall(".//system-err") == []


def test_annotations_have_at_most_five_warnings_and_say_how_many_more() -> None:
    lines = render_github(warned(full_report(), *MANY)).splitlines()
    assert lines[:5] == [
        *(f"::warning title=cce relevance::warning number {n}" for n in range(1, 5)),
        "::warning title=cce relevance::4 more warnings, which the log and the other reports show",
    ]
    assert [line[:8] for line in lines[5:]] == ["::notice"]
    assert render_github(warned(full_report(), *MANY[:5])).count("::warning title") == 5


def test_a_comment_lists_warnings_below_the_verdict_and_above_the_means() -> None:
    text = render_markdown(warned(gated(MISSED), *TWO))
    places = [text.index(part) for part in ("❌ **block:**", "❗ **warning:** set.jsonl", "| metric |")]
    assert places == sorted(places)


def test_a_comment_stays_short_however_many_warnings_there_are() -> None:
    text = render_markdown(warned(gated(MISSED), *[f"{n}: {'<@x>' * 90}" for n in range(400)]))
    assert len(text) <= MAX_CHARACTERS
    assert re.search(r"… and \d+ more warnings, cut to keep this comment short", text)


def test_a_hostile_warning_is_text() -> None:
    full = warned(full_report(), f"{HOSTILE}\n::error::x\x1b[31m")
    assert "<img" not in render_html(full)
    assert "<img" not in render_markdown(full)
    assert "@octocat" not in render_markdown(full)
    assert [line[:9] for line in render_github(full).splitlines()] == ["::warning", "::notice "]
    assert "\x1b" not in render_junit(full) + render_html(full) + render_markdown(full)


@pytest.mark.process
def test_the_commands_put_what_they_warn_of_into_their_reports(tmp_path: Path, run_cce: Run) -> None:
    case = {"query": "alpha", "expected": ["a.py", "gone.py"]}
    plant(tmp_path, {"src/a.py": "def alpha(): pass\n", "set.jsonl": json.dumps(case)})
    keys = {"schema": "cce.gate/v1", "fixtures": "set.jsonl", "dir": "src", "backend": "bm25"}
    policy = {**keys, "baseline": "b.json"}
    plant(tmp_path, {"gate.toml": "".join(f'{key} = "{value}"\n' for key, value in policy.items())})
    warning = "set.jsonl: 1 of 2 anchors match nothing in this corpus: q1 'gone.py' (not there)"
    names = ("markdown", "html", "junit", "github")
    reports = [word for name in names for word in ("--report", f"{name}={name}.out")]
    measured = run_cce("relevance", "set.jsonl", "--dir", "src", *reports, cwd=tmp_path)
    assert f"warning: {warning}".encode() in measured.stderr
    assert b"warning" not in measured.stdout
    seen = {name: (tmp_path / f"{name}.out").read_text("utf-8") for name in names}
    accepted = run_cce("gate", "gate.toml", "--accept", *reports, "--json", cwd=tmp_path)
    assert accepted.returncode == 0
    assert warning in json.loads(accepted.stdout)["warnings"]
    for name in names:
        for text in (seen[name], (tmp_path / f"{name}.out").read_text("utf-8")):
            assert "1 of 2 anchors match nothing in this corpus" in text
