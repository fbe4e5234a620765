"""One query against the index of a store, if there is one, or of a directory."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import NamedTuple

from cce.domain.query import Query
from cce.domain.ranking import Chunk, Ranking
from cce.domain.redaction import Redaction
from cce.retrieval.indexing.directory import ProgressCallback
from cce.retrieval.store.place import store_beside
from cce.retrieval.systems.catalogue import Catalogue
from cce.usecases.corpora import CorpusChoice, corpus_of, open_corpus
from cce.usecases.opened_systems import Surroundings, opened
from cce.usecases.ranking import rankers
from cce.usecases.systems import BUILT_IN_SYSTEMS, SystemsChoice, require_askable


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What to ask; without a store in `corpus`, that beside the directory is read if it is there.

    is_verified  read every file of a directory, also those that seem unchanged by size, time and inode
    """

    query: str
    backend: str
    k: int
    use_graph: bool
    corpus: CorpusChoice
    systems: SystemsChoice = BUILT_IN_SYSTEMS
    catalogue: Catalogue = field(default_factory=Catalogue)
    is_verified: bool = False


class SearchRun(NamedTuple):
    """The answer, the store that was read (None for an index built in memory) and what it went through."""

    ranking: Ranking
    store: str | None
    redaction: Redaction
    notices: tuple[str, ...]


def run_search(plan: SearchPlan, progress: ProgressCallback) -> SearchRun:
    """Carry out `plan`; raises CceError."""
    require_askable(plan.catalogue, plan.backend, "search")
    choice = with_store_beside(plan.corpus)
    indexed = open_corpus(choice, corpus_of(choice), progress, trusts_stat=not plan.is_verified)
    index = indexed.index
    with opened(plan.systems, plan.catalogue, [plan.backend], Surroundings(index)) as systems:
        (ranker,) = rankers(systems, [plan.backend], index)
        ranking = ranker.search(Query(plan.query), plan.k, use_graph=plan.use_graph)
        notices = (*indexed.notices, *systems.notices())
    if not all(isinstance(hit.chunk, Chunk) for hit in ranking):
        from cce.retrieval.external.locating import (
            with_corpus_text,  # only outside systems return other places
        )

        ranking = with_corpus_text(ranking, index)
    return SearchRun(ranking, choice.store, indexed.redaction, notices)


def with_store_beside(choice: CorpusChoice) -> CorpusChoice:
    """`choice` with the default store of its directory, if it names no store and there is one.

    Raises StoreError if that store is a link.
    """
    beside = store_beside(corpus_of(choice)) if choice.store is None else None
    return choice._replace(store=beside) if beside is not None and os.path.exists(beside) else choice
