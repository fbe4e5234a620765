"""One query against the index of a store, if there is one, or of a directory."""

from __future__ import annotations

import os
from typing import NamedTuple

from cce.domain.query import Query
from cce.domain.ranking import Chunk, Ranking
from cce.domain.redaction import Redaction
from cce.retrieval.indexing.directory import ProgressCallback
from cce.retrieval.indexing.index import Index
from cce.retrieval.store.place import store_beside
from cce.retrieval.systems.opening import open_system
from cce.usecases.corpora import CorpusChoice, corpus_of, open_corpus


class SearchPlan(NamedTuple):
    """What to ask; without a store in `corpus`, that beside the directory is read if it is there."""

    query: str
    backend: str
    k: int
    use_graph: bool
    corpus: CorpusChoice


class SearchRun(NamedTuple):
    """The answer, the store that was read (None for an index built in memory) and what it went through."""

    ranking: Ranking
    store: str | None
    redaction: Redaction
    notices: tuple[str, ...]


def run_search(plan: SearchPlan, progress: ProgressCallback) -> SearchRun:
    """Carry out `plan`; raises CceError."""
    choice = with_store_beside(plan.corpus)
    indexed = open_corpus(choice, corpus_of(choice), progress)
    ranking = search(indexed.index, plan.backend, plan.query, plan.k, use_graph=plan.use_graph)
    if not all(isinstance(hit.chunk, Chunk) for hit in ranking):
        from cce.retrieval.external.door import with_corpus_text  # only outside systems return other places

        ranking = with_corpus_text(ranking, indexed.index)
    return SearchRun(ranking, choice.store, indexed.redaction, indexed.notices)


def with_store_beside(choice: CorpusChoice) -> CorpusChoice:
    """`choice` with the default store of its directory, if it names no store and there is one.

    Raises StoreError if that store is a link.
    """
    beside = store_beside(corpus_of(choice)) if choice.store is None else None
    return choice._replace(store=beside) if beside is not None and os.path.exists(beside) else choice


def search(index: Index, backend: str, query: str, k: int, *, use_graph: bool = True) -> Ranking:
    """The k best chunks; hybrid adds, behind them and with `use_graph`, what the import graph suggests."""
    return open_system(backend, index).search(Query(query), k, use_graph=use_graph)
