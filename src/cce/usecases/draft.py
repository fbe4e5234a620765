"""Real queries and a corpus in, a set of drafts out: cases with candidates for a person to judge."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cce.domain.query import Query
from cce.domain.ranking import Chunk
from cce.errors import UsageError
from cce.labels.draft import PooledChunk, Queries, parse_queries, render_drafts
from cce.quoting import on_one_line
from cce.retrieval.corpus.membership import notices_of_read
from cce.retrieval.indexing.directory import ProgressCallback
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.opening import open_system
from cce.usecases.corpora import CorpusChoice, corpus_of, likely_secrets, open_corpus

STANDARD_STREAM = "-"
"""Standard input as a source, standard output as an output."""


class DraftPlan(NamedTuple):
    """Where the queries come from, what ranks them, and the file that the drafts are for."""

    source: str
    backends: tuple[str, ...]
    k: int
    corpus: CorpusChoice
    output: str = STANDARD_STREAM


class DraftRun(NamedTuple):
    """The set of drafts as text, and what it was made of; `directory` is None for a store."""

    text: str
    queries: Queries
    directory: str | None
    notices: tuple[str, ...]


def run_draft(plan: DraftPlan, raw: bytes, progress: ProgressCallback) -> DraftRun:
    """Carry out `plan` for the queries that `raw` spells; raises CceError."""
    queries = parse_queries(raw, plan.source)
    if not queries.texts:
        raise UsageError(f"{on_one_line(plan.source)}: no query with a token, write one query per line")
    place = corpus_of(plan.corpus)
    indexed = open_corpus(plan.corpus, place, progress)
    # A store does not say where its directory is, and a wrong place would show a judge the wrong text.
    corpus = _relative(place, plan.output) if indexed.is_directory else None
    pools = pool_candidates(queries.texts, indexed.index, plan.backends, plan.k, progress)
    text = render_drafts(queries.texts, pools, plan.k, corpus)
    read = {} if plan.source == STANDARD_STREAM else {plan.source: "file of queries"}
    notices = (*indexed.notices, *notices_of_read(indexed, read), *likely_secrets(indexed))
    return DraftRun(text, queries, place if indexed.is_directory else None, notices)


def pool_candidates(
    queries: Sequence[str], index: Index, backends: Sequence[str], k: int, progress: ProgressCallback
) -> Iterator[list[PooledChunk]]:
    """For each query the first `k` chunks of every backend, each chunk once, in the order of the index."""
    systems = [open_system(name, index) for name in backends]
    positions = {chunk.chunk_id: position for position, chunk in enumerate(index.chunks)}
    for n_done, text in enumerate(queries):
        progress("drafting", n_done, len(queries), "queries")
        query = Query(text)
        found: dict[str, list[str]] = {}
        chunks: dict[str, Chunk] = {}
        for system in systems:
            for hit in system.rank(query, k):
                chunk = hit.indexed
                chunks[chunk.chunk_id] = chunk
                found.setdefault(chunk.chunk_id, []).append(system.name)
        pool = sorted(chunks, key=positions.__getitem__)
        yield [PooledChunk(chunks[chunk_id], tuple(found[chunk_id])) for chunk_id in pool]


def _relative(directory: str, output: str) -> str:
    """The corpus relative to the folder of `output`; standard output counts as the current folder."""
    folder = "" if output == STANDARD_STREAM else os.path.dirname(output)
    try:
        path = os.path.relpath(directory, folder or os.curdir)
    except ValueError:  # another drive of Windows
        path = os.path.abspath(directory)
    return path.replace(os.sep, "/")
