"""The status of a set: how much of it is labelled, what each system found, and how old labels are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

AGE_LIMITS = (30, 90, 365)
"""Ages in days at which a new group starts: labels are counted under 30, 90 and 365 days, and from 365 on."""


class FinderStatus(NamedTuple):
    """The candidates that one system found, by what became of them."""

    n_relevant: int = 0
    n_irrelevant: int = 0
    n_open: int = 0


class SetStatus(NamedTuple):
    """What a set has.

    n_cases       cases with a label, n_drafts those without
    n_open_cases  cases and drafts with candidates that nobody judged, `n_open` of them in all
    n_places      answers, and places noted as no answer
    by_system     system -> its candidates, in the order of their first one
    ages          one count per group of AGE_LIMITS, in days before the last commit; None without git
    n_ageless     labels whose text is in no commit, or whose file is unknown
    why_no_ages   why there are none; None if there are
    """

    fixtures: str
    n_cases: int
    n_drafts: int
    n_open_cases: int
    n_open: int
    n_places: tuple[int, int]
    by_system: Mapping[str, FinderStatus]
    ages: tuple[int, ...] | None = None
    n_ageless: int = 0
    why_no_ages: str | None = None
