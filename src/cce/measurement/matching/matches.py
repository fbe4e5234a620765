"""Case and ranking in, match out: which hits match which anchors.

Metrics read only the match, so this module alone defines what matching means. The match matrix is
sparse, a few anchor positions per hit, because most hits match no anchor. `ideals` finds the ideal
ranking of the whole index.
"""

from __future__ import annotations

from typing import NamedTuple

from cce.domain.case import Case
from cce.domain.ranking import Chunk, Ranking
from cce.measurement.matching.anchor_table import AnchorTable, ChunkLookup, best_grade

UNGRADED = 1  # the grade of an anchor that has none


class TokenScore(NamedTuple):
    """How well the retrieved lines cover the expected ones, weighted by tokens; all in [0, 1]."""

    precision: float
    recall: float
    iou: float


class CaseMatch(NamedTuple):
    """Which anchors the first `k` hits of a ranking match.

    matches  one entry per hit, at most `k`: the 0-based positions of the anchors it matches, ascending
    grades   one per anchor of the case
    ideal    grades of the relevant chunks of the whole index, best first, at most `k`; also empty if no
             metric needs the index
    tokens   how well the lines of the hits cover the expected ones; None without ranged anchors
    located  the gains, where any hit is no chunk of the index; None where each hit gains its grade
    irrelevant  whether each hit matches a place judged irrelevant; empty if no metric asks
    """

    k: int
    matches: tuple[tuple[int, ...], ...]
    grades: tuple[int, ...]
    ideal: tuple[int, ...] = ()
    tokens: TokenScore | None = None
    located: tuple[int, ...] | None = None
    irrelevant: tuple[bool, ...] = ()

    @property
    def n_anchors(self) -> int:
        """The number of anchors of the case, including repeats."""
        return len(self.grades)

    @property
    def hit_grades(self) -> tuple[int, ...]:
        """The grade of each hit: the highest among the anchors it matches, 0 if none."""
        return tuple(best_grade(self.grades, matched) for matched in self.matches)

    @property
    def gains(self) -> tuple[int, ...]:
        """What each hit gains for graded metrics, which gain each relevant chunk once."""
        return self.hit_grades if self.located is None else self.located


def match_case(
    case: Case,
    ranking: Ranking,
    ideal: tuple[int, ...] = (),
    tokens: TokenScore | None = None,
    chunks: ChunkLookup | None = None,
) -> CaseMatch:
    """Match the first k hits of `ranking` with the anchors of `case`.

    Anchors are looked up by file and kind, so the cost is not the number of hits times that of anchors.
    `chunks` are those of the index, which may be returned; only hits that are none of them need it. Without
    an index they match by what the system says of them.
    """
    table, hits, grades = AnchorTable(case.anchors), ranking[: case.k], anchor_grades(case)
    matches = tuple(
        table.matched_by(hit.chunk) if isinstance(hit.chunk, Chunk) else table.matched_at(hit.chunk, chunks)
        for hit in hits
    )
    if all(isinstance(hit.chunk, Chunk) for hit in hits):
        return CaseMatch(case.k, matches, grades, ideal, tokens)
    from cce.measurement.matching.gains import located_gains  # most rankings hold chunks only

    gains = located_gains(hits, matches, table, grades, chunks)
    return CaseMatch(case.k, matches, grades, ideal, tokens, gains)


def anchor_grades(case: Case) -> tuple[int, ...]:
    """One grade per anchor of `case`."""
    return tuple(case.grades.get(anchor.text, UNGRADED) for anchor in case.anchors)
