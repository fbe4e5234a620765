"""Recording: what a system answers is written as it comes, so CI can replay an engine without running it.

Lines go to FILE.part, each flushed, so an interrupted run loses nothing and the next one asks only what is
missing. When every question was answered, FILE is written in one piece, its lines in the order asked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, BinaryIO

from cce.domain.outside import Answer, FailedAnswer, OutsideResult, Question
from cce.domain.ranking import Ranking
from cce.domain.run import RunScope
from cce.errors import OutsideSystemError, UsageError
from cce.files import read_bytes, write_file, writing
from cce.interchange.recorded_run import parse_recorded_run, render_answer, render_header
from cce.quoting import on_one_line, quoted
from cce.registry import unknown_name
from cce.retrieval.external.contract import OutsideSystem

_PART = ".part"
_FAULT = "cannot write the run ({}); free some space or name another place"
_READING = ("the run", OutsideSystemError, "remove it, or leave out --resume")
_Asked = tuple[str, str, int, int, RunScope | None, str | None]

Facts = Callable[[], Mapping[str, object]]
"""What the header says beside the system's name; asked at the end, since a program names itself late."""


class Recorder:
    """Writes the answers of one system to a file; `finish` completes it."""

    def __init__(self, path: str, system: str, facts: Facts, *, is_resumed: bool = False) -> None:
        """With `is_resumed` the answers that FILE.part holds are kept, failed ones aside.

        Nothing is read or written before the first question. Raises OutsideSystemError if that cannot be.
        """
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            fault = "its directory does not exist, make it first"
            raise OutsideSystemError(f"{on_one_line(path)}: {fault}")
        self._path = path
        self._system = system
        self._facts = facts
        self._kept: dict[_Asked, Answer] = {}
        self._places: dict[_Asked, tuple[int, int]] = {}
        self._order: dict[_Asked, None] = {}
        self._is_resumed = is_resumed
        self.said: Facts = dict  # what an outside system says of itself
        self._part: BinaryIO | None = None

    def open(self) -> None:
        """Begin, or go on; may be called twice."""
        if self._part is not None:
            return
        lines = self._kept_lines() if self._is_resumed and os.path.exists(self._path + _PART) else []
        with self._writing():
            self._part = open(self._path + _PART, "w+b")  # noqa: SIM115 - open until the end
        self._append(render_header(self._system, {}))
        for asked, line in lines:
            self._places[asked] = self._append(line)

    def kept(self, question: Question) -> Answer | None:
        """What was answered before; None if it must be asked."""
        self.open()
        return self._kept.get(_asked(question))

    def record(self, question: Question, answer: Answer) -> None:
        """Write an answer; one to a question that was answered before is not written again."""
        self.open()
        asked = _asked(question)
        self._order[asked] = None
        if asked not in self._places:
            self._places[asked] = self._append(render_answer(question, answer))

    def finish(self) -> None:
        """Give the file its name; only when all was asked."""
        write_file(self._path, self._pieces(), OutsideSystemError, _FAULT)
        self.close()
        with self._writing():
            os.unlink(self._path + _PART)

    def close(self) -> None:
        """Leave FILE.part for --resume; may be called twice."""
        if self._part is not None:
            self._part.close()

    def _pieces(self) -> Iterator[bytes]:
        yield render_header(self._system, {**self.said(), **self._facts()})
        for asked in self._order:
            start, length = self._places[asked]
            self._opened.seek(start)
            yield self._opened.read(length)

    @property
    def _opened(self) -> BinaryIO:
        assert self._part is not None  # noqa: S101 - something was recorded
        return self._part

    def _append(self, line: bytes) -> tuple[int, int]:
        with self._writing():
            start = self._opened.seek(0, os.SEEK_END)
            self._opened.write(line)
            self._opened.flush()
        return start, len(line)

    def _kept_lines(self) -> list[tuple[_Asked, bytes]]:
        raw = read_bytes(self._path + _PART, *_READING)
        # What was being written when the run ended is no whole line.
        lines = raw[: raw.rfind(b"\n") + 1].split(b"\n")
        if len(lines) < 2:  # not even a header
            return []
        kept = []
        for case_id, answers in parse_recorded_run(lines, self._path + _PART).answers.items():
            for each in answers:
                if not isinstance(each.results, FailedAnswer):
                    asked = (case_id, each.query or "", each.k or 0, each.repeat, each.scope, each.tenant)
                    self._kept[asked] = tuple(each.results)
                    kept.append((each.line, asked, lines[each.line - 1] + b"\n"))
        return [(asked, line) for _, asked, line in sorted(kept, key=lambda each: each[0])]

    def _writing(self) -> AbstractContextManager[None]:
        return writing(self._path + _PART, OutsideSystemError, _FAULT)


