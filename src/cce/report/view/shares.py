"""Shares of a score as they are shown."""

from __future__ import annotations

from collections.abc import Iterable

from cce.domain.ranking_account import Share
from cce.numerals import ordering_key


def micro_shares(shares: Iterable[Share]) -> list[int]:
    """The shares in units of 1e-6, which sum to the score as it prints.

    Each is the difference of two rounded running sums, so the last digit of one may be off by one.
    """
    micros, total, rounded = [], 0.0, 0
    for share in shares:
        total += share.value
        micros.append(ordering_key(total) - rounded)
        rounded += micros[-1]
    return micros
