"""Fees, checked with a calendar that has one holiday."""

from __future__ import annotations

from datetime import date

from fees import format_cents, overdue_fee, waive_fee
from opening_days import OpeningDays

CALENDAR = OpeningDays(frozenset({date(2024, 5, 1)}))


def test_no_overdue_fee_within_the_grace_period():
    assert overdue_fee(date(2024, 5, 6), date(2024, 5, 8), CALENDAR) == 0


def test_closed_days_cost_nothing():
    # 30 April to 5 May: the holiday and the Sunday do not count.
    assert overdue_fee(date(2024, 4, 30), date(2024, 5, 5), CALENDAR) == 20


def test_overdue_fee_stops_at_the_cap():
    assert overdue_fee(date(2024, 1, 2), date(2024, 12, 2), CALENDAR) == 800


def test_waive_fee_for_illness():
    assert waive_fee(640, "illness") == 0


def test_format_cents_pads_the_cents():
    assert format_cents(805) == "8.05"
