"""The branch calendar: on which days the doors are open."""

from __future__ import annotations

from datetime import date, timedelta

SUNDAY = 6


class OpeningDays:
    """Weekly rest on Sunday plus a list of public holidays."""

    def __init__(self, holidays: frozenset[date]) -> None:
        self._holidays = holidays

    def is_open(self, day: date) -> bool:
        return day.weekday() != SUNDAY and day not in self._holidays

    def next_open(self, start: date, days: int) -> date:
        """The first open day that is at least so many days after the start."""
        day = start + timedelta(days=days)
        while not self.is_open(day):
            day += timedelta(days=1)
        return day

    def count_open(self, after: date, until: date) -> int:
        """Open days in the half-open interval that excludes its first day."""
        span = max(0, (until - after).days)
        return sum(self.is_open(after + timedelta(days=n + 1)) for n in range(span))
