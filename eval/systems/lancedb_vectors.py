"""LanceDB: vectors in files, in the process. Needs `lancedb` (350 MB with pyarrow).

Pitfalls
  direction      a vector search gives `_distance`, smaller is better; full text and hybrid searches give
                 `_score`, larger is better. What is sent here is 1 - distance, the cosine.
  metric         squared Euclid unless told otherwise, and an index answers only the metric it was built with.
  k              10 results unless `limit` says how many.
  ties           in no order that is promised, and float32 splits some of them: fetch many, sort them by
                 rounded distance and number, then cut.
  filter         before the search by default; with `prefilter=False` it drops results of the k found.
                 Conditions are SQL text: quotes in a path must be doubled.
  index          none is built here, so every vector is compared; IVF and HNSW need thousands of rows.
"""

from __future__ import annotations

import tempfile
from typing import Any

import lancedb
from corpus_chunks import Chunk, allowed, embed, read_chunks

from cce.retriever_stub import serve

folder = tempfile.TemporaryDirectory()
database = lancedb.connect(folder.name)
chunks: list[Chunk] = []


def start(corpus: str | None) -> None:
    """Embed the corpus and store its vectors."""
    chunks.extend(read_chunks(corpus))
    rows = [{"number": n, "path": c.path, "vector": embed(c.text)} for n, c in enumerate(chunks)]
    database.create_table("chunks", rows)


def search(query: str, k: int, scope: dict[str, Any] | None = None) -> list[dict[str, object]]:
    """The chunks with the best cosine."""
    wanted = database.open_table("chunks").search(embed(query)).distance_type("cosine").limit(max(k, 1000))
    paths = allowed(scope, (chunk.path for chunk in chunks))
    if paths == []:  # `IN ()` is a syntax error
        return []
    if paths is not None:
        quoted = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
        wanted = wanted.where(f"path IN ({quoted})", prefilter=True)
    best = sorted((round(row["_distance"], 6), row["number"]) for row in wanted.to_list())[:k]
    return [chunks[number].result(1 - distance) for distance, number in best]


serve(search, name="lancedb", version=lancedb.__version__, start=start)
