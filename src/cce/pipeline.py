"""The bridge between the wings, and the whole story: index, rank, score, compare.

fixture set ──┐
corpus ──> index ──> rankings per backend ──> scores ──> comparison ──> report
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass

from cce.domain.case import Case, FixtureSet
from cce.domain.ranking import Ranking
from cce.domain.report import Report
from cce.errors import UsageError
from cce.measurement.comparison import compare
from cce.measurement.fixtures import read_fixture_set
from cce.measurement.notices import notices
from cce.measurement.scoring import score_backend
from cce.measurement.spans import LineWeights
from cce.retrieval.backends.catalog import BACKENDS
from cce.retrieval.index import Index
from cce.retrieval.indexing import IndexedCorpus, Watch, index_directory


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure: `directory` wins over the corpus the set names; a comparison takes two backends."""

    fixtures: str
    directory: str | None
    backends: tuple[str, ...]
    is_comparison: bool


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The report, and what its reader should know besides: one line each."""

    report: Report
    notices: tuple[str, ...]


def evaluate(plan: Plan, watch: Watch) -> Evaluation:
    """Carry out `plan`; raises CceError if it cannot be measured."""
    fixtures = read_fixture_set(plan.fixtures)
    corpus = corpus_directory(plan, fixtures)
    indexed = index_directory(corpus, watch)
    report = measure(plan, fixtures, corpus, indexed.index, watch)
    return Evaluation(report, (*indexed.notices, *_fixture_notices(fixtures, indexed)))


def measure(plan: Plan, fixtures: FixtureSet, corpus: str, index: Index, watch: Watch) -> Report:
    """Rank and score every case on every backend of `plan`."""
    weights = LineWeights(index.chunks)
    scores = tuple(
        score_backend(name, fixtures, rank_cases(name, index, fixtures.cases, watch), weights)
        for name in plan.backends
    )
    comparison = compare(*scores) if plan.is_comparison else None
    return Report(corpus, index.embedder.name, len(fixtures.cases), scores, comparison)


def corpus_directory(plan: Plan, fixtures: FixtureSet) -> str:
    """The corpus as reports name it: as given, never normalised."""
    if plan.directory is not None:
        return plan.directory
    if fixtures.corpus is None:
        raise UsageError(
            f"{fixtures.path}: no corpus: give --dir DIR, or start the set with a header line "
            '{"schema": "cce.relevance/v1", "corpus": "DIR"}'
        )
    # Joined with `/` on every system, so that the report's bytes are the same.
    return posixpath.join(os.path.dirname(fixtures.path), fixtures.corpus)


def rank_cases(backend: str, index: Index, cases: Iterable[Case], watch: Watch) -> list[Ranking]:
    """One ranking a case, in case order."""
    ranker = BACKENDS.load(backend)(index)
    cases = tuple(cases)
    rankings = []
    for n_done, case in enumerate(cases):
        watch(f"{backend}: ranked", n_done, len(cases), "queries")
        rankings.append(ranker.rank(case.query, case.k))
    return rankings


def _fixture_notices(fixtures: FixtureSet, indexed: IndexedCorpus) -> list[str]:
    kinds_by_file: dict[str, set[str]] = {}
    for chunk in indexed.index.chunks:
        kinds_by_file.setdefault(chunk.file_path, set()).add(chunk.kind)
    return notices(fixtures, kinds_by_file, indexed.why_absent)
