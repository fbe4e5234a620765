"""A directory in, the store of its index out."""

from __future__ import annotations

import time
from typing import NamedTuple

from cce.domain.redaction import Redaction, RedactionChoice
from cce.domain.summary import IndexingSummary
from cce.errors import UsageError
from cce.retrieval.embedding.checking import make_embedder
from cce.retrieval.indexing.directory import ProgressCallback
from cce.retrieval.store.place import make_store_folder, store_beside
from cce.retrieval.store.reading import require_store
from cce.retrieval.store.summaries import summarize_indexing
from cce.retrieval.store.writing import write_store
from cce.usecases.corpora import CorpusChoice, corpus_of, likely_secrets, open_corpus


class IndexPlan(NamedTuple):
    """Which directory to index and where its store goes, beside the directory if `store` is None.

    With `allows_secrets` sensitive files are indexed too, and nothing is scrubbed.
    """

    corpus: CorpusChoice
    store: str | None = None
    embedder: str = "hash"
    allows_secrets: bool = False


class IndexRun(NamedTuple):
    """What was indexed and written, and notices for the user: one line each."""

    summary: IndexingSummary
    notices: tuple[str, ...]


def store_path(plan: IndexPlan) -> str:
    """Where the store goes; raises StoreError if a default one is a link."""
    return store_beside(corpus_of(plan.corpus)) if plan.store is None else plan.store


def run_index(plan: IndexPlan, progress: ProgressCallback) -> IndexRun:
    """Carry out `plan`; raises CceError, and what was at the path of the store is then untouched."""
    started = time.monotonic()
    corpus = _scrubbed_as_planned(plan)
    directory, path = corpus_of(corpus), store_path(plan)
    require_store(path)
    embedder = make_embedder(plan.embedder)
    _ = embedder.dimension  # a model that does not answer fails before the corpus is read
    indexed = open_corpus(corpus, directory, progress, embedder=embedder)
    if plan.store is None:
        make_store_folder(directory)
    n_bytes = write_store(
        path,
        indexed.index,
        indexed.digests(),
        indexed.redaction,
        default_of=directory if plan.store is None else None,
    )
    summary = summarize_indexing(indexed, path, n_bytes, time.monotonic() - started)
    return IndexRun(summary, (*indexed.notices, *likely_secrets(indexed)))


def _scrubbed_as_planned(plan: IndexPlan) -> CorpusChoice:
    if not plan.allows_secrets:
        return plan.corpus
    if plan.corpus.redaction.is_typed:
        raise UsageError("--allow-secrets and --redact exclude each other: leave one out")
    return plan.corpus._replace(redaction=RedactionChoice(Redaction.OFF))
