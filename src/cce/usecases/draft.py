"""Real queries and a corpus in, a set of drafts out: cases with candidates for a person to judge."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cce.domain.query import Query
from cce.domain.ranking import Chunk, Location, Ranking
from cce.errors import UsageError
from cce.labels.draft import PooledChunk, Queries, parse_queries, render_drafts
from cce.quoting import on_one_line
from cce.retrieval.corpus.membership import notices_of_read
from cce.retrieval.indexing.directory import ProgressCallback
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.catalogue import Catalogue
from cce.usecases.corpora import CorpusChoice, corpus_of, likely_secrets, open_corpus
from cce.usecases.opened_systems import Surroundings, opened
from cce.usecases.ranking import Ranker, rankers
from cce.usecases.systems import BUILT_IN_SYSTEMS, SystemsChoice, require_askable

STANDARD_STREAM = "-"
"""Standard input as a source, standard output as an output."""


@dataclass(frozen=True, slots=True)
class DraftPlan:
    """Where the queries come from, what ranks them, and the file that the drafts are for."""

    source: str
    backends: tuple[str, ...]
    k: int
    corpus: CorpusChoice
    output: str = STANDARD_STREAM
    systems: SystemsChoice = BUILT_IN_SYSTEMS
    catalogue: Catalogue = field(default_factory=Catalogue)


class DraftRun(NamedTuple):
    """The set of drafts as text, and what it was made of; `directory` is None for a store."""

    text: str
    queries: Queries
    directory: str | None
    notices: tuple[str, ...]


def run_draft(plan: DraftPlan, raw: bytes, progress: ProgressCallback) -> DraftRun:
    """Carry out `plan` for the queries that `raw` spells; raises CceError."""
    for name in plan.backends:
        require_askable(plan.catalogue, name, "fixtures draft")
    queries = parse_queries(raw, plan.source)
    if not queries.texts:
        raise UsageError(f"{on_one_line(plan.source)}: no query with a token, write one query per line")
    place = corpus_of(plan.corpus)
    indexed = open_corpus(plan.corpus, place, progress)
    # A store does not say where its directory is, and a wrong place would show a judge the wrong text.
    corpus = _relative(place, plan.output) if indexed.is_directory else None
    index = indexed.index
    with opened(plan.systems, plan.catalogue, plan.backends, Surroundings(index)) as systems:
        asked = rankers(systems, plan.backends, index)
        pools = pool_candidates(queries.texts, index, asked, plan.k, progress)
        text = render_drafts(queries.texts, pools, plan.k, corpus)
        told = systems.notices()
    read = {} if plan.source == STANDARD_STREAM else {plan.source: "file of queries"}
    notices = (*indexed.notices, *told, *notices_of_read(indexed, read), *likely_secrets(indexed))
    return DraftRun(text, queries, place if indexed.is_directory else None, notices)


def pool_candidates(
    queries: Sequence[str], index: Index, asked: Sequence[Ranker], k: int, progress: ProgressCallback
) -> Iterator[list[PooledChunk]]:
    """For each query the first `k` results of every system, each place once, in the order of the index.

    A result outside of the corpus, or without lines, is no candidate.
    """
    for n_done, text in enumerate(queries):
        progress("drafting", n_done, len(queries), "queries")
        query = Query(text)
        candidates = Candidates(index)
        for ranker in asked:
            candidates.add(ranker.name, ranker.rank(query, k))
        yield candidates.pool()


class Candidates:
    """What some systems returned for one query, each place once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._found: dict[Hashable, list[str]] = {}
        self._chunks: dict[Hashable, Chunk | Location] = {}

    def add(self, system: str, ranking: Ranking) -> None:
        """Take the results of a system that can be judged: those in the corpus whose lines are known."""
        for hit in _shown(ranking, self._index):
            name = _name(hit.chunk)
            self._chunks[name] = hit.chunk
            self._found.setdefault(name, []).append(system)

    def pool(self) -> list[PooledChunk]:
        """The candidates in the order of the index, so that no ranking can be read from it."""
        places = {name: _place_in(self._index, chunk) for name, chunk in self._chunks.items()}
        pool = sorted(self._chunks, key=places.__getitem__)
        return [PooledChunk(self._chunks[name], tuple(self._found[name])) for name in pool]


def _shown(ranking: Ranking, index: Index) -> Ranking:
    """The hits that can be judged, with their text: those in the corpus whose lines are known."""
    if all(isinstance(hit.chunk, Chunk) for hit in ranking):
        return ranking
    from cce.retrieval.external.locating import with_corpus_text  # only outside systems return other places

    inside = (hit for hit in ranking if isinstance(hit.chunk, Chunk) or not hit.chunk.is_outside)
    return with_corpus_text(tuple(hit for hit in inside if hit.chunk.start_line is not None), index)


def _name(found: Chunk | Location) -> Hashable:
    """What is equal for the same candidate only."""
    if isinstance(found, Chunk):
        return found.chunk_id
    return found.file_path, found.start_line, found.end_line


def _place_in(index: Index, found: Chunk | Location) -> tuple[int, int, int]:
    """Where a candidate stands among the others: other places stand behind the last chunk before them."""
    if isinstance(found, Chunk):
        position = index.chunks.position_of(found)
        return (_position_of_equal(index, found) if position is None else position), 0, 0
    first, last = found.start_line or 0, found.end_line or 0
    own = index.positions_by_file.get(found.file_path, ())
    before = [at for at in own if index.chunks[at].start_line <= first]
    return before[-1] if before else min(own, default=0) - 1, first, last


def _position_of_equal(index: Index, chunk: Chunk) -> int:
    """Where a chunk stands that the index did not give itself, as a plug-in may make them."""
    own = index.positions_by_file[chunk.file_path]
    return next(position for position in own if index.chunks[position] == chunk)


def _relative(directory: str, output: str) -> str:
    """The corpus relative to the folder of `output`; standard output counts as the current folder."""
    folder = "" if output == STANDARD_STREAM else os.path.dirname(output)
    try:
        path = os.path.relpath(directory, folder or os.curdir)
    except ValueError:  # another drive of Windows
        path = os.path.abspath(directory)
    return path.replace(os.sep, "/")
