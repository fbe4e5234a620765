"""One query against one index, and where that index comes from: a store if there is one."""

from __future__ import annotations

import os
from dataclasses import dataclass

from cce.domain.ranking import Ranking
from cce.retrieval.backends.catalog import BACKENDS
from cce.retrieval.backends.hybrid import HybridBackend
from cce.retrieval.cache import Cache
from cce.retrieval.index import Index
from cce.retrieval.indexing import IndexedCorpus, Watch, index_directory
from cce.retrieval.store.place import store_beside
from cce.retrieval.store.reading import read_store


@dataclass(frozen=True, slots=True)
class OpenedIndex:
    """An index and the path of the store it was read from; None if it was built in memory."""

    index: Index
    store: str | None
    notices: tuple[str, ...]


def open_index(directory: str, store: str | None, watch: Watch, cache: Cache | None = None) -> OpenedIndex:
    """The store named, else the one beside `directory`, else an index built now; raises CceError."""
    if store is None and os.path.exists(store_beside(directory)):
        store = store_beside(directory)
    if store is not None:
        return OpenedIndex(read_store(store).index, store, ())
    indexed = index_directory(directory, watch, cache=cache)
    return OpenedIndex(indexed.index, None, indexed.notices)


def index_of_store(path: str) -> IndexedCorpus:
    """A store in the place of a directory: of other files nothing is known. Raises StoreError."""
    return IndexedCorpus(path, read_store(path).index, skipped={}, notices=())


def search(index: Index, backend: str, query: str, k: int, *, use_graph: bool = True) -> Ranking:
    """The k best chunks; hybrid adds, behind them and with `use_graph`, what the import graph suggests."""
    ranker = BACKENDS.load(backend)(index)
    if isinstance(ranker, HybridBackend):
        return ranker.search(query, k, use_graph=use_graph)
    return ranker.rank(query, k)
