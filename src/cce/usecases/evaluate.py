"""The bridge between the wings, and the whole story: index, rank, score, compare.

fixture set ──┐
corpus ──> index ──> rankings per system ──> scores ──> comparison ──> report
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from cce.domain.case import FixtureSet
from cce.domain.ranking import Ranking
from cce.domain.report import Report
from cce.domain.scores import BackendScore
from cce.domain.second_stage import StageCounts
from cce.measurement.fixtures.notices import notices, set_notices
from cce.measurement.fixtures.reading import read_fixture_set
from cce.measurement.matching.places import are_identical
from cce.measurement.matching.scoping import ScopedCase, scope_notice
from cce.measurement.matching.spans import LineWeights
from cce.measurement.metrics.catalog import largest_cutoff
from cce.measurement.scoring import SetScorer
from cce.numerals import format_score
from cce.retrieval.indexing.directory import IndexedCorpus, ProgressCallback
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.catalogue import Catalogue
from cce.usecases.corpora import (
    NO_CHOICE,
    CorpusChoice,
    corpus_notices,
    corpus_of,
    indexed_texts,
    likely_secrets,
    open_corpus,
)
from cce.usecases.opened_systems import OpenSystems, Surroundings, opened
from cce.usecases.ranking import Answered, Asking, ask_all, failure_notice, stage_notices
from cce.usecases.scopes import CaseScopes
from cce.usecases.systems import BUILT_IN_SYSTEMS, SystemsChoice, needs_no_corpus

if TYPE_CHECKING:
    from cce.domain.comparison import Comparison
    from cce.domain.costs import Costs
    from cce.domain.drilldown import CaseDrilldown
    from cce.domain.evidence import EvidenceOptions
    from cce.domain.labels import Labels

_BUILT_IN_CATALOGUE = Catalogue()

NOTHING = "(none)"
"""What a report calls the corpus and the embedder of a run without a corpus."""


class Plan(NamedTuple):
    """What to measure; a comparison takes two systems.

    backends        names of systems of `catalogue`
    without_corpus  score saved runs by the set alone, even where it names a corpus
    has_labels      say in the report what the cases were labelled with
    """

    fixtures: str
    backends: tuple[str, ...]
    is_comparison: bool
    corpus: CorpusChoice = NO_CHOICE
    evidence: EvidenceOptions | None = None
    systems: SystemsChoice = BUILT_IN_SYSTEMS
    catalogue: Catalogue = _BUILT_IN_CATALOGUE
    without_corpus: bool = False
    has_labels: bool = False


class Measurement(NamedTuple):
    """What each system answered (the first time) and what it scored, in report order.

    notices    what the reader should know of the systems, one line each
    failed     by system the cases that failed, and why
    elsewhere  saved runs that were recorded over another corpus
    costs      by system, where a price was given or a second stage scored passages
    staged     by system with a second stage, what that did for each case
    """

    rankings: Mapping[str, Sequence[Ranking]]
    scores: tuple[BackendScore, ...]
    notices: tuple[str, ...] = ()
    failed: Mapping[str, Mapping[str, str]] = {}
    elsewhere: tuple[str, ...] = ()
    costs: Mapping[str, Costs] = {}
    staged: Mapping[str, Sequence[StageCounts]] = {}


class Evaluation(NamedTuple):
    """The report, its cases in detail if they were asked for, and warnings about it: one line each.

    `directory` is what was indexed, None for a store and without a corpus.
    """

    report: Report
    cases: tuple[CaseDrilldown, ...]
    notices: tuple[str, ...]
    directory: str | None = None


def evaluate(
    plan: Plan, progress: ProgressCallback, *, has_drilldown: bool = False, has_misses: bool = False
) -> Evaluation:
    """Carry out `plan`; raises CceError if it cannot be measured.

    With `has_drilldown` the cases come with text of the corpus, and a notice counts likely secrets; with
    `has_misses` also with the ranks that missed anchors would have had.
    """
    fixtures = read_fixture_set(plan.fixtures)
    labels = _labels(fixtures) if plan.has_labels else None
    corpus, indexed = _open_corpus(plan, fixtures, progress)
    measurement = measure_systems(plan, fixtures, None if indexed is None else indexed.index, progress)
    report = report_on(plan, fixtures, corpus, indexed, measurement)._replace(labels=labels)
    notices = (*all_notices(fixtures, indexed), *measurement.notices)
    directory = indexed.root if indexed is not None and indexed.is_directory else None
    if not has_drilldown:
        return Evaluation(report, (), notices, directory)

    from cce.usecases.drilldown import drill_into  # text and JSON reports have none

    index = None if indexed is None else indexed.index
    cases = drill_into(fixtures, measurement.rankings, index, plan.catalogue if has_misses else None)
    secrets = () if indexed is None else likely_secrets(indexed)
    return Evaluation(report, cases, (*notices, *secrets), directory)


def _labels(fixtures: FixtureSet) -> Labels:
    from cce.measurement.fixtures.digests import labels_of  # most reports have none

    return labels_of(fixtures)


def _open_corpus(
    plan: Plan, fixtures: FixtureSet, progress: ProgressCallback
) -> tuple[str, IndexedCorpus | None]:
    """The corpus as reports name it, and its index; without one where only saved runs are scored."""
    if needs_no_corpus(plan.catalogue, plan.backends, plan.corpus, fixtures, is_typed=plan.without_corpus):
        return NOTHING, None
    corpus = corpus_of(plan.corpus, fixtures)
    return corpus, open_corpus(plan.corpus, corpus, progress)


def measure_systems(
    plan: Plan, fixtures: FixtureSet, index: Index | None, progress: ProgressCallback
) -> Measurement:
    """Rank and score every case on every system of `plan`; `index` is None where there is no corpus."""
    metrics = () if plan.evidence is None else plan.evidence.metrics
    scorer = _scorer(fixtures, index, metrics)
    scopes = CaseScopes(plan.catalogue.scopes, index, plan.catalogue.path)
    scopes.require_known(fixtures)
    asking = Asking(largest_cutoff(metrics), plan.systems.repeat, plan.systems.keeps_going)
    with opened(plan.systems, plan.catalogue, plan.backends, Surroundings(index, fixtures)) as systems:
        answered = ask_all(systems, plan.backends, fixtures.cases, scopes, asking, progress)
        measured = _score(scorer, fixtures, systems, answered, scopes)
        if systems.has_runs:
            from cce.usecases.ties import all_ties  # files of other tools leave ties open

            ties = tuple(all_ties(fixtures, index, systems, scopes))
            measured = measured._replace(notices=(*measured.notices, *ties))
        if plan.is_comparison and any(case.irrelevant for case in fixtures.cases):
            unjudged = _unjudged(plan, fixtures, scorer, scopes, systems, measured.rankings)
            measured = measured._replace(notices=(*measured.notices, *unjudged))
    is_priced = plan.systems.price is not None or any(map(plan.catalogue.is_priced, plan.backends))
    if is_priced or measured.staged:
        measured = measured._replace(costs=costs_of_systems(plan, index, measured))
    return measured


def _unjudged(
    plan: Plan,
    fixtures: FixtureSet,
    scorer: SetScorer,
    scopes: CaseScopes,
    systems: OpenSystems,
    rankings: Mapping[str, Sequence[Ranking]],
) -> tuple[str, ...]:
    """A notice of what unjudged results could change: on every run if a sign, else only among notes."""
    from cce.measurement.unjudged import Side, unjudged_notice, unjudged_results  # few sets have judgments

    cases = fixtures.cases
    a, b = (
        Side(name, scopes.scoped(cases, systems.scopes(name)) or tuple(map(ScopedCase, cases)), ranked)
        for name, ranked in rankings.items()
    )
    found = unjudged_results(fixtures, a, b, scorer.matcher)
    if found is None or not (found.flipped or _has_notes(plan)):
        return ()
    return (unjudged_notice(found, fixtures, a.name, b.name),)


def _has_notes(plan: Plan) -> bool:
    """Whether the report has notes; without these options its bytes stay as they always were."""
    return plan.systems.has_notes or plan.evidence is not None


def costs_of_systems(plan: Plan, index: Index | None, measured: Measurement) -> dict[str, Costs]:
    """What the answers of each system cost, by name."""
    from cce.measurement.costs import costs_of, text_length

    def corpus_length(path: str, lines: tuple[int, int]) -> int | None:
        return None if index is None or not index.has_file(path) else len(index.text(path, *lines))

    costs = {}
    for name, ranked in measured.rankings.items():
        price = plan.catalogue.resolve(name).table.price or plan.systems.price
        pairs = [each.n_pairs for each in measured.staged.get(name, ())] or [0] * len(ranked)
        costs[name] = costs_of(ranked, pairs, price, lambda hit: text_length(hit, corpus_length))
    return costs


def _scorer(fixtures: FixtureSet, index: Index | None, metrics: Sequence[str]) -> SetScorer:
    if index is None:
        return SetScorer(fixtures, None, metrics, LineWeights(lambda _path: ()))
    return SetScorer(fixtures, index.chunks, metrics, LineWeights(index.outer_chunks_of))


def _score(
    scorer: SetScorer,
    fixtures: FixtureSet,
    systems: OpenSystems,
    answered: Mapping[str, Answered],
    scopes: CaseScopes,
) -> Measurement:
    scores, texts = [], []
    for name, answers in answered.items():
        scoped = scopes.scoped(fixtures.cases, systems.scopes(name))
        by_repeat = [scorer.score(name, each.own, each.deep, scoped) for each in answers.repeats]
        texts += [] if scoped is None else [text for text in [scope_notice(name, scoped)] if text is not None]
        if len(by_repeat) == 1:
            scores.append(by_repeat[0])
        else:
            from cce.measurement.repeats import mean_of_repeats, repeats_notice  # most systems answer once

            scores.append(mean_of_repeats(by_repeat))
            rankings = [each.own for each in answers.repeats]
            texts += [text for text in [repeats_notice(by_repeat, rankings)] if text is not None]
        if answers.failed:
            texts.append(failure_notice(name, answers.failed, len(fixtures.cases)))
        texts += stage_notices(systems.table(name), answers.repeats[0].counts)
    texts += _size_notices(scorer, systems)
    return Measurement(
        rankings={name: answers.first for name, answers in answered.items()},
        scores=tuple(scores),
        # Systems and cases can share a scope, whose patterns are then looked at twice.
        notices=tuple(dict.fromkeys((*systems.notices(), *texts, *scopes.notices()))),
        failed={name: answers.failed for name, answers in answered.items() if answers.failed},
        elsewhere=systems.elsewhere(),
        staged={name: each.repeats[0].counts for name, each in answered.items() if each.repeats[0].counts},
    )


def _size_notices(scorer: SetScorer, systems: OpenSystems) -> list[str]:
    """What can be compared where systems return pieces of different size."""
    if not systems.outside:
        return []
    from cce.retrieval.external.tally import comparable

    pieces = dict.fromkeys(systems.inside, "chunks")
    pieces |= {name: each.door.tally.piece for name, each in systems.outside.items()}
    if len({piece for piece in pieces.values() if piece}) < 2:
        return []
    most = scorer.most_ndcg_of_whole_files()
    return comparable(pieces, None if most is None else format_score(most))


def report_on(
    plan: Plan, fixtures: FixtureSet, corpus: str, indexed: IndexedCorpus | None, measurement: Measurement
) -> Report:
    """The report of what was measured, with the comparison and the evidence that `plan` asks for."""
    scores = measurement.scores
    comparison = _compare(*scores) if plan.is_comparison else None
    evidence = None
    if plan.evidence is not None:
        from cce.measurement.evidence.gathering import gather_evidence  # few runs weigh evidence

        pair = (scores[0], scores[1]) if plan.is_comparison else None
        is_same = pair is not None and are_identical(*measurement.rankings.values())
        evidence = gather_evidence(plan.evidence, scores, pair, fixtures.cases, are_identical=is_same)
    embedder = NOTHING if indexed is None else indexed.index.embedder.name
    report = Report(corpus, embedder, len(fixtures.cases), scores, comparison, evidence)
    if indexed is not None:
        report = report._replace(redaction=indexed.redaction)
    return report._replace(
        notes=measurement.notices if _has_notes(plan) else (),
        costs=measurement.costs,
        systems=_described(plan),
    )


def _described(plan: Plan) -> dict[str, dict[str, Any]]:
    names = [name for name in plan.backends if plan.catalogue.is_described(name)]
    if not names:
        return {}
    from cce.usecases.system_facts import described  # most runs have only systems of our own

    return {name: described(plan.catalogue.resolve(name).table) for name in names}


def _compare(a: BackendScore, b: BackendScore) -> Comparison:
    from cce.measurement.evidence.comparison import compare  # most runs compare nothing

    return compare(a, b)


def all_notices(fixtures: FixtureSet, indexed: IndexedCorpus | None) -> tuple[str, ...]:
    """What makes figures doubtful without changing them: notices about the corpus, then about the set."""
    if indexed is None:
        return tuple(set_notices(fixtures))
    return (
        *corpus_notices(fixtures, indexed, {fixtures.path: "fixture set"}),
        *notices(fixtures, indexed.index.chunks.kinds_by_file, indexed.why_absent),
        *_stale_pins(fixtures, indexed),
    )


def _stale_pins(fixtures: FixtureSet, indexed: IndexedCorpus) -> Iterator[str]:
    # A store has no lines to look at.
    if indexed.is_directory and any(case.pins for case in fixtures.cases):
        from cce.labels.tracking.pins import stale_pins  # it reads files again, which only pins need

        yield from stale_pins(fixtures, indexed_texts(indexed))
