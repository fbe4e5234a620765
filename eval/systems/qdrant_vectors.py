"""Qdrant: the engine itself, in the process, without a server. Needs `qdrant-edge-py` (35 MB).

Pitfalls
  another engine the local mode of `qdrant-client` compares all vectors; this is the engine of the server.
  index          a graph (HNSW) is built by `optimize` once there are 10 MB of vectors; below that all are
                 compared, and `exact=True` always does so, to tell what the index costs in recall.
  direction      with cosine, larger is better; with `Distance.Euclid` and `Manhattan`, smaller.
  ties           differ from run to run, and float32 splits some of them: fetch many, sort them by rounded
                 score and number, then cut.
  filter         the graph is searched within the condition, so a narrow one still finds k. Dropping results
                 after the search would not: see pgvector_hnsw.py.
  storage        a shard is a folder; `create` refuses one that holds a shard already.
"""

from __future__ import annotations

import tempfile
from typing import Any

from corpus_chunks import DIMENSION, Chunk, allowed, embed, read_chunks
from qdrant_edge import (
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeVectorParams,
    FieldCondition,
    Filter,
    MatchAny,
    Point,
    Query,
    QueryRequest,
    UpdateOperation,
)

from cce.retriever_stub import serve

folder = tempfile.TemporaryDirectory()
shard = EdgeShard.create(folder.name, EdgeConfig(vectors=EdgeVectorParams(DIMENSION, Distance.Cosine)))
chunks: list[Chunk] = []


def start(corpus: str | None) -> None:
    """Embed the corpus and index its vectors."""
    chunks.extend(read_chunks(corpus))
    points = [Point(n, embed(chunk.text), {"path": chunk.path}) for n, chunk in enumerate(chunks)]
    shard.update(UpdateOperation.upsert_points(points))
    shard.optimize()


def search(query: str, k: int, scope: dict[str, Any] | None = None) -> list[dict[str, object]]:
    """The chunks with the best cosine."""
    paths = allowed(scope, (chunk.path for chunk in chunks))
    within = None if paths is None else Filter(must=[FieldCondition("path", match=MatchAny(paths))])
    found = shard.query(QueryRequest(max(k, 1000), query=Query.Nearest(embed(query)), filter=within))
    best = sorted((-round(one.score, 6), int(one.id)) for one in found)[:k]
    return [chunks[number].result(-negative) for negative, number in best]


serve(search, name="qdrant", start=start)
