"""A store in, what it holds and whether it still matches its directory out."""

from __future__ import annotations

from cce.domain.summary import StoreSummary
from cce.retrieval.indexing.directory import ProgressCallback
from cce.retrieval.store.freshness import compare_with_directory
from cce.retrieval.store.place import directory_of, store_beside
from cce.retrieval.store.reading import read_store
from cce.retrieval.store.summaries import summarize_store


def run_stats(directory: str | None, store: str | None, progress: ProgressCallback) -> StoreSummary:
    """The summary of `store`, that beside `directory` by default; raises CceError.

    Without `directory`, a store at its default place is compared with the directory it lies in.
    """
    path = store_beside(directory or ".") if store is None else store
    compared = directory or directory_of(path)
    read = read_store(path)
    freshness = None if compared is None else compare_with_directory(read, compared, progress)
    return summarize_store(path, read, freshness)
