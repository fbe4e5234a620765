"""Fees for late returns, in cents."""

from __future__ import annotations

from datetime import date

from opening_days import OpeningDays

CENTS_PER_DAY = 20
FEE_CAP = 800
GRACE_DAYS = 2


def overdue_fee(due: date, returned: date, days: OpeningDays) -> int:
    """Charge every open day after the grace period, up to the cap.

    Days on which the branch is closed are free: nobody could have returned the book.
    """
    late = days.count_open(due, returned)
    if late <= GRACE_DAYS:
        return 0
    return min(FEE_CAP, (late - GRACE_DAYS) * CENTS_PER_DAY)


def waive_fee(amount: int, reason: str) -> int:
    """Forgive a fee: in full for illness, by half otherwise."""
    if reason == "illness":
        return 0
    return amount // 2


def replacement_cost(price: int, age_years: int) -> int:
    """What a lost copy costs: its price less ten percent for each year on the shelf."""
    worth = price
    for _ in range(age_years):
        worth = worth * 9 // 10
    return max(worth, 100)


def format_cents(amount: int) -> str:
    return f"{amount // 100}.{amount % 100:02d}"
