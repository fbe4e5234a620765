"""A program that ranks: its faults, each by a real process, end in one line and leave nothing running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cce.domain.outside import Answer, FailedAnswer, OutsideResult, Question, ScopeRequest
from cce.domain.systems import Program
from cce.errors import OutsideSystemError
from cce.retrieval.external.program import ProgramSystem

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.name != "posix", reason="looks for processes of a group"),
]

LIAR = str(Path(__file__).with_name("lying_program.py"))


class Log:
    """What the processes of a program noted."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def pids(self) -> list[int]:
        return [line["pid"] for line in self.lines() if "pid" in line]

    def batches(self) -> list[list[str]]:
        return [[query["id"] for query in line["queries"]] for line in self.lines() if "queries" in line]


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Log]:
    """What was noted; at the end no process that noted anything may run."""
    log = Log(tmp_path / "log")
    monkeypatch.setenv("LOG", str(log.path))
    yield log
    for pid in log.pids() if log.path.exists() else []:
        assert not is_running(pid)


def is_running(pid: int) -> bool:
    """Whether a process is alive; one that waits for its parent to notice its end is not."""
    state = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, check=False).stdout
    return state.strip()[:1] not in (b"Z", b"")


def program(behaviour: str, **changes: Any) -> Program:
    given = {"env": ("LOG", "MAX_BATCH"), "folder": "", "start_timeout": 20.0, "timeout": 20.0}
    return Program((sys.executable, LIAR, behaviour), **{**given, **changes})


def ask(
    behaviour: str, *texts: str, keeps_going: bool = False, name: str = "mine", **changes: Any
) -> list[Answer]:
    system = ProgramSystem(name, program(behaviour, **changes), None, keeps_going=keeps_going)
    ids = ["c"] if len(texts) == 1 else [f"c{number}" for number in range(len(texts))]
    try:
        return list(system.answer([Question(*each, 5) for each in zip(ids, texts, strict=True)]))
    finally:
        system.close()


def fault_of(behaviour: str, *texts: str, **changes: Any) -> str:
    with pytest.raises(OutsideSystemError) as caught:
        ask(behaviour, *(texts or ("fault",)), **changes)
    message = str(caught.value)
    assert "\n" not in message
    return message


A, B = OutsideResult("a.py", 3, 9), OutsideResult("b.py")


def test_answers_come_in_the_order_of_the_questions(log: Log) -> None:
    assert ask("honest", "a.py:3-9 b.py", "b.py", "") == [(A, B), (B,), ()]
    assert log.batches() == [["c0", "c1", "c2"]]


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("max_batch", ["1", "2", "64"])
def test_answers_depend_on_neither_batches_nor_processes(
    log: Log, monkeypatch: pytest.MonkeyPatch, processes: int, max_batch: str
) -> None:
    monkeypatch.setenv("MAX_BATCH", max_batch)
    texts = [f"{number}.py" for number in range(20)]
    assert ask("honest", *texts, processes=processes) == [(OutsideResult(text),) for text in texts]
    assert max(map(len, log.batches())) <= int(max_batch)
    assert sorted(name for batch in log.batches() for name in batch) == sorted(
        f"c{number}" for number in range(20)
    )


def test_a_program_that_takes_no_batches_gets_one_query_a_request(log: Log) -> None:
    assert ask("singles", "a.py:3-9", "b.py") == [(A,), (B,)]
    assert log.batches() == [["c0"], ["c1"]]


def test_the_same_case_with_another_k_travels_apart(log: Log) -> None:
    system = ProgramSystem("mine", program("honest"), None)
    texts = Question("x", "a.py:3-9 b.py", 1), Question("x", "a.py:3-9 b.py", 2), Question("y", "b.py", 1)
    assert list(system.answer(texts)) == [(A,), (A, B), (B,)]
    assert list(system.answer([])) == []
    system.close()
    assert log.batches() == [["x", "y"], ["x"]]
    assert len(log.pids()) == 1


