"""Ranking accounts: the ranking of one query, with what each score is made of."""

from __future__ import annotations

from typing import NamedTuple

from cce.domain.ranking import Hit
from cce.domain.second_stage import StageParts


class Share(NamedTuple):
    """What one thing adds to a score; the shares of a hit, summed from left to right, are its score."""

    name: str
    value: float


class QueryTerm(NamedTuple):
    """One token of the query, how many chunks hold it, and the weight that follows from that."""

    token: str
    n_chunks: int
    idf: float


class HybridParts(NamedTuple):
    """What `hybrid` knows of one candidate. Ranks are 1-based, None beyond the candidates of that ranking.

    rrf         reciprocal rank fusion of the two ranks, norm the same over the best one's
    similarity  of the vectors, in [0, 1]; literal is 1 if a word of the query occurs, else less
    penalty     what half the confidence and half the norm were multiplied with, 1 for most paths
    """

    vector_rank: int | None
    keyword_rank: int | None
    rrf: float
    norm: float
    cosine: float
    similarity: float
    literal: float
    confidence: float
    penalty: float
    score: float


class GraphParts(NamedTuple):
    """What brought in a hit of the import graph: the better file `seed`, a neighbour of its own."""

    seed: str
    cosine: float


class AccountedHit(NamedTuple):
    """A hit and how it got its score.

    `rank` is 1-based; of a hit left out because of other hits of its file it is the rank
    without that limit.
    `shares` is empty where the score is one figure, or the backend does not say.
    """

    rank: int
    hit: Hit
    shares: tuple[Share, ...] = ()
    parts: HybridParts | GraphParts | StageParts | None = None


class RankingAccount(NamedTuple):
    """The ranking of one query, accounted for.

    hits     the first k, best first
    cut      hits with a better score than the last one, left out because of other hits of their file
    behind   candidates after the last hit; None where all chunks are candidates whatever k is
    terms    tokens of the query in the order they are added up; empty for a backend without such
    formula  how the shares come about, one line each
    """

    hits: tuple[AccountedHit, ...]
    cut: tuple[AccountedHit, ...] = ()
    behind: tuple[AccountedHit, ...] | None = None
    terms: tuple[QueryTerm, ...] = ()
    formula: tuple[str, ...] = ()
