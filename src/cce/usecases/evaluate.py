"""The bridge between the wings, and the whole story: index, rank, score, compare.

fixture set ──┐
corpus ──> index ──> rankings per backend ──> scores ──> comparison ──> report
"""

from __future__ import annotations

import contextlib
import os
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cce.domain.case import Case, FixtureSet
from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.domain.redaction import STANDARD, RedactionChoice
from cce.domain.report import Report
from cce.domain.scores import BackendScore
from cce.errors import UsageError
from cce.measurement.fixtures.line import Header
from cce.measurement.fixtures.notices import notices
from cce.measurement.fixtures.reading import read_fixture_set, stream_entries
from cce.measurement.matching.spans import LineWeights
from cce.measurement.scoring import SetScorer
from cce.quoting import on_one_line, quoted
from cce.retrieval.corpus.membership import notices_of_read
from cce.retrieval.indexing.cache import Cache
from cce.retrieval.indexing.directory import IndexedCorpus, Watch, index_directory
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems import open_system
from cce.work_tree import is_outside

if TYPE_CHECKING:
    from cce.domain.comparison import Comparison
    from cce.domain.evidence import EvidenceOptions


_CI_VALUES = ("true", "1")


class Plan(NamedTuple):
    """What to measure; a comparison takes two backends.

    `store`, or else `directory`, wins over the corpus that the set names. A `cache` saves time only.
    """

    fixtures: str
    directory: str | None
    backends: tuple[str, ...]
    is_comparison: bool
    evidence: EvidenceOptions | None = None
    store: str | None = None
    cache: Cache | None = None
    redaction: RedactionChoice = STANDARD


class Measurement(NamedTuple):
    """What each backend answered and what it scored, in report order."""

    rankings: Mapping[str, Sequence[Ranking]]
    scores: tuple[BackendScore, ...]


class Evaluation(NamedTuple):
    """The report, what it was made from, and what its reader should know besides: one line each."""

    report: Report
    fixtures: FixtureSet
    rankings: Mapping[str, Sequence[Ranking]]
    notices: tuple[str, ...]


def evaluate(plan: Plan, watch: Watch, *, writes_text: bool = False) -> Evaluation:
    """Carry out `plan`; raises CceError if it cannot be measured.

    With `writes_text` a notice tells of likely secrets: the report is going to quote the corpus.
    """
    fixtures = read_fixture_set(plan.fixtures)
    corpus = corpus_name(plan, fixtures)
    indexed = index_corpus(plan, corpus, watch)
    measurement = measure_backends(plan, fixtures, indexed.index, watch)
    report = report_on(plan, fixtures, corpus, indexed.index, measurement)
    report = report._replace(redaction=indexed.redaction)
    told = (*all_notices(fixtures, indexed), *(leftovers(indexed) if writes_text else ()))
    return Evaluation(report, fixtures, measurement.rankings, told)


def index_corpus(plan: Plan, corpus: str, watch: Watch) -> IndexedCorpus:
    """The index of what `corpus_name` named: built now, or read from a store."""
    if plan.store is not None:
        from cce.usecases.search import index_of_store  # reading stores needs a library of its own

        return index_of_store(plan.store, plan.redaction)
    return index_directory(corpus, watch, redaction=plan.redaction.redaction, cache=plan.cache)


def measure_backends(plan: Plan, fixtures: FixtureSet, index: Index, watch: Watch) -> Measurement:
    """Rank and score every case on every backend of `plan`."""
    rankings = rank_cases(plan.backends, index, fixtures.cases, watch)
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


def corpus_name(plan: Plan, fixtures: FixtureSet) -> str:
    """The corpus as reports name it, a store or a directory: as given, never normalised.

    Raises UsageError if there is none, and under CI for one that a set names outside its git work tree: there
    the set may be a stranger's, and reports show what the corpus holds.
    """
    if plan.store is not None:
        return plan.store
    if plan.directory is not None:
        return plan.directory
    if fixtures.corpus is None:
        raise UsageError(
            f"{fixtures.path}: no corpus: give --dir DIR or --store FILE, or start the set with "
            '{"schema": "cce.relevance/v1", "corpus": "DIR"}'
        )
    named = _named_corpus(fixtures, fixtures.corpus)
    fault = foreign_corpus(fixtures, named)
    if fault is not None and os.environ.get("CI", "").lower() in _CI_VALUES:
        raise UsageError(fault)
    return named