def test_a_program_is_told_the_corpus_and_the_scope_and_names_itself(log: Log, tmp_path: Path) -> None:
    system = ProgramSystem("mine", program("honest"), str(tmp_path))
    scope = ScopeRequest("current", "acme", ("src/**",), ("old/**",))
    assert system.facts == {}
    assert list(system.answer([Question("x", "b.py", 1, scope)])) == [(B,)]
    assert system.facts == {"name": "liar", "version": "1.2"}
    system.close()
    _, hello, search = log.lines()
    assert hello == {
        "op": "hello",
        "protocol": ["cce.retriever/v1"],
        "corpus": str(tmp_path),
        "capabilities": ["batch", "scope"],
    }
    assert search["queries"][0] == {
        "id": "x",
        "query": "b.py",
        "k": 1,
        "scope": {"name": "current", "tenant": "acme", "include": ["src/**"], "exclude": ["old/**"]},
    }


def test_a_scope_is_kept_from_a_program_that_does_not_take_it(log: Log) -> None:
    system = ProgramSystem("mine", program("singles"), None)
    list(system.answer([Question("x", "b.py", 1, ScopeRequest("current", None, None, ()))]))
    system.close()
    assert "scope" not in log.lines()[-1]["queries"][0]


def test_a_program_starts_beside_the_systems_file_with_the_basics_of_the_environment(
    log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "RUNNER_TEMP", "SECRET", "LC_TIME", "INDEX_DIR"):
        monkeypatch.setenv(name, "C")
    ask("honest", "b.py", folder=str(tmp_path), env=("LOG", "INDEX_DIR", "NOT_SET"))
    noted = log.lines()[0]
    assert noted["folder"] == os.path.realpath(tmp_path)
    assert set(noted["environment"]) >= {"LOG", "INDEX_DIR", "PATH", "HOME", "LC_TIME"}
    assert not {"GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "RUNNER_TEMP", "SECRET"} & {*noted["environment"]}


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "ACTIONS_CACHE_URL", "runner_temp"])
def test_a_table_cannot_hand_on_what_belongs_to_the_ci(name: str) -> None:
    assert fault_of("honest", env=(name,)) == (
        f"system 'mine': env: {name} belongs to the CI and reaches no system: "
        "pass the value under another name"
    )


FAULTS = {
    "print": "sends no cce.retriever/v1 (JSON is malformed: invalid character (byte 0)): "
    "'Loading model... 100%': only cce.retriever/v1 belongs on standard output",
    "half-line": """ended with exit code 0 in the middle of a line: '{"id": 1, "resu'""",
    "wrong-id": 'answers request 99 where 1 was asked: \'{"id": 99, ',
    "dies": "ended with exit code 7 before it answered",
    "killed": "was ended by SIGKILL before it answered",
    "flood": "ended with exit code 3 before it answered; its standard error ends with '…xxx",
    "long": 'sends a line of more than 16,777,216 bytes: \'{"id": "xxx',
    "nan": "sends no cce.retriever/v1 (JSON is malformed: invalid character (byte ",
    "latin-1": 'sends text that is not UTF-8: \'{"id": 1, ',
    "missing": "leaves 1 query unanswered, the first is 'c'",
    "extra": "answers the query 'other', which was not asked",
    "same": "answers the query 'c' twice",
    "types": "sends no cce.retriever/v1 (Expected str, got int at results[0].results[0].path): ",
    "both": "answers the query 'c' without either results or an error",
    "neither": "answers the query 'c' without either results or an error",
    "list": "sends no cce.retriever/v1 (Expected object, got array): '[]'",
    "fork": "ended with exit code 0 before it answered; its standard error ends with 'grandchild ",
}


@pytest.mark.parametrize(("behaviour", "fault"), FAULTS.items(), ids=FAULTS)
def test_a_fault_is_one_line_with_system_case_and_fault(log: Log, behaviour: str, fault: str) -> None:
    assert fault_of(behaviour).startswith(f"system 'mine': case c: {fault}")


