"""A set and its indexed corpus in, the cases out whose labels say less than they seem to."""

from __future__ import annotations

from collections.abc import Iterator

from cce.domain.case import FixtureSet
from cce.domain.gate import DoubtfulLabels
from cce.domain.ranking import Chunk
from cce.measurement.matching.ideals import IndexedChunks
from cce.retrieval.indexing.directory import IndexedCorpus
from cce.retrieval.indexing.index import Index
from cce.usecases.corpora import indexed_texts


def doubtful_labels(fixtures: FixtureSet, indexed: IndexedCorpus) -> DoubtfulLabels:
    """The cases whose pins do not hold, or whose anchors match nothing; a store has no text to look at."""
    chunks = IndexedChunks(_chunks_in_question(fixtures, indexed.index))
    unmatched = tuple(case.id for case in fixtures.cases if chunks.unmatched(case))
    return DoubtfulLabels(_stale(fixtures, indexed), unmatched)


def _chunks_in_question(fixtures: FixtureSet, index: Index) -> Iterator[tuple[int, Chunk]]:
    """The chunks that an anchor may match, with their positions: to make all can take a second."""
    paths = {anchor.path for case in fixtures.cases for anchor in case.anchors}
    for path, positions in index.positions_by_file.items():
        if path in paths or None in paths:
            for position in positions:
                yield position, index.chunks[position]


def _stale(fixtures: FixtureSet, indexed: IndexedCorpus) -> tuple[str, ...]:
    if not indexed.is_directory or not any(case.pins for case in fixtures.cases):
        return ()
    from cce.labels.tracking.pins import stale_anchors  # it reads files again, which only pins need
    from cce.labels.tracking.texts import AnchoredTexts

    texts = AnchoredTexts(indexed_texts(indexed))
    return tuple(case.id for case in fixtures.cases if any(stale_anchors(texts, case)))
