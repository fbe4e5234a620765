"""A drill-down: for every case what was asked and what each backend answered.

It holds far more than the figures of a report, so it is built only for formats that show it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShownHit:
    """One result; `matches` has the 0-based positions of the anchors that it matches, ascending.

    `rank` is 1-based, lines are 1-based and inclusive, None where they are unknown. `opening` has the first
    lines of the text, cut to a sane length and joined with line feeds.
    """

    rank: int
    path: str
    first_line: int | None
    last_line: int | None
    kind: str
    score: float | None
    matches: tuple[int, ...]
    opening: str


@dataclass(frozen=True, slots=True)
class ShownMiss:
    """An anchor that no result matches: `anchor` is its 0-based position.

    rank    the 1-based rank at which a chunk that matches it would have come, None where that is not known
    reason  why there is no rank; None with one
    path    where that chunk stands, or another that matches; None where there is none

    Lines, kind and opening are as in ShownHit.
    """

    anchor: int
    rank: int | None = None
    reason: str | None = None
    path: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    kind: str = ""
    opening: str = ""


@dataclass(frozen=True, slots=True)
class ShownRanking:
    """What one backend answered to one case, best first: at most its k hits; `misses` in anchor order."""

    backend: str
    hits: tuple[ShownHit, ...]
    misses: tuple[ShownMiss, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseDrilldown:
    """One case in full: `line` is where it stands in its set, `grades` has one entry per anchor text."""

    id: str
    query: str
    k: int
    line: int
    anchors: tuple[str, ...]
    grades: tuple[int, ...]
    tags: tuple[str, ...]
    critical: bool
    note: str | None
    rankings: tuple[ShownRanking, ...]