def test_the_last_words_on_standard_error_are_told_after_a_flood(log: Log) -> None:
    assert fault_of("flood").endswith("xxx Error: the index is damaged'")
    assert ask("flood-answer", "fault") == [(OutsideResult("fault"),)]


def test_what_a_program_starts_ends_with_it(log: Log) -> None:
    grandchild = int(fault_of("fork").rpartition("grandchild ")[2].strip("'"))
    assert not is_running(grandchild)


@pytest.mark.parametrize("behaviour", ["never", "late"])
def test_who_does_not_answer_in_time_is_ended(log: Log, behaviour: str) -> None:
    assert fault_of(behaviour, timeout=0.4) == "system 'mine': case c: does not answer within 0.4 s (timeout)"


def test_the_time_limit_is_for_each_query_of_a_batch(log: Log) -> None:
    assert fault_of("never", "fault", "b.py", timeout=0.4) == (
        "system 'mine': case c0 or one of the 1 asked with it: "
        "does not answer within 0.4 s for each of 2 queries (timeout)"
    )
    assert len(ask("late", "fault", "b.py", "b.py", timeout=1.5)) == 3


HELLOS = {
    "hello-never": "does not answer hello within 0.5 s (start_timeout)",
    "hello-dies": "ended with exit code 1 before it answered; "
    "its standard error ends with 'no index at /nowhere'",
    "hello-version": "chooses the protocol 'cce.retriever/v2', offered was 'cce.retriever/v1': "
    '\'{"op": "hello"',
    "hello-list": "sends no cce.retriever/v1 (Expected str, got array at protocol): ",
    "hello-zero": "says max_batch is 0, it must be 1 or more",
    "hello-print": "sends no cce.retriever/v1 (JSON is malformed: invalid character (byte 0)): 'Welcome!'",
}


@pytest.mark.parametrize(("behaviour", "fault"), HELLOS.items(), ids=HELLOS)
@pytest.mark.parametrize("keeps_going", [False, True])
def test_a_program_that_does_not_start_fails_as_a_whole(
    log: Log, behaviour: str, fault: str, keeps_going: bool
) -> None:
    limit = 0.5 if behaviour == "hello-never" else 20.0
    message = fault_of(behaviour, start_timeout=limit, keeps_going=keeps_going)
    assert message.startswith(f"system 'mine': {fault}")


def test_a_command_that_is_not_there_is_named() -> None:
    system = ProgramSystem("mine", Program(("no-such-program",), ""), None)
    with pytest.raises(OutsideSystemError) as caught:
        list(system.answer([Question("c", "x", 5)]))
    assert str(caught.value) == (
        "system 'mine': cannot start 'no-such-program' (No such file or directory): "
        "name a program on PATH, or its path from the folder of the systems file"
    )


def test_what_is_wrong_with_one_result_fails_its_question_alone(log: Log) -> None:
    fault = "rank 1: 'a.py' has only one end of its lines: give start and end, or neither"
    assert ask("half-range", "fault") == [FailedAnswer(fault, "bad_result")]
    assert ask("error", "fault") == [FailedAnswer("unbalanced\nquote", "bad_query")]


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("max_batch", ["1", "64"])
def test_keeping_going_loses_the_questions_at_fault_alone(
    log: Log, monkeypatch: pytest.MonkeyPatch, processes: int, max_batch: str
) -> None:
    monkeypatch.setenv("MAX_BATCH", max_batch)
    answers = ask("dies", "b.py", "fault", "a.py:3-9", "fault", keeps_going=True, processes=processes)
    lost = FailedAnswer("ended with exit code 7 before it answered", "program_failed")
    assert answers == [(B,), lost, (A,), lost]


def test_a_program_that_fails_at_each_of_the_first_ten_questions_is_given_up(log: Log) -> None:
    message = fault_of("dies", *["fault"] * 30, keeps_going=True)
    assert message == (
        "system 'mine': each of the first 10 questions failed, the last with: "
        "ended with exit code 7 before it answered"
    )


