"""The bridge between the wings, and the whole story: index, rank, score, compare.

fixture set ──┐
corpus ──> index ──> rankings per backend ──> scores ──> comparison ──> report
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cce.domain.case import Case, FixtureSet
from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.domain.report import Report
from cce.domain.scores import BackendScore
from cce.measurement.fixtures.notices import notices
from cce.measurement.fixtures.reading import read_fixture_set
from cce.measurement.matching.spans import LineWeights
from cce.measurement.scoring import SetScorer
from cce.retrieval.indexing.directory import IndexedCorpus, ProgressCallback
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.opening import open_system
from cce.usecases.corpora import (
    NO_CHOICE,
    CorpusChoice,
    corpus_notices,
    corpus_of,
    indexed_texts,
    likely_secrets,
    open_corpus,
)

if TYPE_CHECKING:
    from cce.domain.comparison import Comparison
    from cce.domain.drilldown import CaseDrilldown
    from cce.domain.evidence import EvidenceOptions


class Plan(NamedTuple):
    """What to measure; a comparison takes two backends."""

    fixtures: str
    backends: tuple[str, ...]
    is_comparison: bool
    corpus: CorpusChoice = NO_CHOICE
    evidence: EvidenceOptions | None = None


class Measurement(NamedTuple):
    """What each backend answered and what it scored, in report order."""

    rankings: Mapping[str, Sequence[Ranking]]
    scores: tuple[BackendScore, ...]


class Evaluation(NamedTuple):
    """The report, its cases in detail if they were asked for, and warnings about it: one line each."""

    report: Report
    cases: tuple[CaseDrilldown, ...]
    notices: tuple[str, ...]


def evaluate(plan: Plan, progress: ProgressCallback, *, has_drilldown: bool = False) -> Evaluation:
    """Carry out `plan`; raises CceError if it cannot be measured.

    With `has_drilldown` the cases come with text of the corpus, and a notice counts likely secrets.
    """
    fixtures = read_fixture_set(plan.fixtures)
    corpus = corpus_of(plan.corpus, fixtures)
    indexed = open_corpus(plan.corpus, corpus, progress)
    measurement = measure_backends(plan, fixtures, indexed.index, progress)
    report = report_on(plan, fixtures, corpus, indexed.index, measurement)
    report = report._replace(redaction=indexed.redaction)
    notices = all_notices(fixtures, indexed)
    if not has_drilldown:
        return Evaluation(report, (), notices)

    from cce.measurement.matching.drilldown import drill_down  # text and JSON reports have none

    cases = drill_down(fixtures.cases, measurement.rankings)
    return Evaluation(report, cases, (*notices, *likely_secrets(indexed)))


def measure_backends(
    plan: Plan, fixtures: FixtureSet, index: Index, progress: ProgressCallback
) -> Measurement:
    """Rank and score every case on every backend of `plan`."""
    rankings = rank_cases(plan.backends, index, fixtures.cases, progress)
    metrics = () if plan.evidence is None else plan.evidence.metrics
    scorer = SetScorer(fixtures, index.chunks, metrics, LineWeights(index.outer_chunks_of))
    return Measurement(rankings, tuple(scorer.score(name, ranked) for name, ranked in rankings.items()))


def report_on(
    plan: Plan, fixtures: FixtureSet, corpus: str, index: Index, measurement: Measurement
) -> Report:
    """The report of what was measured, with the comparison and the evidence that `plan` asks for."""
    comparison = _compare(*measurement.scores) if plan.is_comparison else None
    evidence = None
    if plan.evidence is not None:
        from cce.measurement.evidence.gathering import gather_evidence  # few runs weigh evidence

        pair = (measurement.scores[0], measurement.scores[1]) if plan.is_comparison else None
        evidence = gather_evidence(plan.evidence, measurement.scores, pair, fixtures.cases)
    n_cases = len(fixtures.cases)
    return Report(corpus, index.embedder.name, n_cases, measurement.scores, comparison, evidence)


def _compare(a: BackendScore, b: BackendScore) -> Comparison:
    from cce.measurement.evidence.comparison import compare  # most runs compare nothing

    return compare(a, b)


def rank_cases(
    backends: Iterable[str], index: Index, cases: Sequence[Case], progress: ProgressCallback
) -> dict[str, list[Ranking]]:
    """The rankings of each backend, one per case and in case order.

    All backends rank a case before the next one, so what two of them need of a query is computed once.
    """
    systems = [open_system(name, index) for name in backends]
    rankings: dict[str, list[Ranking]] = {system.name: [] for system in systems}
    for n_done, case in enumerate(cases):
        progress("ranked", n_done, len(cases), "queries")
        query = Query(case.query)
        for system in systems:
            rankings[system.name].append(system.rank(query, case.k))
    return rankings


def all_notices(fixtures: FixtureSet, indexed: IndexedCorpus) -> tuple[str, ...]:
    """What makes figures doubtful without changing them: notices about the corpus, then about the set."""
    return (
        *corpus_notices(fixtures, indexed, {fixtures.path: "fixture set"}),
        *notices(fixtures, indexed.index.chunks.kinds_by_file, indexed.why_absent),
        *_stale_pins(fixtures, indexed),
    )


def _stale_pins(fixtures: FixtureSet, indexed: IndexedCorpus) -> list[str]:
    if not indexed.is_directory:  # a store has no lines to look at
        return []
    if not any(case.pins for case in fixtures.cases):
        return []

    from cce.labels.tracking.pins import stale_pins  # it reads files again, which only pins need

    return stale_pins(fixtures, indexed_texts(indexed))