def foreign_corpus(fixtures: FixtureSet, corpus: str) -> str | None:
    """A warning if `corpus` is what the set names, and leaves the git work tree that holds the set."""
    if fixtures.corpus is None or corpus != _named_corpus(fixtures, fixtures.corpus):
        return None
    if not is_outside(corpus, fixtures.path):
        return None
    fault = f"its corpus {quoted(fixtures.corpus)} lies outside the git work tree that holds the set"
    way_out = "if it is meant, name it with --dir, or as dir in the policy of a gate"
    return f"{on_one_line(fixtures.path)}: {fault}: {way_out}"


def _named_corpus(fixtures: FixtureSet, corpus: str) -> str:
    # Joined with `/` on every system, so that the report's bytes are the same.
    return posixpath.join(os.path.dirname(fixtures.path), corpus)


def planned_corpus(plan: Plan) -> str:
    """`corpus_name` before the set is read: of the set only its first entry is. Raises CceError."""
    return corpus_name(plan, header_of(plan.fixtures))


def header_of(fixtures: str) -> FixtureSet:
    """The set at this path without its cases: only its first entry is read. Raises FixtureError."""
    _, first = next(stream_entries(fixtures))
    return FixtureSet(fixtures, first.corpus if isinstance(first, Header) else None, ())


def corpus_directories(plan: Plan) -> tuple[str, ...]:
    """The directories whose files are measured, or are likely to be those in the store. Raises CceError."""
    if plan.store is None:
        return (planned_corpus(plan),)

    from cce.retrieval.store.place import directory_of

    beside = directory_of(plan.store)
    with contextlib.suppress(UsageError):  # the set names no corpus
        named = planned_corpus(plan._replace(store=None))
        return (named,) if beside is None else (named, beside)
    return () if beside is None else (beside,)


def rank_cases(
    backends: Iterable[str], index: Index, cases: Sequence[Case], watch: Watch
) -> dict[str, list[Ranking]]:
    """By backend one ranking a case, in case order.

    Case by case, not backend by backend: what two backends compute of a query is then computed once.
    """
    systems = [open_system(name, index) for name in backends]
    rankings: dict[str, list[Ranking]] = {system.name: [] for system in systems}
    for n_done, case in enumerate(cases):
        watch("ranked", n_done, len(cases), "queries")
        query = Query(case.query)
        for system in systems:
            rankings[system.name].append(system.rank(query, case.k))
    return rankings


def all_notices(fixtures: FixtureSet, indexed: IndexedCorpus) -> tuple[str, ...]:
    """What makes figures doubtful without changing them: of the corpus, then of the set."""
    foreign = foreign_corpus(fixtures, indexed.root) if indexed.is_directory else None
    return (
        *([] if foreign is None else [foreign]),
        *indexed.notices,
        *notices_of_read(indexed, {fixtures.path: "fixture set"}),
        *notices(fixtures, indexed.index.chunks.kinds_by_file, indexed.why_absent),
        *_stale_pins(fixtures, indexed),
    )


def leftovers(indexed: IndexedCorpus) -> tuple[str, ...]:
    """A notice of likely secrets that the standard rules leave, for those who write text elsewhere."""
    from cce.retrieval.indexing.leftovers import warn_of_leftovers  # most runs write none

    return warn_of_leftovers(indexed)


def _stale_pins(fixtures: FixtureSet, indexed: IndexedCorpus) -> list[str]:
    if not indexed.is_directory:  # a store has no lines to look at
        return []
    if not any(case.pins for case in fixtures.cases):
        return []

    from cce.labels.tracking.pins import stale_pins  # reads files again, which only pins make necessary
    from cce.retrieval.corpus.texts import CorpusTexts

    texts = CorpusTexts(indexed.root, indexed.index.positions_by_file, indexed.redaction)
    return stale_pins(fixtures, texts)