def test_values_of_the_environment_and_secrets_are_never_quoted(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "s3cr3t value")
    message = fault_of("secret", env=("LOG", "MY_TOKEN"))
    assert "s3cr3t" not in message
    assert "hunter2" not in message
    assert ": 'token is ***'" in message
    assert "login *** refused, password = '[REDACTED:SECRET]'" in message


def test_a_query_that_no_line_holds_fails_and_the_others_are_answered(log: Log) -> None:
    first, second = ask("honest", "x" * 17 * 2**20, "b.py")
    assert isinstance(first, FailedAnswer)
    assert first.message.startswith("the query has 17,825,")
    assert second == (B,)


def test_whoever_stops_listening_gets_no_old_answer_later(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_BATCH", "1")
    system = ProgramSystem("mine", program("honest"), None)
    answers = system.answer([Question("x", "a.py:3-9", 5), Question("y", "a.py:3-9", 5)])
    assert next(answers) == (A,)
    answers.close()  # type: ignore[attr-defined]
    assert list(system.answer([Question("z", "b.py", 5)])) == [(B,)]
    system.close()
    system.close()


def test_a_program_that_is_deaf_to_the_end_is_killed_after_its_grace(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cce.retrieval.external.program.GRACE_SECONDS", 0.2)
    monkeypatch.setattr("cce.retrieval.external.program._TERMINATE_SECONDS", 0.2)
    assert ask("deaf", "b.py") == [(B,)]


# The calling process, which is ended while its program works; `log` shows that nothing is left.
_CALLER = """
import sys, threading, time
import cce.__main__, cce.cli.main

def work():
    import atexit
    from cce.domain.outside import Question
    from cce.domain.systems import Program
    from cce.retrieval.external.program import ProgramSystem
    program = Program((sys.executable, *sys.argv[1:]), "", env=("LOG",))
    system = ProgramSystem("mine", program, None)
    atexit.register(system.close)
    list(system.answer([Question("c", "b.py", 5)]))
    print("ready", flush=True)
    list(system.answer([Question("c", "fault", 5)]))

cce.cli.main.main = work
cce.__main__.run()
"""


@pytest.mark.parametrize(
    ("behaviour", "name"),
    [
        ("honest", "SIGINT"),
        ("honest", "SIGKILL"),
        ("never", "SIGKILL"),
        ("never", "SIGTERM"),
        ("deaf", "SIGINT"),
        ("deaf", "SIGKILL"),
    ],
)
def test_nothing_runs_once_the_caller_is_ended(log: Log, behaviour: str, name: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _CALLER, LIAR, behaviour], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == b"ready\n"
        caller.send_signal(getattr(signal, name))
        caller.wait(20)
    (pid,) = log.pids()
    limit = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not is_running(pid)


def test_the_command_line_tells_the_fault_and_ends_with_2(tmp_path: Path, run_cce: Any) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "b.py").write_text("def f():\n    return 1\n")
    (tmp_path / "set.jsonl").write_text(
        '{"schema": "cce.relevance/v1", "corpus": "docs"}\n'
        '{"id": "one", "query": "b.py", "expected": ["b.py"]}\n'
        '{"id": "two", "query": "fault", "expected": ["b.py"]}\n'
    )
    (tmp_path / "s.toml").write_text(
        f'schema = "cce.systems/v1"\n[system.mine]\ncommand = {json.dumps([sys.executable, LIAR, "dies"])}\n'
    )
    given = ("relevance", "set.jsonl", "--systems", "s.toml")
    ended = run_cce(*given, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.splitlines()[-1] == (
        b"error: system 'mine': case one or one of the 1 asked with it: "
        b"ended with exit code 7 before it answered"
    )
    ended = run_cce(*given, "--keep-going", cwd=tmp_path)
    assert ended.returncode == 0
    assert b"1 of 2 cases failed" in ended.stderr
