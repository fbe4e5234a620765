"""Real queries and a corpus in, a set of drafts out: cases with candidates for a person to judge."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cce.domain.query import Query
from cce.domain.ranking import Chunk, Hit
from cce.errors import UsageError
from cce.labels.draft import PooledChunk, Queries, parse_queries, render_drafts
from cce.quoting import on_one_line
from cce.retrieval.corpus.membership import notices_of_read
from cce.retrieval.indexing.directory import ProgressCallback
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.catalogue import Catalogue
from cce.usecases.corpora import CorpusChoice, corpus_of, likely_secrets, open_corpus
from cce.usecases.ranking import Ranker, rankers
from cce.usecases.systems import BUILT_IN_SYSTEMS, Surroundings, SystemsChoice, opened, require_askable

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

    A result that is no chunk comes behind the chunks; one outside of the corpus is no candidate.
    """
    positions = {chunk.chunk_id: position for position, chunk in enumerate(index.chunks)}
    for n_done, text in enumerate(queries):
        progress("drafting", n_done, len(queries), "queries")
        query = Query(text)
        found: dict[str, list[str]] = {}
        chunks: dict[str, Chunk] = {}
        for ranker in asked:
            for hit in ranker.rank(query, k):
                chunk = _candidate(hit, index)
                if chunk is not None:
                    chunks[chunk.chunk_id] = chunk
                    found.setdefault(chunk.chunk_id, []).append(ranker.name)
        pool = sorted(chunks, key=lambda chunk_id: (positions.get(chunk_id, len(positions)), chunk_id))
        yield [PooledChunk(chunks[chunk_id], tuple(found[chunk_id])) for chunk_id in pool]


def _candidate(hit: Hit, index: Index) -> Chunk | None:
    """The chunk of a hit, or the lines of its location as one; None for what has no place in the corpus."""
    place = hit.chunk
    if isinstance(place, Chunk):
        return place
    if place.is_outside or place.start_line is None or place.end_line is None:
        return None
    path, first, last = place.file_path, place.start_line, place.end_line
    text = index.text(path, first, last)
    kind = place.likeness or "module"
    return Chunk(f"{path}@{first}-{last}", path, first, last, "module", kind, "", text, 0)


def _relative(directory: str, output: str) -> str:
    """The corpus relative to the folder of `output`; standard output counts as the current folder."""
    folder = "" if output == STANDARD_STREAM else os.path.dirname(output)
    try:
        path = os.path.relpath(directory, folder or os.curdir)
    except ValueError:  # another drive of Windows
        path = os.path.abspath(directory)
    return path.replace(os.sep, "/")
