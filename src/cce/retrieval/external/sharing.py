"""One outside system behind several names: each question is asked once, and all of them get the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cce.domain.outside import Answer, Question
from cce.retrieval.external.contract import OutsideSystem


class SharedSystem:
    """An outside system that keeps what it answered, for variants of it that ask the same."""

    def __init__(self, system: OutsideSystem) -> None:
        self._system = system
        self._known: dict[Question, Answer] = {}

    def answer(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """As the system answers, in the order of `questions`; what was asked before is not asked again."""
        missing = [each for each in dict.fromkeys(questions) if each not in self._known]
        fresh = self._system.answer(missing) if missing else iter(())
        for question in questions:
            if question not in self._known:
                self._known[question] = next(fresh)
            yield self._known[question]

    def __getattr__(self, name: str) -> Any:
        # What only some systems have: notices, facts of their own.
        return getattr(self._system, name)

    def close(self) -> None:
        """As for the system, which may be closed twice."""
        self._system.close()
