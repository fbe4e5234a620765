"""One query against one index, and where that index comes from: a store if there is one."""

from __future__ import annotations

import os
from dataclasses import dataclass

from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.domain.redaction import STANDARD, Redaction, RedactionChoice
from cce.errors import UsageError
from cce.quoting import on_one_line
from cce.retrieval.indexing.cache import Cache
from cce.retrieval.indexing.directory import IndexedCorpus, Watch, index_directory
from cce.retrieval.indexing.index import Index
from cce.retrieval.store.place import store_beside
from cce.retrieval.store.reading import Store, read_store
from cce.retrieval.systems import open_system


@dataclass(frozen=True, slots=True)
class OpenedIndex:
    """An index and the path of the store it was read from; None if it was built in memory."""

    index: Index
    store: str | None
    notices: tuple[str, ...]
    redaction: Redaction = Redaction.STANDARD


def open_index(
    directory: str,
    store: str | None,
    watch: Watch,
    cache: Cache | None = None,
    choice: RedactionChoice = STANDARD,
) -> OpenedIndex:
    """The store named, else the one beside `directory`, else an index built now; raises CceError."""
    if store is None and os.path.exists(store_beside(directory)):
        store = store_beside(directory)
    if store is not None:
        read = read_store(store)
        return OpenedIndex(read.index, store, _differences(store, read, choice), read.redaction)
    indexed = index_directory(directory, watch, redaction=choice.redaction, cache=cache)
    return OpenedIndex(indexed.index, None, indexed.notices, indexed.redaction)


def index_of_store(path: str, choice: RedactionChoice = STANDARD) -> IndexedCorpus:
    """A store in the place of a directory: of other files nothing is known. Raises StoreError, UsageError."""
    store = read_store(path)
    return IndexedCorpus(path, store.index, {}, _differences(path, store, choice), store.redaction)


def _differences(path: str, store: Store, choice: RedactionChoice) -> tuple[str, ...]:
    """A notice where `store` went through other rules than asked for; UsageError if they were typed."""
    wanted = choice.redaction
    if store.redaction is wanted or not (choice.is_typed or wanted is Redaction.STRICT):
        return ()
    made = (
        "without scrubbing" if store.redaction is Redaction.OFF else f"with --redact {store.redaction.value}"
    )
    fault = f"{on_one_line(path)}: this store was made {made}, asked for is {wanted.value}"
    way_out = f"index its directory again with: cce index DIR --redact {wanted.value}"
    if choice.is_typed:
        raise UsageError(f"{fault}: {way_out}, or leave out --redact")
    return (f"{fault}: {way_out}",)


def search(index: Index, backend: str, query: str, k: int, *, use_graph: bool = True) -> Ranking:
    """The k best chunks; hybrid adds, behind them and with `use_graph`, what the import graph suggests."""
    return open_system(backend, index).search(Query(query), k, use_graph=use_graph)
