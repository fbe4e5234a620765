"""What an outside system is: whatever answers questions with places.

Programs, services, objects and saved runs each have a module beside this one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from cce.domain.outside import Answer, Question


class OutsideSystem(Protocol):
    """Answers questions; opened once per run, and closed at its end whatever happens.

    One that says its name and version has them in `facts`, a mapping, which a recorded run begins with.
    """

    def answer(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """One answer per question, in the order of `questions`, as they come.

        A question that fails is a FailedAnswer. Raises OutsideSystemError if the system as a whole fails.
        """

    def close(self) -> None:
        """End it, and leave nothing running; may be called twice."""
