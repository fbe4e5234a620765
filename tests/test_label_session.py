"""The labelling session: each answer is on disk at once, can be undone, and a later session goes on."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cce.errors import FixtureError, UsageError
from cce.labels.labelling import LabelSession, unlabelled_ids
from cce.labels.revision import Revision
from cce.measurement.fixtures.reading import read_fixture_set
from conftest import Run
from oracle import Oracle

CANDIDATES = [
    {"path": "a.py", "kind": "function_definition", "lines": [1, 2], "backends": ["bm25"]},
    {"path": "b.md", "kind": "module", "lines": [1, 1], "backends": ["bm25", "vector"]},
]


def draft(**keys: Any) -> dict[str, Any]:
    return {"id": "one", "query": "read", "k": 5, "candidates": CANDIDATES, **keys}


def write_set(folder: Path, *entries: dict[str, Any]) -> Path:
    path = folder / "set.jsonl"
    lines = [{"schema": "cce.relevance/v1", "corpus": "src"}, *entries]
    path.write_bytes("".join(json.dumps(line) + "\n" for line in lines).encode())
    return path


def entry(path: Path, number: int = 2) -> dict[str, Any]:
    value = json.loads(path.read_bytes().splitlines()[number - 1])
    assert isinstance(value, dict)
    return value


def judged(path: Path, number: int = 2) -> list[object]:
    return [candidate.get("judged") for candidate in entry(path, number)["candidates"]]


def session(path: Path, *ids: str) -> LabelSession:
    return LabelSession(Revision(str(path)), ids)


def test_yes_makes_a_label_of_the_lines_and_no_makes_none(tmp_path: Path) -> None:
    path = write_set(tmp_path, draft())
    labels = session(path)
    labels.answer(True)
    labels.answer(False)
    assert labels.current is None
    assert entry(path)["expected"] == ["a.py@1-2"]
    assert "grades" not in entry(path)
    assert judged(path) == [True, False]


def test_no_is_a_judgment_too_and_goes_to_irrelevant(tmp_path: Path) -> None:
    path = write_set(tmp_path, draft())
    labels = session(path)
    labels.answer(False)
    labels.answer(True)
    assert (entry(path)["irrelevant"], entry(path)["expected"]) == (["a.py@1-2"], ["b.md"])
    (case,) = read_fixture_set(str(path)).cases
    assert [place.text for place in case.irrelevant] == ["a.py@1-2"]


def test_none_of_the_rest_judges_the_open_candidates_of_one_query_and_is_one_step_to_undo(
    tmp_path: Path,
) -> None:
    path = write_set(tmp_path, draft(), draft(id="two"))
    before = path.read_bytes()
    labels = session(path)
    assert labels.reject_rest() == 2
    assert (judged(path), judged(path, 3)) == ([False, False], [None, None])
    assert entry(path)["irrelevant"] == ["a.py@1-2", "b.md"]
    assert (labels.n_answers, labels.n_passed) == (2, 2)
    assert labels.current is not None
    assert (labels.current.case_id, labels.current.path) == ("two", "a.py")
    assert labels.undo()
    assert path.read_bytes() == before
    assert (labels.n_answers, labels.n_passed) == (0, 0)


def test_what_was_skipped_is_not_of_the_rest(tmp_path: Path) -> None:
    path = write_set(tmp_path, draft())
    labels = session(path)
    labels.skip()
    assert labels.reject_rest() == 1
    assert judged(path) == [None, False]


def test_the_newer_judgment_stands_and_no_place_is_both(tmp_path: Path) -> None:
    path = write_set(tmp_path, draft(irrelevant=["a.py@1-2"], expected=["b.md"]))
    labels = session(path)
    labels.answer(True)
    assert "irrelevant" not in entry(path), "an empty array goes with its key"
    labels.answer(False)
    assert entry(path)["expected"] == ["b.md", "a.py@1-2"], "a label that somebody wrote stays"
    assert "irrelevant" not in entry(path)


def test_a_grade_is_kept_by_anchor_and_a_whole_file_is_named_without_lines(tmp_path: Path) -> None:
    path = write_set(tmp_path, draft())
    labels = session(path)
    labels.answer(3)
    labels.answer(1)
    assert entry(path)["expected"] == ["a.py@1-2", "b.md"]
    assert entry(path)["grades"] == {"a.py@1-2": 3, "b.md": 1}
    (case,) = read_fixture_set(str(path)).cases
    assert dict(case.grades) == {"a.py@1-2": 3, "b.md": 1}


def test_each_answer_is_on_disk_before_the_next_question(tmp_path: Path) -> None:
    path = write_set(tmp_path, draft())
    labels = session(path)
    labels.answer(True)
    assert judged(path) == [True, None]


def test_a_later_session_goes_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    path = write_set(tmp_path, draft(), draft(id="two"))
    first = session(path)
    first.skip()
    first.answer(False)
    again = session(path)
    assert again.n_open == 3
    assert again.current is not None
    assert (again.current.case_id, again.current.path) == ("one", "a.py"), "skipped, so asked again"


def test_undo_gives_back_the_very_bytes(tmp_path: Path) -> None:
    path = write_set(tmp_path, draft(mine=[1, {"x": 1.50}]))
    before = path.read_bytes()
    labels = session(path)
    labels.answer(2)
    labels.skip()
    assert labels.undo()
    assert labels.undo()
    assert not labels.undo()
    assert path.read_bytes() == before
    assert (labels.n_answers, labels.n_passed) == (0, 0)


def test_every_byte_besides_the_answer_stays(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    line = (
        b'{"id":"x","query" :"q","candidates":[ {"path":"a.py","kind":"f","lines":[1,2],"n":1.50}],"k":5}\r'
    )
    path.write_bytes(b"\xef\xbb\xbf\n" + line + b"\n\n" + b'{"query":"y","expected":["b.py"]}')
    session(path).answer(True)
    answered = line.replace(b"1.50}", b'1.50,"judged":true}').replace(
        b"5}\r", b'5,"expected":["a.py@1-2"]}\r'
    )
    assert path.read_bytes() == b"\xef\xbb\xbf\n" + answered + b"\n\n" + b'{"query":"y","expected":["b.py"]}'


def test_labels_that_are_there_stay_and_are_not_doubled(tmp_path: Path) -> None:
    path = write_set(tmp_path, draft(expected=["z.py", "a.py@1-2"]))
    session(path).answer(True)
    assert entry(path)["expected"] == ["z.py", "a.py@1-2"]


def test_a_set_that_somebody_else_changed_is_refused_and_the_answer_not_counted(tmp_path: Path) -> None:
    path = write_set(tmp_path, draft())
    labels = session(path)
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(UsageError, match="changed since it was read"):
        labels.answer(True)
    assert (labels.n_answers, labels.n_passed) == (0, 0)
    assert judged(path) == [None, None]


def test_a_path_that_no_anchor_can_name_is_no_label(tmp_path: Path) -> None:
    path = write_set(tmp_path, draft(candidates=[{"path": "c#/a.py", "kind": "f", "lines": [1, 2]}]))
    labels = session(path)
    with pytest.raises(UsageError, match="no anchor can name this path"):
        labels.answer(True)
    labels.answer(False)
    assert judged(path) == [False]


def test_only_some_cases_can_be_labelled_and_an_unknown_id_gets_help(tmp_path: Path) -> None:
    path = write_set(tmp_path, draft(), draft(id="two"))
    labels = session(path, "two")
    assert labels.n_open == 2
    with pytest.raises(UsageError, match=r"no case has the id 'tow'; did you mean 'two'\?"):
        session(path, "tow")


def test_cases_without_candidates_are_passed_over(tmp_path: Path) -> None:
    path = write_set(tmp_path, {"query": "x", "expected": ["a.py"]}, draft())
    assert session(path).n_open == 2
    assert unlabelled_ids(Revision(str(path))) == ["one"]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"query": "x", "candidates": 7}', "a draft needs a query and an array of candidates"),
        ('{"candidates": []}', "a draft needs a query and an array of candidates"),
        ('{"query": "x", "candidates": [7]}', "candidate 1 needs path, kind and lines"),
        ('{"query": "x", "candidates": [{"path": "a", "kind": "k", "lines": [2, 1]}]}', "candidate 1 needs"),
        ('{"query": ', "invalid JSON"),
    ],
)
def test_a_broken_draft_is_an_error_with_its_line(tmp_path: Path, line: str, fault: str) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(f"\n{line}\n")
    with pytest.raises(FixtureError) as caught:
        session(path)
    assert str(caught.value).startswith(f"{path}:2: {fault}")


# The command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_bytes(b"def read(path):\n    return '\x1b[2J'\n")
    (tmp_path / "src" / "b.md").write_bytes(b"How to read\n")
    write_set(tmp_path, draft())
    return tmp_path


def test_a_session_in_a_pipe(folder: Path, run_cce: Run) -> None:
    done = run_cce("fixtures", "label", "set.jsonl", cwd=folder, stdin=b"what\nY\nu\nn\n3\n")
    assert (done.returncode, done.stderr) == (0, b"")
    shown = done.stdout.decode()
    assert (
        "[1 of 2] one: read\na.py lines 1-2 (function_definition), found by bm25\n     1  def read(path):\n"
        in shown
    )
    assert "\x1b" not in shown, "code cannot take over the terminal"
    assert "undo: back to the one before" in shown, "an unknown answer is helped"
    assert shown.endswith("\n2 answers saved, 0 candidates still open\n")
    assert entry(folder / "set.jsonl")["expected"] == ["b.md"]
    assert judged(folder / "set.jsonl") == [False, 3]
    assert entry(folder / "set.jsonl")["irrelevant"] == ["a.py@1-2"]


def test_a_capital_n_rejects_the_rest_of_a_query_only(folder: Path, run_cce: Run) -> None:
    write_set(folder, draft(), draft(id="two"))
    done = run_cce("fixtures", "label", "set.jsonl", cwd=folder, stdin=b"N\nu\nn\nN\ny\nq\n")
    shown = done.stdout.decode()
    assert shown.count("2 candidates judged irrelevant\n") == 1, "undone"
    assert shown.count("1 candidate judged irrelevant\n") == 1
    assert judged(folder / "set.jsonl") == [False, False]
    assert judged(folder / "set.jsonl", 3) == [True, None]


def test_the_end_of_the_input_ends_the_session_and_open_cases_are_named(folder: Path, run_cce: Run) -> None:
    done = run_cce("fixtures", "label", "set.jsonl", cwd=folder, stdin=b"n\n")
    assert done.returncode == 0
    assert b"1 answers saved, 1 candidates still open\n" in done.stdout
    assert b"without a label, so skipped when the set is scored: 'one'\n" in done.stdout


def test_lines_that_are_gone_are_said_to_be(folder: Path, run_cce: Run) -> None:
    (folder / "src" / "a.py").write_bytes(b"")
    done = run_cce("fixtures", "label", "set.jsonl", cwd=folder, stdin=b"q\n")
    assert b"(the corpus no longer has these lines)" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminals")
@pytest.mark.process
def test_a_session_at_a_real_terminal(folder: Path) -> None:
    import pty

    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover - another process
        os.chdir(folder)
        os.execv(sys.executable, [sys.executable, "-m", "cce", "fixtures", "label", "set.jsonl"])
    shown = answer_at(terminal, [b"y\n", b"u\n", b"2\n", b"q\n"])
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert b"1 answers saved, 1 candidates still open" in shown
    assert entry(folder / "set.jsonl")["grades"] == {"a.py@1-2": 2}


def answer_at(terminal: int, answers: list[bytes]) -> bytes:
    """Type each answer when the question for it is there; everything that was shown."""
    shown, question = b"", b"h for help] "
    deadline = time.monotonic() + 60
    waiting = list(answers)
    n_asked = 0
    while time.monotonic() < deadline:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # how Linux says that the other side is gone
            break
        if not piece:
            break
        shown += piece
        if shown.count(question) > n_asked and waiting:
            n_asked += 1
            os.write(terminal, waiting.pop(0))
    os.close(terminal)
    return shown


def test_the_whole_life_of_a_label(tmp_path: Path, run_cce: Run) -> None:
    """Draft, label, pin, gate, the code moves, lint, reanchor, gate again."""
    source = tmp_path / "src"
    source.mkdir()
    (source / "store.py").write_bytes(b"def save(path, text):\n    open(path, 'w').write(text)\n")
    for n in range(8):
        (source / f"page{n}.md").write_bytes(b"Page %d\n" % n)

    def cce(*arguments: str, stdin: bytes = b"", code: int = 0) -> bytes:
        done = run_cce(*arguments, cwd=tmp_path, stdin=stdin)
        assert done.returncode == code, done.stderr
        return done.stdout

    cce(
        "fixtures",
        "draft",
        "--from",
        "-",
        "--dir",
        "src",
        "-o",
        "new.jsonl",
        stdin=b"save text under a path\n",
    )
    cce("fixtures", "label", "new.jsonl", stdin=b"".join(answers_for(tmp_path / "new.jsonl", "store.py")))
    cce("fixtures", "pin", "new.jsonl", "--write")
    cce("fixtures", "lint", "new.jsonl")
    before = cce("relevance", "new.jsonl", "--json")
    (tmp_path / "gate.toml").write_text(
        'schema = "cce.gate/v1"\nfixtures = "new.jsonl"\nbackend = "bm25"\nbaseline = "base.json"\n'
        "[floor]\nrecall = 1.0\n[drop]\nrecall = 0.0\n"
    )
    cce("gate", "gate.toml", "--accept")
    assert cce("gate", "gate.toml").startswith(b"GATE: GO\n")
    (source / "store.py").write_bytes(b"import os\n\n\n" + (source / "store.py").read_bytes())
    assert b"its text moved to 'store.py@4-5'" in cce("fixtures", "lint", "new.jsonl", code=1)
    cce("fixtures", "reanchor", "new.jsonl", "--write")
    cce("fixtures", "lint", "new.jsonl")
    assert cce("relevance", "new.jsonl", "--json") == before
    assert cce("gate", "gate.toml").startswith(b"GATE: GO\n")
    (source / "store.py").write_bytes(b"def keep(place, words):\n    pass\n")
    assert cce("gate", "gate.toml", code=1).startswith(b"GATE: BLOCK\n")


def test_the_whole_life_of_labels_on_a_real_package(tmp_path: Path, run_cce: Run, oracle: Oracle) -> None:
    """The same over express: real queries, real code, the function moved to another file."""
    shutil.copytree(oracle.unpack("express") / "express", tmp_path / "src")

    def cce(*arguments: str, stdin: bytes = b"", code: int = 0) -> bytes:
        done = run_cce(*arguments, cwd=tmp_path, stdin=stdin)
        assert done.returncode == code, done.stderr
        return done.stdout

    (tmp_path / "log.jsonl").write_text('{"query": "createETagGenerator"}\n{"query": "matchLayer"}\n')
    cce("fixtures", "draft", "--from", "log.jsonl", "--dir", "src", "-o", "set.jsonl")
    drafts = [json.loads(line) for line in (tmp_path / "set.jsonl").read_text().splitlines()[1:]]
    wanted = ["function createETagGenerator (options) {", "function matchLayer(layer, path) {"]
    answers = [
        b"y\n" if each["first_line"].startswith(right) else b"n\n"
        for draft, right in zip(drafts, wanted, strict=True)
        for each in draft["candidates"]
    ]
    assert answers.count(b"y\n") == 2
    cce("fixtures", "label", "set.jsonl", stdin=b"".join(answers))
    cce("fixtures", "pin", "set.jsonl", "--write")
    utils, moved = tmp_path / "src" / "lib" / "utils.js", tmp_path / "src" / "lib" / "etag.js"
    lines = utils.read_text().split("\n")
    moved.write_text("\n".join(["'use strict';", "", *lines[269:278], ""]))
    utils.write_text("\n".join([*lines[:269], *lines[278:]]))
    assert b"moved to 'lib/etag.js" in cce("fixtures", "lint", "set.jsonl", "--level", "error", code=1)
    cce("fixtures", "reanchor", "set.jsonl", "--write")
    assert b"lib/etag.js" in (tmp_path / "set.jsonl").read_bytes()
    cce("fixtures", "lint", "set.jsonl", "--level", "error")


def answers_for(path: Path, right: str) -> list[bytes]:
    """Yes for the candidates in one file, no for all others."""
    return [b"y\n" if each["path"] == right else b"n\n" for each in entry(path)["candidates"]]


@pytest.mark.parametrize("expected", [None, "a.py", 7, True, [1], ["a.py", None], {"a.py": 1}, [["a.py"]]])
def test_a_draft_whose_expected_is_no_array_of_anchors_is_refused_before_the_first_question(
    tmp_path: Path, expected: object
) -> None:
    path = write_set(tmp_path, draft(expected=expected))
    with pytest.raises(FixtureError, match=r"set\.jsonl:2: expected must be an array of anchor strings"):
        session(path)


@pytest.mark.parametrize("grades", [None, "a.py", 3, [], [1]])
def test_a_draft_whose_grades_are_no_object_is_refused(tmp_path: Path, grades: object) -> None:
    path = write_set(tmp_path, draft(grades=grades))
    with pytest.raises(FixtureError, match=r"set\.jsonl:2: grades must be an object of anchors"):
        session(path)


@pytest.mark.parametrize("lines", [[True, 2], [1, True], [1, 2**53 + 1], [0, 1], [2, 1], [1.0, 2], [1]])
def test_lines_of_a_candidate_are_two_integers_in_order(tmp_path: Path, lines: list[object]) -> None:
    path = write_set(tmp_path, draft(candidates=[{**CANDIDATES[0], "lines": lines}]))
    with pytest.raises(FixtureError, match=r"set\.jsonl:2: candidate 1 needs path, kind and lines"):
        session(path)


def test_an_empty_array_and_one_of_anchors_take_another_label(tmp_path: Path) -> None:
    path = write_set(tmp_path, draft(expected=[]), draft(id="two", expected=["c.py"], grades={"c.py": 1}))
    labels = session(path)
    labels.answer(True)
    labels.skip()
    labels.answer(2)
    assert entry(path, 2)["expected"] == ["a.py@1-2"]
    assert entry(path, 3)["expected"] == ["c.py", "a.py@1-2"]
    assert entry(path, 3)["grades"] == {"c.py": 1, "a.py@1-2": 2}
