"""An indexing run or a store in, its summary out: counting only, no text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from cce.domain.summary import Freshness, IndexingSummary, StoreSummary
from cce.retrieval.corpus.source_files import SkipReason
from cce.retrieval.indexing.directory import IndexedCorpus
from cce.retrieval.indexing.index import Index
from cce.retrieval.store.reading import Store


def summarize_indexing(
    indexed: IndexedCorpus, store: str, n_bytes: int, elapsed_seconds: float
) -> IndexingSummary:
    """What `indexed` holds and left out; `n_bytes` is the size of the store it was written to."""
    reasons = [reason for reason in indexed.skipped.values() if reason is not SkipReason.SENSITIVE]
    return IndexingSummary(
        directory=indexed.root,
        store=store,
        n_bytes=n_bytes,
        n_files=len(indexed.index.positions_by_file),
        n_chunks=len(indexed.index.chunks),
        n_tokens=_n_tokens(indexed.index),
        embedder=indexed.index.embedder.name,
        redaction=indexed.redaction,
        n_skipped=_counted(reason.value for reason in reasons),
        sensitive=tuple(
            sorted(path for path, reason in indexed.skipped.items() if reason is SkipReason.SENSITIVE)
        ),
        elapsed_seconds=elapsed_seconds,
    )


def summarize_store(path: str, store: Store, freshness: Freshness | None) -> StoreSummary:
    """What `store`, read from `path`, holds."""
    chunks = store.index.chunks
    return StoreSummary(
        store=path,
        n_bytes=store.n_bytes,
        format_version=store.format_version,
        embedder=store.embedder,
        embedder_model=store.embedder_model,
        redaction=store.redaction,
        n_files=len(store.index.positions_by_file),
        n_chunks=len(chunks),
        n_tokens=_n_tokens(store.index),
        n_by_language=_counted(chunk.language for chunk in chunks),
        n_by_kind=_counted(chunk.kind for chunk in chunks),
        freshness=freshness,
    )


def _n_tokens(index: Index) -> int:
    return sum(chunk.token_count for chunk in index.chunks)


def _counted(names: Iterable[str]) -> Mapping[str, int]:
    return dict(sorted(Counter(names).items()))
