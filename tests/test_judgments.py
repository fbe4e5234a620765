"""Drafts beside cases, and the commands that add, clear away and count judgments, as installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from trees import write_set

READ = "def read(path):\n    return open(path).read()\n"
CANDIDATE = {"path": "a.py", "kind": "function_definition", "lines": [1, 2], "backends": ["bm25"]}
CASE = {"id": "read", "query": "read a file", "expected": ["a.py@1-2"], "k": 1}
DRAFT = {"id": "open", "query": "open a path", "k": 3, "candidates": [CANDIDATE]}
SKIPPED = (
    b"warning: set.jsonl: 1 draft without a label is skipped: open; to label: cce fixtures label set.jsonl\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a corpus and a set of one case and one draft."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_bytes(READ.encode())
    for n in range(8):
        (tmp_path / "src" / f"page{n}.md").write_bytes(b"Page %d to read\n" % n)
    write_set(tmp_path, CASE, DRAFT)
    return tmp_path


def entry(folder: Path, number: int) -> dict[str, Any]:
    """The object in a line of the set; the header is line 1."""
    value = json.loads((folder / "set.jsonl").read_bytes().splitlines()[number - 1])
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize(
    "arguments", [("relevance",), ("fixtures", "lint"), ("fixtures", "pin"), ("fixtures", "reanchor")]
)
def test_a_draft_is_skipped_with_one_notice(folder: Path, run_cce: Run, arguments: tuple[str, ...]) -> None:
    done = run_cce(*arguments, "set.jsonl", cwd=folder)
    assert (done.returncode, done.stderr.count(SKIPPED)) == (0, 1), done.stderr
    assert done.stderr.count(b"draft") == 1


def test_a_draft_changes_no_byte_of_a_report(folder: Path, run_cce: Run) -> None:
    with_draft = run_cce("relevance", "set.jsonl", "--json", cwd=folder)
    write_set(folder, CASE)
    without = run_cce("relevance", "set.jsonl", "--json", cwd=folder)
    assert with_draft.stdout == without.stdout != b""
    assert b"draft" not in without.stderr


def test_a_gate_says_in_its_reports_that_a_draft_was_skipped(folder: Path, run_cce: Run) -> None:
    (folder / "gate.toml").write_text(
        'schema = "cce.gate/v1"\nfixtures = "set.jsonl"\nbackend = "bm25"\nbaseline = "base.json"\n'
        "[floor]\nrecall = 1.0\n"
    )
    done = run_cce("gate", "gate.toml", "--accept", "--report", "json=gate.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(SKIPPED) == 1
    warnings = json.loads((folder / "gate.json").read_bytes())["warnings"]
    assert [text for text in warnings if "1 draft without a label is skipped" in text]


@pytest.mark.parametrize("command", [("relevance",), ("fixtures", "lint"), ("fixtures", "pin")])
def test_a_line_without_label_and_candidates_stays_an_error(
    folder: Path, run_cce: Run, command: tuple[str, ...]
) -> None:
    write_set(folder, CASE, {**DRAFT, "candidates": []})
    done = run_cce(*command, "set.jsonl", cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: set.jsonl:3: expected is missing, and no candidate is there")


# add


def add(folder: Path, run_cce: Run, *arguments: str) -> str:
    done = run_cce("fixtures", "add", "set.jsonl", *arguments, cwd=folder)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr
    return done.stdout.decode()


def test_add_writes_an_answer_and_its_grade_and_no_other_byte(folder: Path, run_cce: Run) -> None:
    before = (folder / "set.jsonl").read_bytes()
    said = add(folder, run_cce, "read", "page3.md", "--grade", "2")
    assert said == "'page3.md' with grade 2 added to 'read' -> set.jsonl\n"
    assert (folder / "set.jsonl").read_bytes() == before.replace(
        b'["a.py@1-2"], "k": 1}', b'["a.py@1-2", "page3.md"], "k": 1, "grades": {"page3.md": 2}}'
    )


def test_add_makes_a_case_of_a_draft(folder: Path, run_cce: Run) -> None:
    add(folder, run_cce, "open", "a.py@1-2")
    assert entry(folder, 3) == {**DRAFT, "expected": ["a.py@1-2"]}
    assert b"draft" not in run_cce("relevance", "set.jsonl", cwd=folder).stderr


def test_an_answer_is_no_longer_irrelevant(folder: Path, run_cce: Run) -> None:
    write_set(folder, {**CASE, "irrelevant": ["page1.md", "page2.md"]})
    add(folder, run_cce, "read", "page1.md")
    assert entry(folder, 2)["irrelevant"] == ["page2.md"]
    add(folder, run_cce, "read", "page2.md")
    assert entry(folder, 2) == {**CASE, "expected": ["a.py@1-2", "page1.md", "page2.md"]}


def test_an_answer_that_is_there_is_not_doubled_however_it_is_spelled(folder: Path, run_cce: Run) -> None:
    before = (folder / "set.jsonl").read_bytes()
    assert "is an answer of 'read' already" in add(folder, run_cce, "read", "a.py@01-02")
    assert (folder / "set.jsonl").read_bytes() == before
    add(folder, run_cce, "read", "a.py@01-02", "--grade", "3")
    assert entry(folder, 2)["grades"] == {"a.py@1-2": 3}


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("raed", "a.py"), "set.jsonl: no case has the id 'raed'; did you mean 'read'?"),
        (("read", "b.py"), "'b.py': the corpus has no such file; did you mean 'a.py'?"),
        (("read", "a.py@3-9"), "'a.py@3-9': the file has 2 lines, name some of them"),
        (("read", "a.py@9-3"), "anchor 'a.py@9-3' has a line range that is not 1 <= a <= b"),
        (("read", "a.py#"), "anchor 'a.py#' has an empty kind after '#'"),
        (("read", ""), "anchor '' names no path and no kind"),
    ],
)
def test_a_bad_place_or_id_is_refused_and_nothing_written(
    folder: Path, run_cce: Run, arguments: tuple[str, str], fault: str
) -> None:
    before = (folder / "set.jsonl").read_bytes()
    done = run_cce("fixtures", "add", "set.jsonl", *arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"error: {fault}")
    assert (folder / "set.jsonl").read_bytes() == before


@pytest.mark.parametrize("grade", ["0", "4", "x"])
def test_a_grade_is_1_2_or_3(folder: Path, run_cce: Run, grade: str) -> None:
    done = run_cce("fixtures", "add", "set.jsonl", "read", "a.py", "--grade", grade, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ({"expected": None}, "expected must be an array of anchor strings"),
        ({"expected": [7]}, "expected must be an array of anchor strings"),
        ({"irrelevant": "a.py"}, "irrelevant must be an array of anchor strings"),
        ({"grades": []}, "grades must be an object of anchors"),
        ({"k": 0}, "k must be a positive integer, got 0"),
    ],
)
def test_a_line_that_is_broken_gets_no_answer(
    folder: Path, run_cce: Run, keys: dict[str, Any], fault: str
) -> None:
    write_set(folder, {**CASE, **keys})
    done = run_cce("fixtures", "add", "set.jsonl", "read", "page1.md", cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"error: set.jsonl:2: {fault}")


def test_an_id_that_two_cases_have_is_refused(folder: Path, run_cce: Run) -> None:
    write_set(folder, CASE, CASE)
    done = run_cce("fixtures", "add", "set.jsonl", "read", "page1.md", cwd=folder)
    assert done.returncode == 2
    assert b"2 cases have the id 'read' (lines 2, 3), give each its own" in done.stderr


def test_without_a_known_corpus_a_place_is_taken_as_typed(folder: Path, run_cce: Run) -> None:
    (folder / "set.jsonl").write_bytes(b'\xef\xbb\xbf{"query":"q","expected":["a.py"]}\r\n')
    add(folder, run_cce, "q1", "gone.py")
    assert (folder / "set.jsonl").read_bytes() == (
        b'\xef\xbb\xbf{"query":"q","expected":["a.py","gone.py"]}\r\n'
    )


# clean


def test_clean_drops_candidates_and_keeps_judgments(folder: Path, run_cce: Run) -> None:
    judged = [
        {**CANDIDATE, "judged": True},
        {**CANDIDATE, "path": "page1.md", "kind": "module", "lines": [1, 1], "judged": False},
        {**CANDIDATE, "path": "page2.md", "kind": "module", "lines": [1, 1]},
    ]
    write_set(folder, {**CASE, "candidates": judged, "mine": 1.5}, DRAFT, {**CASE, "id": "plain"})
    before = (folder / "set.jsonl").read_bytes()
    left = (
        b"warning: set.jsonl:3: 'open' has no label and keeps its candidates: label it, or remove the line\n"
    )

    shown = run_cce("fixtures", "clean", "set.jsonl", cwd=folder)
    summary = b"candidates dropped: 3 of 1 case, 1 of them unjudged"
    assert shown.stderr == left + summary + b"; nothing is written without --write\n"
    assert shown.stdout.startswith(b"--- set.jsonl\n+++ set.jsonl\n@@ ")
    assert (folder / "set.jsonl").read_bytes() == before

    done = run_cce("fixtures", "clean", "set.jsonl", "--write", cwd=folder)
    assert (done.stdout, done.stderr) == (summary + b" -> set.jsonl\n", left)
    assert entry(folder, 2) == {**CASE, "mine": 1.5, "irrelevant": ["page1.md"]}
    assert (folder / "set.jsonl").read_bytes().splitlines()[2:] == before.splitlines()[2:]

    again = run_cce("fixtures", "clean", "set.jsonl", "--write", cwd=folder)
    assert again.stdout == b"candidates dropped: 0 of 0 cases, 0 of them unjudged -> set.jsonl\n"


def test_a_broken_candidate_is_refused_and_nothing_written(folder: Path, run_cce: Run) -> None:
    write_set(folder, {**CASE, "candidates": [{"path": "a.py"}]})
    before = (folder / "set.jsonl").read_bytes()
    done = run_cce("fixtures", "clean", "set.jsonl", "--write", cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: set.jsonl:2: candidate 1 needs path, kind and lines [a, b]")
    assert (folder / "set.jsonl").read_bytes() == before
