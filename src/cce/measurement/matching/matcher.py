"""The matches of one corpus: what it holds is gathered when a case first needs it.

Cases and rankings enter, matches with ideal and token figures leave. Without a corpus the anchors themselves
are what can be found: each is one unit, and every line weighs 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from cce.domain.case import Case
from cce.domain.ranking import Chunk, Ranking
from cce.measurement.matching.matches import CaseMatch, TokenScore, match_case
from cce.measurement.matching.spans import LineWeights, token_score

if TYPE_CHECKING:
    from cce.measurement.matching.ideals import IndexedChunks


class Matcher:
    """Matches rankings over one index, or over none."""

    def __init__(self, chunks: Iterable[Chunk] | None, weights: LineWeights) -> None:
        """`chunks` are all chunks of the index, in index order; None where there is no corpus."""
        self._chunks = chunks
        self._weights = weights
        self._allowed: dict[frozenset[int], IndexedChunks] = {}

    @property
    def has_no_corpus(self) -> bool:
        """Whether there is no index to look into."""
        return self._chunks is None

    def match(
        self,
        case: Case,
        ranking: Ranking,
        ideal: tuple[int, ...] = (),
        allowed: frozenset[int] | None = None,
    ) -> CaseMatch:
        """The match of the first k hits; `allowed` has the positions of the chunks that a scope leaves."""
        tokens = self._tokens(case, ranking)
        if all(isinstance(hit.chunk, Chunk) for hit in ranking[: case.k]):
            return match_case(case, ranking, ideal, tokens)
        chunks = None if self._chunks is None else self.indexed(allowed)
        return match_case(case, ranking, ideal, tokens, chunks)

    def ideal(self, case: Case, allowed: frozenset[int] | None = None) -> tuple[int, ...]:
        """The grades of all that is relevant for `case`, best first, at most k."""
        if self._chunks is not None:
            return self.indexed(allowed).ideal(case)
        from cce.measurement.matching.ideals import ideal_of_anchors

        return ideal_of_anchors(case)

    def indexed(self, allowed: frozenset[int] | None = None) -> IndexedChunks:
        """The chunks of the index, or those at the `allowed` positions, to be looked up."""
        if allowed is None:
            return self._indexed
        if allowed not in self._allowed:
            self._allowed[allowed] = self._indexed.within(allowed)
        return self._allowed[allowed]

    @cached_property
    def _indexed(self) -> IndexedChunks:
        from cce.measurement.matching.ideals import IndexedChunks  # the figures of a report need none

        return IndexedChunks(enumerate(self._chunks or ()))

    def _tokens(self, case: Case, ranking: Ranking) -> TokenScore | None:
        # Without a corpus nobody knows how long a file is.
        if self._chunks is None and any(hit.chunk.start_line is None for hit in ranking[: case.k]):
            return None
        return token_score(case, ranking, self._weights)
