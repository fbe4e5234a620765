"""What the answers of a system cost, as means per query; never timed, so a report stays the same."""

from __future__ import annotations

from typing import NamedTuple


class Costs(NamedTuple):
    """Means per query: passages that a second stage scored, tokens of the results, and what both cost.

    estimate  in `unit`; both None without a price
    """

    pairs: float
    tokens: float
    estimate: float | None = None
    unit: str | None = None