class _RecordedSystem:
    """A system whose answers are recorded as they come; what was recorded before is not asked again."""

    def __init__(self, system: OutsideSystem, recorder: Recorder, *, keeps_going: bool) -> None:
        self._system = system
        self._recorder = recorder
        self._keeps_going = keeps_going
        self._n_asked = 0
        self._n_answered = 0
        self._is_closed = False

    def answer(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """As the system answers, in the order of `questions`."""
        self._n_asked += len(questions)
        missing = [question for question in questions if self._recorder.kept(question) is None]
        fresh = self._system.answer(missing) if missing else iter(())
        for question in questions:
            answer = self._recorder.kept(question)
            answer = next(fresh) if answer is None else answer
            self._recorder.record(question, answer)
            # An error that ends the run is asked again by --resume.
            self._n_answered += self._keeps_going or not isinstance(answer, FailedAnswer)
            yield answer

    def __getattr__(self, name: str) -> Any:
        # What only some systems have: notices, facts of their own.
        return getattr(self._system, name)

    def close(self) -> None:
        """Close the system; the run gets its name if every question was answered."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._system.close()
            if 0 < self._n_asked == self._n_answered:
                self._recorder.finish()
        finally:
            self._recorder.close()


def recorded(system: OutsideSystem, recorder: Recorder, *, keeps_going: bool = False) -> OutsideSystem:
    """`system`, with its answers recorded; without `keeps_going` a failed one leaves the run unfinished."""
    return _RecordedSystem(system, recorder, keeps_going=keeps_going)


class Recorders:
    """The recorders of one evaluation, by the name of the system that each records.

    Those of our own backends are written to as their rankings come; outside systems are wrapped.
    """

    def __init__(self, recorders: Mapping[str, Recorder]) -> None:
        self._recorders = recorders

    def wrap(self, name: str, system: OutsideSystem, *, keeps_going: bool) -> OutsideSystem:
        """`system` itself, unless it is to be recorded."""
        recorder = self._recorders.get(name)
        if recorder is None:
            return system
        recorder.said = partial(getattr, system, "facts", {})
        return recorded(system, recorder, keeps_going=keeps_going)

    def record(self, name: str, question: Question, ranking: Ranking) -> None:
        """Keep what a system of our own answered, if it is to be recorded."""
        recorder = self._recorders.get(name)
        if recorder is not None:
            recorder.record(question, results_of(ranking))

    def finish(self, names: Iterable[str]) -> None:
        """Complete the runs of these systems of our own, which answered every question."""
        for name in names:
            if name in self._recorders:
                self._recorders[name].finish()


NO_RECORDERS = Recorders({})


def open_recorders(
    typed: Iterable[str],
    known: Sequence[str],
    ours: Collection[str],
    facts: Callable[[str], Mapping[str, object]],
    *,
    is_resumed: bool,
) -> Recorders:
    """What the values of --record ask for, `NAME=FILE` each; raises UsageError and OutsideSystemError.

    known  the systems that are asked
    ours   those of our own among them, which are always asked again: that costs nothing
    facts  what the header says of a system, asked when its run is finished
    """
    paths = parse_records(typed)
    for name in paths:
        if name not in known:
            raise UsageError(f"--record {on_one_line(name)}: {unknown_name('system', name, known)}")
    if is_resumed and not paths:
        raise UsageError("--resume says how to record: add --record NAME=FILE, or leave it out")
    return Recorders(
        {
            name: Recorder(path, name, partial(facts, name), is_resumed=is_resumed and name not in ours)
            for name, path in paths.items()
        }
    )


def parse_records(typed: Iterable[str]) -> dict[str, str]:
    """The files by system of `NAME=FILE` values; raises UsageError."""
    paths: dict[str, str] = {}
    for each in typed:
        name, _, path = each.partition("=")
        if not name or not path:
            raise UsageError(f"--record takes NAME=FILE, as in mine=mine.jsonl; got {quoted(each)}")
        if name in paths:
            raise UsageError(f"--record names {quoted(name)} twice, leave one of them")
        paths[name] = path
    return paths


def results_of(ranking: Ranking) -> tuple[OutsideResult, ...]:
    """A ranking as an answer, so that our own backends can be recorded and replayed like any other system."""
    return tuple(
        OutsideResult(chunk.file_path, chunk.start_line, chunk.end_line, chunk.kind, score)
        for chunk, score in ranking
    )


def _asked(question: Question) -> _Asked:
    scope = question.scope
    limits = None if scope is None else RunScope(scope.name, scope.include, scope.exclude)
    tenant = None if scope is None else scope.tenant
    return question.id, question.text, question.k, question.repeat, limits, tenant
