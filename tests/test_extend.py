"""`cce fixtures draft --extend`: what systems return and nobody judged becomes candidates of the cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cce.labels.draft import PooledChunk
from cce.labels.extending import with_candidates
from conftest import Run
from corpora import make_chunk

CHUNK = make_chunk("a.txt", "alpha")
FOUND = PooledChunk(CHUNK, ("bm25",))
ADDED = {
    "path": "a.txt",
    "kind": CHUNK.kind,
    "lines": [CHUNK.start_line, CHUNK.end_line],
    "first_line": "alpha",
    "backends": ["bm25"],
}


def line_of(**keys: Any) -> bytes:
    return json.dumps({"query": "q", "expected": ["b.txt"], **keys}).encode()


def test_a_new_candidate_stands_behind_the_others_and_all_else_keeps_its_bytes() -> None:
    other = {"path": "b.txt", "kind": "module", "lines": [1, 2], "judged": False}
    line = (
        b'{"query":"q",  "odd": 1e2,"expected":["b.txt"],"candidates":[' + json.dumps(other).encode() + b"]}"
    )
    extended = with_candidates(line, [FOUND])
    assert extended.n_added == 1
    assert extended.line.startswith(line[:-2])
    assert json.loads(extended.line)["candidates"] == [other, ADDED]


def test_a_line_without_candidates_gets_the_key() -> None:
    extended = with_candidates(line_of(), [FOUND])
    assert json.loads(extended.line) == {"query": "q", "expected": ["b.txt"], "candidates": [ADDED]}


def test_a_candidate_that_is_there_gets_the_systems_that_it_lacks_once() -> None:
    known = {**ADDED, "backends": ["vector"], "judged": False}
    extended = with_candidates(line_of(candidates=[known]), [FOUND])
    assert extended.n_added == 0
    assert json.loads(extended.line)["candidates"] == [{**known, "backends": ["vector", "bm25"]}]
    assert with_candidates(extended.line, [FOUND]) == extended


def test_nothing_found_leaves_the_line_as_it_is() -> None:
    assert with_candidates(line_of(), []) == (line_of(), 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name, text in (("a", "alpha pin\n"), ("b", "alpha gamma\n"), ("c", "alpha alpha\n")):
        (tmp_path / "docs" / f"{name}.txt").write_text(text)
    return tmp_path


def write_set(folder: Path, *lines: dict[str, Any]) -> Path:
    header = {"schema": "cce.relevance/v1", "corpus": "docs"}
    path = folder / "set.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, *lines)))
    return path


def extend(run_cce: Run, folder: Path, *options: str) -> tuple[int, str, str]:
    done = run_cce("fixtures", "draft", "--extend", "set.jsonl", *options, cwd=folder)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.process
def test_judged_results_are_no_candidates(run_cce: Run, folder: Path) -> None:
    path = write_set(
        folder,
        {"id": "one", "query": "alpha", "expected": ["a.txt"], "irrelevant": ["b.txt"]},
        {"id": "two", "query": "pin", "expected": ["a.txt"]},
    )
    assert extend(run_cce, folder, "--backend", "bm25") == (
        0,
        "1 candidate added to 1 of 2 cases -> set.jsonl\n",
        "",
    )
    one, two = (json.loads(line) for line in path.read_text().splitlines()[1:])
    assert [candidate["path"] for candidate in one["candidates"]] == ["c.txt"]
    assert "candidates" not in two
    before = path.read_bytes()
    assert (
        extend(run_cce, folder, "--backend", "bm25")[1] == "0 candidates added to 0 of 2 cases -> set.jsonl\n"
    )
    assert path.read_bytes() == before


@pytest.mark.process
def test_a_draft_is_extended_and_an_answer_ends_it(run_cce: Run, folder: Path) -> None:
    candidate = {"path": "a.txt", "kind": "module", "lines": [1, 2], "backends": ["vector"]}
    path = write_set(folder, {"id": "open", "query": "alpha pin", "k": 2, "candidates": [candidate]})
    # bm25 returns a, which is there, and c: both hold a word of the query, and c holds its word twice.
    assert (
        extend(run_cce, folder, "--backend", "bm25")[1] == "1 candidate added to 1 of 1 case -> set.jsonl\n"
    )
    draft = json.loads(path.read_text().splitlines()[1])
    assert [(each["path"], each["backends"]) for each in draft["candidates"]] == [
        ("a.txt", ["vector", "bm25"]),
        ("c.txt", ["bm25"]),
    ]


@pytest.mark.process
def test_a_saved_run_is_asked_for_its_own_cases(run_cce: Run, folder: Path) -> None:
    path = write_set(folder, {"id": "one", "query": "alpha", "expected": ["a.txt"]})
    (folder / "mine.run").write_text("one Q0 b.txt@1-2 1 3 t\none Q0 gone.txt 2 2 t\n")
    code, printed, _ = extend(run_cce, folder, "--run", "mine=mine.run")
    assert (code, printed) == (0, "1 candidate added to 1 of 1 case -> set.jsonl\n")
    (candidate,) = json.loads(path.read_text().splitlines()[1])["candidates"]
    assert (candidate["path"], candidate["lines"], candidate["backends"]) == ("b.txt", [1, 2], ["mine"])


@pytest.mark.process
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "error: give --from FILE to draft new cases, or --extend SET to add to those of a set"),
        (("--from", "-", "--extend", "set.jsonl"), "error: give --from FILE to draft new cases, or --extend"),
        (("--extend", "set.jsonl", "-o", "x.jsonl"), "error: --extend writes to its set, so leave out -o"),
        (("--extend", "gone.jsonl"), "error: gone.jsonl: cannot read the fixture set"),
        (("--extend", "bad.jsonl", "--dir", "docs"), "error: bad.jsonl:1: "),
        (
            ("--extend", "set.jsonl", "--backend", "bm52"),
            "error: unknown backend 'bm52'; did you mean 'bm25'?",
        ),
    ],
)
def test_a_typing_error_is_one_line_and_writes_nothing(
    run_cce: Run, folder: Path, options: tuple[str, ...], message: str
) -> None:
    path = write_set(folder, {"id": "one", "query": "alpha", "expected": ["a.txt"]})
    (folder / "bad.jsonl").write_text('{"query": "alpha", "candidates": [{"path": 1}]}\n')
    before = path.read_bytes()
    done = run_cce("fixtures", "draft", *options, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(message)
    assert path.read_bytes() == before
