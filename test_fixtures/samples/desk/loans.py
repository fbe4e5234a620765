"""Loans: who has which copy, and until when."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from fees import overdue_fee
from holds import HoldQueue
from opening_days import OpeningDays

LOAN_DAYS = 21
MAX_RENEWALS = 2


class LoanRefused(Exception):
    """The desk said no; the message is shown to the reader as it is."""


@dataclass(frozen=True)
class Loan:
    """One copy in one reader's hands."""

    copy_id: str
    reader_id: str
    due: date
    renewals: int = 0

    def is_late(self, today: date) -> bool:
        return today > self.due


class LoanDesk:
    """Lends copies, takes them back and extends loans."""

    def __init__(self, days: OpeningDays, holds: HoldQueue) -> None:
        self._days = days
        self._holds = holds
        self._loans: dict[str, Loan] = {}

    def checkout(self, copy_id: str, reader_id: str, today: date) -> Loan:
        """Lend a copy for three weeks, up to the next day on which the branch is open."""
        if copy_id in self._loans:
            raise LoanRefused("this copy is already lent")
        loan = Loan(copy_id, reader_id, self._days.next_open(today, LOAN_DAYS))
        self._loans[copy_id] = loan
        return loan

    def renew(self, copy_id: str, today: date) -> Loan:
        """Extend a loan, unless somebody waits for the copy or the limit is reached."""
        loan = self._loans[copy_id]
        if self._holds.is_waiting(copy_id):
            raise LoanRefused("another reader is waiting for this copy")
        if loan.renewals >= MAX_RENEWALS:
            raise LoanRefused("this loan was renewed twice already")
        due = self._days.next_open(today, LOAN_DAYS)
        self._loans[copy_id] = replace(loan, due=due, renewals=loan.renewals + 1)
        return self._loans[copy_id]

    def give_back(self, copy_id: str, today: date) -> int:
        """Close the loan and answer the fee in cents."""
        loan = self._loans.pop(copy_id)
        self._holds.notify_next(copy_id)
        return overdue_fee(loan.due, today, self._days)
