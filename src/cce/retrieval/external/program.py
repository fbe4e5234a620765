"""A program that ranks: questions in, answers out, whatever its processes do.

Questions travel in batches, each process has one batch at a time, and answers leave in the order of the
questions, so neither timing nor batches nor the number of processes show. A process that breaks the protocol
is killed. Then the run ends with one line, or, where it keeps going, a new process is asked each question of
the batch once more, alone, so that only those at fault fail.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from queue import Empty, SimpleQueue

from cce.domain.outside import Answer, FailedAnswer, Question
from cce.domain.systems import Program
from cce.errors import OutsideSystemError
from cce.quoting import quoted
from cce.retrieval.external.child import GRACE_SECONDS, Child, Received, start_fault
from cce.retrieval.external.environment import child_environment, require_no_ci
from cce.retrieval.external.outside_words import OutsideWords
from cce.retrieval.external.protocol import (
    MAX_LINE_BYTES,
    PROTOCOL,
    Hello,
    NotProtocolError,
    QuestionBatch,
    hello_request,
    make_batches,
    parse_answers,
    parse_hello,
    search_request,
)

_N_QUOTED = 200
# A process that is gone may have children that hold its output open: its end is looked for as often.
_LOOK_SECONDS = 0.2
# If all of the first questions cost a process its life, the rest would take as long and say no more.
_MAX_FIRST_LOSSES = 10
_TERMINATE_SECONDS = 1.0
_CLEAN_END = "ended with exit code 0"


class ProgramSystem:
    """The processes of one program; none is started before the first question."""

    def __init__(self, name: str, program: Program, corpus: str | None, *, keeps_going: bool = False) -> None:
        """`corpus` is the directory that it is told, None for a store.

        Raises OutsideSystemError for a variable that no system may have.
        """
        self._place = f"system {quoted(name)}"
        require_no_ci(program.env, f"{self._place}: env")
        self._program = program
        self._corpus = None if corpus is None else os.path.abspath(corpus)
        self._keeps_going = keeps_going
        self._environment = child_environment(program.env)
        self._words = OutsideWords(self._environment.get(name, "") for name in program.env)
        self._received: SimpleQueue[Received] = SimpleQueue()
        self._hello: Hello | None = None
        self._slots = [_Slot() for _ in range(program.processes)]
        self.end_fault: str | None = None
        """What was wrong with the end of a process, once this is closed."""

    @property
    def hello(self) -> Hello:
        """What the program says of itself; starts the first process if need be, raises OutsideSystemError."""
        if self._hello is None:
            slot = self._slots[0]
            self._start(slot)
            while not slot.is_ready:
                fault = self._next_fault([slot])
                if fault is not None:
                    slot.end()
                    raise OutsideSystemError(f"{self._place}: {fault}")
        if self._hello is None:
            raise ValueError("a process that is ready has said hello")
        return self._hello

    @property
    def facts(self) -> Mapping[str, str]:
        """The name and version that it gave itself; empty before it was asked anything."""
        return {} if self._hello is None else self._hello.facts

    def answer(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """One answer per question, in order. Raises OutsideSystemError."""
        if not questions:
            return
        try:
            batches, too_long = make_batches(questions, self.hello, self._program.processes)
            asking = _Asking(batches, too_long)
            n_losses = 0
            for position in range(len(questions)):
                while position not in asking.outcomes:
                    self._step(asking)
                outcome = asking.outcomes.pop(position)
                if isinstance(outcome, OutsideSystemError):
                    raise outcome
                n_losses += isinstance(outcome, _LostAnswer)
                if n_losses == position + 1 == _MAX_FIRST_LOSSES:
                    raise OutsideSystemError(
                        f"{self._place}: each of the first {n_losses} questions failed, the last with: "
                        f"{outcome.message}"  # type: ignore[union-attr] # all of them are lost
                    )
                yield FailedAnswer(*outcome) if isinstance(outcome, _LostAnswer) else outcome
        finally:
            for slot in self._slots:  # whoever stops listening must not get an old answer next time
                if slot.batch is not None:
                    slot.end()

    def close(self) -> None:
        """Close the standard input of all processes; after 5 s terminate them, then kill them."""
        children = [slot.child for slot in self._slots if slot.child is not None]
        for child in children:
            child.close_input()
        _wait_for(children, GRACE_SECONDS)
        left = [child for child in children if not child.has_ended]
        self._judge_end(children, left)
        for child in left:
            child.terminate()
        _wait_for(left, _TERMINATE_SECONDS)
        for slot in self._slots:
            slot.end()

    def _judge_end(self, children: Sequence[Child], left: Sequence[Child]) -> None:
        if left:
            self.end_fault = f"runs {GRACE_SECONDS:g} s after its standard input was closed"
        for child in children:
            if self.end_fault is None and child.has_ended and child.how_it_ended() != _CLEAN_END:
                self.end_fault = child.how_it_ended()

    def _step(self, asking: _Asking) -> None:
        """Give idle processes work, and wait for the next thing that happens."""
        for slot in self._slots:
            if slot.batch is None and asking.pending:
                self._give(slot, asking)
        busy = [slot for slot in self._slots if slot.batch is not None]
        if not busy:
            return
        event = self._wait(busy)
        for slot in busy:
            batch, fault = slot.batch, self._fault(slot, event)
            if batch is None:
                continue
            if fault is not None:
                was_ready = slot.is_ready
                slot.end()
                self._lose(batch, fault, asking, is_start=not was_ready)
            elif slot.answers is not None:
                asking.outcomes.update(zip(batch.positions, slot.answers, strict=True))
                slot.batch = slot.answers = None
                if asking.pending:  # it works while its answers are judged
                    self._give(slot, asking)

    def _give(self, slot: _Slot, asking: _Asking) -> None:
        slot.batch = asking.pending.popleft()
        try:
            if slot.child is None:
                self._start(slot)
        except OutsideSystemError as exc:
            asking.fail(slot.batch, exc)
            slot.batch = None
            return
        if slot.is_ready:
            self._send(slot)

    def _lose(self, batch: QuestionBatch, fault: str, asking: _Asking, *, is_start: bool) -> None:
        """What becomes of a batch whose process did not answer it."""
        if is_start:
            asking.fail(batch, OutsideSystemError(f"{self._place}: {fault}"))
        elif not self._keeps_going:
            asking.fail(batch, OutsideSystemError(f"{self._place}: {batch.place}: {fault}"))
        elif len(batch.questions) > 1:
            asking.pending.extendleft(reversed([*batch.singly()]))
        else:
            asking.outcomes[batch.positions[0]] = _LostAnswer(fault, "program_failed")

    def _start(self, slot: _Slot) -> None:
        program = self._program
        try:
            slot.child = Child(
                program.command, program.folder, self._environment, self._received, MAX_LINE_BYTES
            )
        except (OSError, ValueError) as exc:
            command = quoted(program.command[0])
            way_out = "name a program on PATH, or its path from the folder of the systems file"
            raise OutsideSystemError(
                f"{self._place}: cannot start {command} ({start_fault(exc)}): {way_out}"
            ) from exc
        slot.is_ready = False
        slot.expect(program.start_timeout)
        slot.child.ask(hello_request(self._corpus))

    def _send(self, slot: _Slot) -> None:
        if slot.child is None or slot.batch is None:
            raise ValueError("only a process with a batch is asked")
        slot.number += 1
        slot.expect(self._program.timeout * len(slot.batch.questions))
        slot.child.ask(search_request(slot.number, slot.batch))

    def _next_fault(self, slots: Sequence[_Slot]) -> str | None:
        event = self._wait(slots)
        return next((fault for slot in slots if (fault := self._fault(slot, event))), None)

    def _wait(self, slots: Sequence[_Slot]) -> Received | None:
        """What comes next from any process, None if nothing does for a moment or until a time limit."""
        left = min(slot.deadline for slot in slots) - time.monotonic()
        try:
            return self._received.get(timeout=max(0.0, min(left, _LOOK_SECONDS)))
        except Empty:
            return None

    def _fault(self, slot: _Slot, event: Received | None) -> str | None:
        """What is wrong with a process after `event`, which is taken in if it is its own."""
        child = slot.child
        if child is None:
            return None
        if event is not None and event.child is child:
            slot.was_gone = False
            if event.moment > slot.deadline:
                return self._with_errors(child, self._late(slot))
            try:
                self._take(slot, event)
            except NotProtocolError as exc:
                return self._with_errors(child, f"{exc}{self._quoted(event.text)}")
            return None
        if event is None and time.monotonic() >= slot.deadline and self._received.empty():
            return self._with_errors(child, self._late(slot))
        if event is None and child.has_ended:
            # What it said last may still be on its way: it has one more moment.
            if slot.was_gone:
                return self._with_errors(child, f"{child.how_it_ended()} before it answered")
            slot.was_gone = True
        return None

    def _take(self, slot: _Slot, event: Received) -> None:
        """Read a line of a process, as hello or as answers; raises NotProtocolError."""
        if event.kind == "long":
            raise NotProtocolError(f"sends a line of more than {MAX_LINE_BYTES:,} bytes")
        if event.kind == "end":
            middle = " in the middle of a line" if event.text else " before it answered"
            raise NotProtocolError(f"{event.child.how_it_ended()}{middle}")
        if not slot.is_ready:
            hello = parse_hello(event.text)
            if self._hello is not None and hello != self._hello:
                raise NotProtocolError("answers hello otherwise than the first time")
            self._hello = hello
            slot.is_ready = True
            if slot.batch is not None:
                self._send(slot)
        elif slot.batch is not None:
            questions = slot.batch.questions
            slot.answers = parse_answers(event.text, slot.number, questions, self._words.clean)

    def _late(self, slot: _Slot) -> str:
        if not slot.is_ready:
            return f"does not answer hello within {self._program.start_timeout:g} s (start_timeout)"
        n_questions = 1 if slot.batch is None else len(slot.batch.questions)
        times = f" for each of {n_questions} queries" if n_questions > 1 else ""
        return f"does not answer within {self._program.timeout:g} s{times} (timeout)"

    def _quoted(self, line: bytes) -> str:
        if not line:
            return ""
        hint = "" if line.lstrip().startswith(b"{") else f": only {PROTOCOL} belongs on standard output"
        return f": {self._words.first(line, _N_QUOTED)}{hint}"

    def _with_errors(self, child: Child, fault: str) -> str:
        errors = self._words.last(child.last_errors(), _N_QUOTED)
        return f"{fault}; its standard error ends with {errors}" if errors else fault


class _LostAnswer(FailedAnswer):
    """A question whose process broke the protocol, in difference to one that a process said fails."""


class _Slot:
    """The place of one process, and what it is doing."""

    def __init__(self) -> None:
        self.child: Child | None = None
        self.is_ready = False
        self.was_gone = False
        self.batch: QuestionBatch | None = None
        self.answers: list[Answer] | None = None
        self.number = 0
        self.deadline = 0.0

    def expect(self, seconds: float) -> None:
        """An answer must come within `seconds`."""
        self.deadline = time.monotonic() + seconds

    def end(self) -> None:
        """End the process at once; the next question gets a new one."""
        child = self.child
        if child is not None:
            child.kill()
        self.child = self.batch = self.answers = None
        self.is_ready = self.was_gone = False


class _Asking:
    """What became of the questions of one call, by position."""

    def __init__(self, batches: Sequence[QuestionBatch], known: Mapping[int, FailedAnswer]) -> None:
        self.pending = deque(batches)
        self.outcomes: dict[int, Answer | OutsideSystemError] = dict(known)

    def fail(self, batch: QuestionBatch, error: OutsideSystemError) -> None:
        """End with `error` once all questions before it are answered; nothing behind it is asked."""
        self.outcomes[batch.positions[0]] = error
        self.pending.clear()


def _wait_for(children: Sequence[Child], seconds: float) -> None:
    limit = time.monotonic() + seconds
    for child in children:
        child.wait_until(limit)
