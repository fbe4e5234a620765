"""What a check of a system found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

CheckOutcome = Literal["passed", "failed", "not applicable"]


class CheckedLaw(NamedTuple):
    """One law that a system was held to; `detail` says what was seen, in one line."""

    law: str
    outcome: CheckOutcome
    detail: str


@dataclass(frozen=True, slots=True)
class SystemCheck:
    """All laws that one system was held to, in the order of the check."""

    system: str
    laws: tuple[CheckedLaw, ...]

    def count(self, outcome: CheckOutcome) -> int:
        """The number of laws with this outcome."""
        return sum(law.outcome == outcome for law in self.laws)
