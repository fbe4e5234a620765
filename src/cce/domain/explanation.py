"""Explanations: how each score of a case came about, and why each missed anchor was missed.

A backend gives a `RankingAccount`; matched against the anchors of its case it becomes a
`BackendExplanation`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cce.domain.case import Case
from cce.domain.ranking_account import AccountedHit, QueryTerm
from cce.domain.redaction import Redaction


@dataclass(frozen=True, slots=True)
class MatchedHit:
    """An accounted hit with the 0-based positions of the anchors it matches, ascending."""

    account: AccountedHit
    anchors: tuple[int, ...]


Fate = Literal["cut", "behind", "no candidate"]


@dataclass(frozen=True, slots=True)
class Miss:
    """An anchor that none of the counted hits matches.

    anchor     its 0-based position in the case
    reason     why there is no rank; None if `best` has one
    best       the best chunk that matches it when k is the number of chunks, with its rank there
    n_ranked   how many hits there are then
    behind_by  how far it is behind the last rank that counts, in 1e-6; None if it is not behind it
    fate       what became of it at the k of the case; None where that does not depend on k
    """

    anchor: int
    reason: str | None
    best: AccountedHit | None = None
    n_ranked: int = 0
    behind_by: int | None = None
    fate: Fate | None = None


@dataclass(frozen=True, slots=True)
class BackendExplanation:
    """What one backend answered to the case; misses in the order of the anchors."""

    backend: str
    hits: tuple[MatchedHit, ...]
    cut: tuple[MatchedHit, ...]
    misses: tuple[Miss, ...]
    terms: tuple[QueryTerm, ...] = ()
    formula: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnchorInIndex:
    """An anchor of the case, how many chunks it matches, and if none the reason."""

    text: str
    grade: int
    n_chunks: int
    absence: str | None


@dataclass(frozen=True, slots=True)
class CaseExplanation:
    """One case in full; `fixtures` and `corpus` as the user named them."""

    fixtures: str
    corpus: str
    embedder: str
    redaction: Redaction
    n_chunks: int
    case: Case
    anchors: tuple[AnchorInIndex, ...]
    backends: tuple[BackendExplanation, ...]
