"""SQLite FTS5: full text in the standard library of Python.

Pitfalls
  query syntax   MATCH reads a language of its own: `a.py`, `C++` and `don't` are errors, NOT and NEAR are
                 operators. Take the words out yourself, quote each one, and join them with OR: without OR
                 a chunk must hold all of them.
  words          the tokenizer leaves `waiveFee` whole, so the words are written into the table here.
  direction      bm25() is negative, and smaller is better: it is sorted rising and sent with its sign turned.
  ties           come in any order unless the statement says which: here by rowid, the order of the corpus.
  filter         a condition beside MATCH is applied before LIMIT, so a narrow scope still gets k results.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from corpus_chunks import Chunk, allowed, read_chunks, words

from cce.retriever_stub import serve

SEARCH = """
    SELECT rowid, bm25(chunks) FROM chunks
    WHERE chunks MATCH :match AND (:paths IS NULL OR path IN (SELECT value FROM json_each(:paths)))
    ORDER BY bm25(chunks), rowid LIMIT :k
"""

database = sqlite3.connect(":memory:")
chunks: list[Chunk] = []


def start(corpus: str | None) -> None:
    """Index the corpus in memory."""
    chunks.extend(read_chunks(corpus))
    database.execute("CREATE VIRTUAL TABLE chunks USING fts5(words, path UNINDEXED)")
    rows = ((number, " ".join(words(chunk.text)), chunk.path) for number, chunk in enumerate(chunks))
    database.executemany("INSERT INTO chunks(rowid, words, path) VALUES (?, ?, ?)", rows)


def search(query: str, k: int, scope: dict[str, Any] | None = None) -> Iterator[dict[str, object]]:
    """The chunks with the best bm25."""
    match = " OR ".join(f'"{word}"' for word in words(query))
    paths = allowed(scope, (chunk.path for chunk in chunks))
    values = {"match": match, "paths": None if paths is None else json.dumps(paths), "k": k}
    # An empty MATCH is a syntax error, too.
    for number, score in database.execute(SEARCH, values) if match else ():
        yield chunks[number].result(-score)


serve(search, name="sqlite-fts5", version=sqlite3.sqlite_version, start=start)
