"""`cce fixtures status`: what is labelled, what each system found, and how old the labelled text is."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cce.usecases.git_blame import _parse
from conftest import Run

DAY = 86_400
NEWEST = 1_700_000_000


def test_each_line_has_the_time_of_its_commit_and_an_uncommitted_one_has_none() -> None:
    a, b, none = "a" * 40, "b" * 40, "0" * 40
    porcelain = (
        f"{a} 1 1 2\nauthor x\ncommitter-time 100\nfilename f\n\tone\n{a} 2 2\n\ttwo\n"
        f"{none} 3 3 1\nauthor y\ncommitter-time 999\nfilename f\n\tthree\n"
        f"{b} 4 4 1\ncommitter-time 300\nfilename f\n\t{a} 9 9\n{a} 3 5 1\n\tfive\n"
    )
    assert _parse(porcelain.encode()) == [100, 100, None, 300, 100]


def git(folder: Path, *arguments: str, days_ago: int = 0) -> None:
    when = f"{NEWEST - days_ago * DAY} +0000"
    environment = {
        **os.environ,
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_DATE": when,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, env=environment
    )


def commit(folder: Path, name: str, text: str, days_ago: int) -> None:
    (folder / "docs" / name).write_text(text)
    git(folder, "add", "docs")
    git(folder, "commit", "-q", "-m", name, days_ago=days_ago)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    return tmp_path


def write_set(folder: Path, *lines: dict[str, Any]) -> None:
    header = {"schema": "cce.relevance/v1", "corpus": "docs"}
    (folder / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in (header, *lines)))


def status(run_cce: Run, folder: Path) -> dict[str, Any]:
    done = run_cce("fixtures", "status", "set.jsonl", "--json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def candidate(path: str, *backends: str, **judged: object) -> dict[str, object]:
    return {"path": path, "kind": "module", "lines": [1, 1], "backends": list(backends), **judged}


@pytest.mark.process
def test_candidates_are_counted_by_the_systems_that_found_them(run_cce: Run, folder: Path) -> None:
    write_set(
        folder,
        {
            "query": "one",
            "expected": ["a.txt"],
            "irrelevant": ["b.txt"],
            "candidates": [
                candidate("a.txt", "bm25", "mine", judged=2),
                candidate("b.txt", "mine", judged=False),
                candidate("c.txt", "mine"),
            ],
        },
        {"query": "two", "candidates": [candidate("a.txt", "bm25")]},
        {"query": "three", "expected": ["c.txt"]},
    )
    found = status(run_cce, folder)
    assert (found["cases"], found["drafts"], found["answers"], found["irrelevant"]) == (2, 1, 2, 1)
    assert (found["open_cases"], found["open_candidates"]) == (2, 2)
    assert found["systems"] == {
        "bm25": {"answer": 1, "no_answer": 0, "open": 1},
        "mine": {"answer": 1, "no_answer": 1, "open": 1},
    }
    assert found["ages"] is None


@pytest.mark.process
def test_ages_count_back_from_the_last_commit_and_a_range_has_that_of_its_lines(
    run_cce: Run, folder: Path
) -> None:
    git(folder, "init", "-q")
    commit(folder, "old.txt", "one\ntwo\n", days_ago=400)
    commit(folder, "old.txt", "one\ntwo\nthree\n", days_ago=90)
    commit(folder, "mid.txt", "one\n", days_ago=30)
    commit(folder, "new.txt", "one\n", days_ago=0)
    (folder / "docs" / "draft.txt").write_text("in no commit\n")
    anchors = ["old.txt@1-2", "old.txt", "mid.txt", "new.txt", "draft.txt", "gone.txt", "#module"]
    write_set(folder, {"query": "one", "expected": anchors})
    found = status(run_cce, folder)
    assert found["ages"] == [
        {"under_days": 30, "labels": 1},  # new
        {"under_days": 90, "labels": 1},  # mid: 30 days are not under 30
        {"under_days": 365, "labels": 1},  # old.txt, whose third line is 90 days old
        {"under_days": None, "labels": 1},  # its first two lines
    ]
    assert found["ageless"] == 3
    text = run_cce("fixtures", "status", "set.jsonl", cwd=folder).stdout.decode()
    assert text.endswith(
        "  labels by the age of their text, up to the last commit\n"
        "  under 30 days                        1\n"
        "  under 90 days                        1\n"
        "  under 365 days                       1\n"
        "  365 days and more                    1\n"
        "  in no commit, or of an unknown file  3\n"
    )


@pytest.mark.process
def test_without_a_corpus_there_are_no_ages_and_the_rest_is_said(run_cce: Run, folder: Path) -> None:
    (folder / "set.jsonl").write_text('{"query": "one", "expected": ["a.txt"]}\n')
    done = run_cce("fixtures", "status", "set.jsonl", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert text.startswith("set.jsonl\n  labelled: 1 case, 1 answer, 0 irrelevant places\n")
    assert "  ages    : set.jsonl: no corpus: give --dir DIR" in text


@pytest.mark.process
def test_a_broken_candidate_is_one_line(run_cce: Run, folder: Path) -> None:
    write_set(folder, {"query": "one", "candidates": [{"path": 1}]})
    done = run_cce("fixtures", "status", "set.jsonl", cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("error: set.jsonl:2: candidate 1 needs path, kind and lines")
