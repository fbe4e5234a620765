"""Drafts beside cases, as the installed command treats them: skipped, with one notice."""

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
