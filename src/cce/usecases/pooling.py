"""Pooling: queries and an index in, out come the chunks that a person shall judge for each query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cce.domain.query import Query
from cce.domain.ranking import Chunk
from cce.labels.draft import PooledChunk
from cce.retrieval.indexing.directory import Watch
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems import open_system


def pool_candidates(
    queries: Sequence[str], index: Index, backends: Sequence[str], k: int, watch: Watch
) -> Iterator[list[PooledChunk]]:
    """For each query the first `k` chunks of every backend, each chunk once, in the order of the index."""
    systems = [open_system(name, index) for name in backends]
    positions = {chunk.chunk_id: position for position, chunk in enumerate(index.chunks)}
    for n_done, text in enumerate(queries):
        watch("drafting", n_done, len(queries), "queries")
        query = Query(text)
        found: dict[str, list[str]] = {}
        chunks: dict[str, Chunk] = {}
        for system in systems:
            for hit in system.rank(query, k):
                chunks[hit.chunk.chunk_id] = hit.chunk
                found.setdefault(hit.chunk.chunk_id, []).append(system.name)
        pool = sorted(chunks, key=positions.__getitem__)
        yield [PooledChunk(chunks[chunk_id], tuple(found[chunk_id])) for chunk_id in pool]
