"""The second stage of one system: the first stage's results in, the order of a reranker out.

It can neither drop nor invent results: the first `depth` are sorted anew, the others follow as they came.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from cce.domain.ranking import Hit, Ranking
from cce.domain.second_stage import DEFAULT_DEPTH, SecondStage, StageCounts, StageParts
from cce.numerals import ordering_key
from cce.retrieval.rerank.passages import Passages, words_beyond
from cce.retrieval.rerank.reranker import Reranker

if TYPE_CHECKING:
    from fractions import Fraction

    from cce.domain.ranking_account import RankingAccount

# As in reciprocal rank fusion: Cormack, Clarke and Buettcher, SIGIR 2009.
_RANK_OFFSET = 60


class Staged(NamedTuple):
    """A ranking after the second stage, and what that did.

    placed  for each result its 1-based rank in the first stage, and its raw score, None beyond the depth
    """

    ranking: Ranking
    counts: StageCounts
    placed: tuple[tuple[int, float | None], ...]


class _Scored(NamedTuple):
    """A result that was scored: `key` is sorted by, falling; `value` is the score that it leaves with."""

    first_rank: int
    key: int | Fraction
    value: float


class _Sorted(NamedTuple):
    """The first stage's results for a query in the new order, none of them cut off."""

    query: str
    first: Ranking
    order: Sequence[_Scored]
    hits: Sequence[Hit]
    placed: Sequence[tuple[int, float | None]]
    n_cut: int


class Stage:
    """Sorts the first results of a system anew."""

    def __init__(self, keys: SecondStage, reranker: Reranker, passages: Passages) -> None:
        """`keys` are those of an active second stage."""
        self._keys = keys
        self._reranker = reranker
        self._passages = passages
        self._newest: _Sorted | None = None
        self.depth = DEFAULT_DEPTH if keys.depth is None else keys.depth

    def n_asked(self, k: int) -> int:
        """How many results of the first stage are needed for k."""
        return max(self.depth, k)

    def rerank(self, query: str, first: Ranking, n_final: int) -> Staged:
        """The first `n_final` results in the new order; raises RankingError."""
        # Systems that differ in `final` alone ask one after the other for the same order.
        found = self._newest
        if found is None or found.first is not first or found.query != query:
            found = self._newest = self._sorted(query, first)
        n_pairs = len(found.order)
        return Staged(
            tuple(found.hits[:n_final]),
            StageCounts(n_pairs, _n_ties(found.order, n_final), found.n_cut),
            tuple(found.placed[:n_final]),
        )

    def _sorted(self, query: str, first: Ranking) -> _Sorted:
        scored, rest = first[: self.depth], first[self.depth :]
        passages = [self._passages.of(hit.chunk, self._keys.max_words) for hit in scored]
        raw = self._reranker.scores(query, passages)
        order = self._order(raw)
        hits = [Hit(scored[each.first_rank - 1].chunk, each.value) for each in order]
        placed = [(each.first_rank, raw[each.first_rank - 1]) for each in order]
        behind = [(rank, None) for rank in range(len(scored) + 1, len(first) + 1)]
        n_cut = sum(bool(passage.rest) for passage in passages)
        return _Sorted(query, first, order, [*hits, *rest], [*placed, *behind], n_cut)

    def account(self, query: str, staged: Staged) -> RankingAccount:
        """The ranking with how this stage placed each result."""
        from cce.domain.ranking_account import AccountedHit, RankingAccount  # few runs explain

        rows = enumerate(zip(staged.ranking, staged.placed, strict=True), start=1)
        return RankingAccount(
            tuple(AccountedHit(rank, hit, (), self._parts(query, hit, *place)) for rank, (hit, place) in rows)
        )

    def _parts(self, query: str, hit: Hit, first_rank: int, raw_score: float | None) -> StageParts:
        if raw_score is None:
            return StageParts(first_rank, None)
        passage = self._passages.of(hit.chunk, self._keys.max_words)
        return StageParts(first_rank, raw_score, words_beyond(query, passage))

    def _order(self, raw: Sequence[float]) -> list[_Scored]:
        """Best first; equal keys keep the first stage's order."""
        by_score = [_Scored(rank, ordering_key(score), score) for rank, score in enumerate(raw, start=1)]
        by_score.sort(key=_falling)
        return sorted(_fused(by_score), key=_falling) if self._keys.blend else by_score


def _falling(scored: _Scored) -> tuple[int | Fraction, int]:
    return -scored.key, scored.first_rank


def _fused(by_score: Sequence[_Scored]) -> list[_Scored]:
    """Each with 1 / (60 + rank) summed over both orders, as a fraction: floats would break ties at random.

    First in one order and third in the other is 1/61 + 1/63, whichever is which.
    """
    from fractions import Fraction  # few systems blend, and it takes milliseconds to import

    fused = []
    for rank, each in enumerate(by_score, start=1):
        key = Fraction(1, _RANK_OFFSET + each.first_rank) + Fraction(1, _RANK_OFFSET + rank)
        fused.append(_Scored(each.first_rank, key, float(key)))
    return fused


def _n_ties(order: Sequence[_Scored], n_final: int) -> int:
    """Equal neighbours of which one at least is among the final results."""
    return sum(above.key == below.key for above, below in [*pairwise(order)][:n_final])
