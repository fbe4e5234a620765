"""`cce fixtures reanchor --ask` and `--similar` through the installed command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Run

pytestmark = pytest.mark.process

LOAD = "def load(path):\n    file = open(path)\n    text = file.read()\n    return text\n"
NOW = "import os\n" + LOAD.replace("path)", "path, mode)", 1).replace(
    "    return", "    log(text)\n    return"
)
OVERLOADS = "@overload\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\n"

ASKED = b"""
'load' 'a.py@1-4': its text changed, 'a.py@2-6' is similar (0.67)
  query: load a file
  1. as it was labelled                                | a.py@2-6
! (this line changed)                                  | def load(path, mode):
      file = open(path)                                |     file = open(path)
      text = file.read()                               |     text = file.read()
!                                                      |     log(text)
      return text                                      |     return text
take it? [y 1 n q]
"""


@pytest.fixture
def folder(tmp_path: Path, run_cce: Run) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(LOAD)
    (tmp_path / "src" / "b.py").write_text(OVERLOADS)
    lines = [
        {"schema": "cce.relevance/v1", "corpus": "src"},
        {"id": "load", "query": "load a file", "expected": ["a.py@1-4"]},
        {"id": "f", "query": "overloaded f", "expected": ["b.py@2-2"]},
    ]
    (tmp_path / "set.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    run_cce("fixtures", "pin", "set.jsonl", "--write", cwd=tmp_path)
    (tmp_path / "src" / "a.py").write_text(NOW)
    (tmp_path / "src" / "b.py").write_text(OVERLOADS.replace("a:", "b:"))
    return tmp_path


def anchors(folder: Path) -> list[str]:
    lines = (folder / "set.jsonl").read_text().splitlines()
    return [anchor for line in lines[1:] for anchor in json.loads(line)["expected"]]


def test_each_edited_label_is_shown_beside_its_old_text(folder: Path, run_cce: Run) -> None:
    done = run_cce("fixtures", "reanchor", "set.jsonl", "--ask", "--write", cwd=folder, stdin=b"y\n2\n")
    assert done.returncode == 0
    assert ASKED in done.stderr
    assert anchors(folder) == ["a.py@2-6", "b.py@4-4"]
    assert done.stdout.endswith(b"2 of 2 stale anchors re-anchored -> set.jsonl\n")
    assert run_cce("fixtures", "reanchor", "set.jsonl", cwd=folder).stdout == b""


@pytest.mark.parametrize("typed", [b"", b"q\n", b"n\nn\n", b"what\nn\nq\n"])
def test_a_no_a_quit_and_the_end_of_the_input_leave_the_labels(
    folder: Path, run_cce: Run, typed: bytes
) -> None:
    before = (folder / "set.jsonl").read_bytes()
    done = run_cce("fixtures", "reanchor", "set.jsonl", "--ask", "--write", cwd=folder, stdin=typed)
    assert done.returncode == 0
    assert (folder / "set.jsonl").read_bytes() == before


def test_what_is_similar_enough_is_not_asked_about(folder: Path, run_cce: Run) -> None:
    options = ("--ask", "--similar", "0.6", "--write")
    done = run_cce("fixtures", "reanchor", "set.jsonl", *options, cwd=folder, stdin=b"1\n")
    assert done.stderr.count(b"take it?") == 1
    assert anchors(folder) == ["a.py@2-6", "b.py@2-2"]


def test_without_write_the_questions_lead_to_a_diff(folder: Path, run_cce: Run) -> None:
    done = run_cce("fixtures", "reanchor", "set.jsonl", "--ask", cwd=folder, stdin=b"y\nn\n")
    assert done.stdout.startswith(b"--- set.jsonl\n+++ set.jsonl\n@@")
    assert anchors(folder) == ["a.py@1-4", "b.py@2-2"]


@pytest.mark.parametrize("ratio", ["1.5", "-1", "most"])
def test_a_ratio_lies_between_0_and_1(folder: Path, run_cce: Run, ratio: str) -> None:
    done = run_cce("fixtures", "reanchor", "set.jsonl", "--similar", ratio, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
