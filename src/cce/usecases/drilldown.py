"""The drill-down of what was measured: results with their anchors, and missed anchors with their rank.

For a missed anchor a system of our own is asked once more, for more results. What other systems answer costs
them work and is not asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from cce.domain.case import Case, FixtureSet
from cce.domain.drilldown import CaseDrilldown, ShownMiss
from cce.domain.query import Query
from cce.domain.ranking import Chunk, Ranking
from cce.domain.systems import Variant
from cce.measurement.matching.anchor_table import AnchorTable
from cce.measurement.matching.drilldown import drill_down, opening
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.catalogue import Catalogue
from cce.retrieval.systems.opening import System
from cce.usecases.locations import location_view
from cce.usecases.scopes import CaseScopes

if TYPE_CHECKING:
    from cce.domain.anchor import Anchor

# As deep as `cce explain` asks systems that are not ours: 1,000 results of hybrid take it 30 ms.
_DEPTH_PER_K = 10
_MIN_DEPTH = 100

_NO_CHUNK = "matches nothing in the index"
_OUTSIDE = "outside the scope"
_NOT_ASKED = "its rank is not known"
_UNRANKED = "not ranked at all"


def drill_into(
    fixtures: FixtureSet,
    rankings: Mapping[str, Sequence[Ranking]],
    index: Index | None,
    catalogue: Catalogue | None,
) -> tuple[CaseDrilldown, ...]:
    """One entry per case, in case order; raises CceError.

    index      None where there is no corpus
    catalogue  what is asked again for missed anchors; None to find nothing of them
    """
    view = location_view(index) if _has_locations(rankings) else None
    if index is None or catalogue is None:
        return drill_down(fixtures.cases, rankings, view)
    return drill_down(fixtures.cases, rankings, view, _MissedAnchors(index, catalogue, rankings).find)


def _has_locations(rankings: Mapping[str, Sequence[Ranking]]) -> bool:
    hits = (hit for ranked in rankings.values() for ranking in ranked for hit in ranking)
    return any(not isinstance(hit.chunk, Chunk) for hit in hits)


class _MissedAnchors:
    """Finds the ranks that missed anchors would have had."""

    def __init__(self, index: Index, catalogue: Catalogue, names: Iterable[str]) -> None:
        self._index = index
        self._scopes = CaseScopes(catalogue.scopes, index, catalogue.path)
        self._resolved = {name: catalogue.resolve(name) for name in names}
        self._systems: dict[str, System] = {}
        self._query = Query("")
        self._asked: Case | None = None

    def find(self, backend: str, case: Case, missed: Sequence[int]) -> tuple[ShownMiss, ...]:
        """What there is to say of the anchors at the positions `missed`."""
        table = AnchorTable(case.anchors)
        depth = max(_DEPTH_PER_K * case.k, _MIN_DEPTH)
        deeper = self._rank(backend, case, depth)
        first: dict[int, tuple[int, Chunk]] = {}
        for rank, hit in enumerate(deeper or (), start=1):
            for position in table.matched_by(hit.indexed):
                first.setdefault(position, (rank, hit.indexed))
        why = _NOT_ASKED if deeper is None else _UNRANKED
        if deeper is not None and len(deeper) == depth:
            why = f"not among the first {depth}"
        return tuple(
            _shown(position, None, first[position][1], first[position][0])
            if position in first
            else self._unranked(backend, case, position, why)
            for position in missed
        )

    def _rank(self, backend: str, case: Case, depth: int) -> Ranking | None:
        """None for a system that is not ours."""
        resolved = self._resolved[backend]
        if not isinstance(resolved.table.source, Variant):
            return None
        if backend not in self._systems:  # made when it is first needed: some take seconds
            self._systems[backend] = System(resolved, self._index)
        if self._asked is not case:  # one query for all systems: what two of them need is computed once
            self._asked = case
            self._query = Query(case.query).within(self._scopes.allowed(case))
        return self._systems[backend].rank(self._query, depth)

    def _unranked(self, backend: str, case: Case, position: int, why: str) -> ShownMiss:
        anchor = case.anchors[position]
        files = self._scopes.files(case, self._resolved[backend].scopes)
        if files is not None and anchor.path is not None and not files.holds(anchor.path):
            why = _OUTSIDE
        chunk = self._chunk(anchor)
        return ShownMiss(position, reason=_NO_CHUNK) if chunk is None else _shown(position, why, chunk)

    def _chunk(self, anchor: Anchor) -> Chunk | None:
        """The first chunk of the index that `anchor` matches."""
        chunks = self._index.chunks
        by_file = self._index.positions_by_file
        positions = range(len(chunks)) if anchor.path is None else by_file.get(anchor.path, ())
        return next((chunks[at] for at in positions if anchor.matches(chunks[at])), None)


def _shown(position: int, reason: str | None, chunk: Chunk, rank: int | None = None) -> ShownMiss:
    return ShownMiss(
        anchor=position,
        rank=rank,
        reason=reason,
        path=chunk.file_path,
        first_line=chunk.start_line,
        last_line=chunk.end_line,
        kind=chunk.kind,
        opening=opening(chunk.content),
    )
