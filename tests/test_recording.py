"""Recording a system: what is written, what a resumed run asks, and what an interrupted one leaves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from cce.domain.outside import Answer, FailedAnswer, OutsideResult, Question, ScopeRequest
from cce.errors import OutsideSystemError
from cce.interchange.run_file import read_run
from cce.retrieval.external.corpus_digest import corpus_digest
from cce.retrieval.external.saved_run import SavedRun
from cce.usecases.recording import Recorder, recorded
from corpora import index_files


class Engine:
    """Answers each question with its own text as a path; `fails_on` ends it, `refuses` is an error."""

    def __init__(self, fails_on: str = "", refuses: str = "") -> None:
        self.asked: list[str] = []
        self.fails_on, self.refuses = fails_on, refuses
        self.n_closed = 0

    def answer(self, questions: Sequence[Question]) -> Iterator[Answer]:
        for question in questions:
            self.asked.append(question.id)
            if question.id == self.fails_on:
                raise OutsideSystemError("system 'mine': died")
            refused = question.id == self.refuses
            yield FailedAnswer("no", "bad") if refused else (OutsideResult(f"{question.text}.py", 1, 2),)

    def close(self) -> None:
        self.n_closed += 1


QUESTIONS = [Question(name, name.upper(), 5) for name in "abcd"]


def record(engine: Engine, path: Path, *, is_resumed: bool = False, keeps_going: bool = True) -> list[Answer]:
    recorder = Recorder(str(path), "mine", lambda: {"version": "1.2", "name": None}, is_resumed=is_resumed)
    system = recorded(engine, recorder, keeps_going=keeps_going)
    try:
        answers = system.answer(QUESTIONS)
        return [next(answers) for _ in QUESTIONS]  # nobody looks behind the last answer
    finally:
        system.close()
        system.close()


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def replay(path: Path) -> list[Answer]:
    system = SavedRun("mine", read_run(str(path)))
    answers = list(system.answer(QUESTIONS))
    assert system.notices() == ()
    return answers


def test_what_came_is_written_and_replays(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    answers = record(Engine(refuses="b"), path)
    assert lines(path)[:3] == [
        {"schema": "cce.run/v1", "system": "mine", "version": "1.2"},
        {"id": "a", "k": 5, "query": "A", "results": [{"path": "A.py", "start": 1, "end": 2}]},
        {"id": "b", "k": 5, "query": "B", "error": {"code": "bad", "message": "no"}},
    ]
    assert replay(path) == answers
    assert [each.name for each in tmp_path.iterdir()] == ["mine.jsonl"]


def test_a_system_that_dies_leaves_the_old_file_and_a_part_to_resume(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text("old")
    with pytest.raises(OutsideSystemError):
        record(Engine(fails_on="c"), path)
    assert path.read_text() == "old"
    assert [line.get("id") for line in lines(tmp_path / "mine.jsonl.part")] == [None, "a", "b"]
    engine = Engine()
    resumed = record(engine, path, is_resumed=True)
    assert engine.asked == ["c", "d"]
    assert replay(path) == resumed
    whole = tmp_path / "whole.jsonl"
    assert record(Engine(), whole) == resumed
    assert path.read_bytes() == whole.read_bytes()


def test_failed_answers_are_asked_again_and_half_a_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    with pytest.raises(OutsideSystemError):
        record(Engine(fails_on="d", refuses="b"), path)
    with (tmp_path / "mine.jsonl.part").open("ab") as part:
        part.write(b'{"id": "d", "k": 5, "que')
    engine = Engine()
    record(engine, path, is_resumed=True)
    assert engine.asked == ["b", "d"]
    assert [line["id"] for line in lines(path)[1:]] == ["a", "b", "c", "d"]


def test_a_failed_answer_leaves_the_run_unfinished_unless_it_keeps_going(tmp_path: Path) -> None:
    record(Engine(refuses="d"), tmp_path / "a.jsonl", keeps_going=False)
    record(Engine(refuses="d"), tmp_path / "b.jsonl", keeps_going=True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.jsonl.part", "b.jsonl"]


def test_without_resume_everything_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    with pytest.raises(OutsideSystemError):
        record(Engine(fails_on="c"), path)
    engine = Engine()
    record(engine, path)
    assert engine.asked == ["a", "b", "c", "d"]


def test_a_reader_that_stops_early_leaves_the_part_only(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    engine = Engine()
    system = recorded(engine, Recorder(str(path), "mine", dict))
    next(system.answer(QUESTIONS))
    system.close()
    assert engine.n_closed == 1
    assert [each.name for each in tmp_path.iterdir()] == ["mine.jsonl.part"]


def test_a_system_that_was_asked_nothing_replaces_no_run(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text("old")
    recorded(Engine(), Recorder(str(path), "mine", dict)).close()
    assert path.read_text() == "old"


def test_a_question_is_written_once_and_each_way_to_ask_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    scope = ScopeRequest("s", "t", ("a/**",), ())
    questions = [
        Question("a", "A", 5),
        Question("a", "A", 5),
        Question("a", "A", 9),
        Question("a", "A", 5, None, 1),
        Question("a", "A", 5, scope),
        Question("a", "B", 5),
    ]
    system = recorded(Engine(), Recorder(str(path), "mine", dict))
    answers = list(system.answer(questions))
    system.close()
    assert len(lines(path)) == 6
    assert lines(path)[4]["scope"] == {"name": "s", "include": ["a/**"], "exclude": []}
    assert lines(path)[4]["tenant"] == "t"
    assert list(SavedRun("mine", read_run(str(path))).answer(questions)) == answers


def test_a_part_that_is_no_run_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    (tmp_path / "mine.jsonl.part").write_text("hello\nworld\n")
    with pytest.raises(OutsideSystemError, match=r"mine\.jsonl\.part:1: invalid JSON"):
        Recorder(str(path), "mine", dict, is_resumed=True).open()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutsideSystemError, match=r"none/mine\.jsonl: its directory does not exist, make"):
        Recorder(str(tmp_path / "none" / "mine.jsonl"), "mine", dict)


def change(files: dict[str, str], edit: Callable[[dict[str, str]], None]) -> str:
    edited = dict(files)
    edit(edited)
    return corpus_digest(index_files(edited))


def test_the_digest_of_a_corpus_changes_with_its_paths_and_its_text() -> None:
    files = {"a.txt": "alpha\n", "b.py": "# note\ndef f():\n    return 1\n"}
    digest = corpus_digest(index_files(files))
    assert len(digest) == 16
    assert change(files, lambda edited: None) == digest
    assert change(files, lambda edited: edited.update({"a.txt": "alphb\n"})) != digest
    assert change(files, lambda edited: edited.update({"c.txt": edited.pop("a.txt")})) != digest
    assert change(files, lambda edited: edited.update({"b.py": f"# longer\n{files['b.py']}"})) != digest
