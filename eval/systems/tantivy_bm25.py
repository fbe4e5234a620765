"""tantivy: a full-text engine in the process. Needs `tantivy` (17 MB).

Pitfalls
  query syntax   its parser reads `std::vec`, `(` and `"x` as syntax and raises: build the query from terms.
  words          a term query does not tokenise: the field and the query must be cut alike, here by `words`.
  direction      larger is better.
  ties           go by segment and document. Several writer threads make several segments in any order: one
                 thread and one commit keep the order of the corpus.
  filter         a condition that must hold, of score 0; it is applied before the best k are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tantivy
from corpus_chunks import Chunk, allowed, read_chunks, words
from tantivy import Occur, Query

from cce.retriever_stub import serve

schema = (
    tantivy.SchemaBuilder()
    .add_text_field("words", tokenizer_name="whitespace")
    .add_text_field("path", tokenizer_name="raw")
    .add_unsigned_field("number", stored=True)
    .build()
)
index = tantivy.Index(schema)  # in memory
chunks: list[Chunk] = []


def start(corpus: str | None) -> None:
    """Index the corpus in memory."""
    chunks.extend(read_chunks(corpus))
    writer = index.writer(num_threads=1)
    for number, chunk in enumerate(chunks):
        text = " ".join(words(chunk.text))
        writer.add_document(tantivy.Document(words=text, path=chunk.path, number=number))
    writer.commit()
    index.reload()


def search(query: str, k: int, scope: dict[str, Any] | None = None) -> Iterator[dict[str, object]]:
    """The chunks with the best BM25."""
    terms = [(Occur.Should, Query.term_query(schema, "words", word)) for word in words(query)]
    paths = allowed(scope, (chunk.path for chunk in chunks))
    wanted = Query.boolean_query(terms)
    if paths is not None:
        within = Query.const_score_query(Query.term_set_query(schema, "path", paths), 0.0)
        wanted = Query.boolean_query([(Occur.Must, wanted), (Occur.Must, within)])
    searcher = index.searcher()
    for score, address in searcher.search(wanted, k).hits:
        yield chunks[searcher.doc(address)["number"][0]].result(score)


serve(search, name="tantivy", version=tantivy.__version__, start=start)
