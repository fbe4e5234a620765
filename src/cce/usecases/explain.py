"""One case in full: why each result has its rank, and why each missed anchor was missed.

A plan, or a case and an index, enters; a CaseExplanation leaves. The figures are the backends' own
accounts of their rankings; a backend that gives none is explained by its scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import NamedTuple

from cce.domain.case import Case, FixtureSet
from cce.domain.explanation import AnchorInIndex, BackendExplanation, CaseExplanation, Fate, MatchedHit, Miss
from cce.domain.query import Query
from cce.domain.ranking import Chunk
from cce.domain.ranking_account import AccountedHit, RankingAccount
from cce.errors import UsageError
from cce.labels.coverage import AnchoredChunks
from cce.labels.misses import Misses
from cce.labels.tracking.texts import AnchoredTexts
from cce.measurement.fixtures.reading import read_fixture_set
from cce.measurement.matching.anchor_table import AnchorTable
from cce.measurement.matching.ideals import IndexedChunks
from cce.measurement.matching.matches import anchor_grades, match_case
from cce.numerals import ordering_key
from cce.quoting import on_one_line, quoted
from cce.registry import unknown_name
from cce.retrieval.indexing.directory import IndexedCorpus, ProgressCallback
from cce.retrieval.systems.catalogue import Catalogue
from cce.usecases.corpora import CorpusChoice, corpus_notices, corpus_of, indexed_texts, open_corpus
from cce.usecases.opened_systems import Surroundings, opened
from cce.usecases.ranking import Ranker, rankers
from cce.usecases.scopes import CaseScopes
from cce.usecases.systems import BUILT_IN_SYSTEMS, SystemsChoice

# How deep an outside system is asked, so that a missed anchor has a rank: some engines return no more.
_DEPTH_PER_K = 10
_MIN_DEPTH = 100

_N_LISTED = 12
_N_LINES_SHOWN = 5

_WORDLESS = "the query has no token, so nothing is ranked"
_SCORELESS = "none of its chunks has a score above zero, so none is ranked"
_OUTSIDE = "the scope leaves no chunk that matches it"
_CROWDED_OUT = "better chunks of its file take all the places that one file may have, whatever k is"


class ExplainPlan(NamedTuple):
    """Which case of which set to explain, on which backends."""

    fixtures: str
    case_id: str
    backends: tuple[str, ...]
    corpus: CorpusChoice
    systems: SystemsChoice = BUILT_IN_SYSTEMS
    catalogue: Catalogue | None = None


class ExplainRun(NamedTuple):
    """The explanation, and notices for its reader: one line each."""

    explanation: CaseExplanation
    notices: tuple[str, ...]


def run_explain(plan: ExplainPlan, progress: ProgressCallback) -> ExplainRun:
    """Carry out `plan`; raises CceError."""
    fixtures = read_fixture_set(plan.fixtures)
    case, *others = cases_called(fixtures, plan.case_id)
    corpus = corpus_of(plan.corpus, fixtures)
    indexed = open_corpus(plan.corpus, corpus, progress)
    catalogue = plan.catalogue or Catalogue()
    with opened(plan.systems, catalogue, plan.backends, Surroundings(indexed.index, fixtures)) as systems:
        depth = max(_DEPTH_PER_K * case.k, _MIN_DEPTH)
        asked = rankers(systems, plan.backends, indexed.index, depth, case.id)
        scopes = CaseScopes(catalogue.scopes, indexed.index, catalogue.path)
        scopes.require_known(fixtures._replace(cases=(case,)))
        allowed = scopes.allowed(case)
        explanation = explain_case(fixtures, case, corpus, indexed, asked, progress, allowed)
        told = systems.notices()
    notices = (
        *told,
        *corpus_notices(fixtures, indexed, {plan.fixtures: "fixture set"}),
        *([_repeated_id(plan.fixtures, case, others)] if others else []),
    )
    return ExplainRun(explanation, notices)


def _repeated_id(fixtures: str, case: Case, others: Sequence[Case]) -> str:
    lines = ", ".join(str(other.line) for other in others[:_N_LINES_SHOWN])
    more = ", …" if len(others) > _N_LINES_SHOWN else ""
    return (
        f"{on_one_line(fixtures)}: {len(others) + 1} cases have the id {quoted(case.id)} "
        f"(lines {case.line}, {lines}{more}); the first is explained, give each case its own id"
    )


def cases_called(fixtures: FixtureSet, case_id: str) -> tuple[Case, ...]:
    """The cases with this id, at least one; raises UsageError, naming the nearest, if there is none."""
    found = tuple(case for case in fixtures.cases if case.id == case_id)
    if not found:
        raise UsageError(f"{on_one_line(fixtures.path)}: {_unknown_case(fixtures, case_id)}")
    return found


def _unknown_case(fixtures: FixtureSet, case_id: str) -> str:
    ids = list(dict.fromkeys(on_one_line(case.id) for case in fixtures.cases))
    if len(ids) > _N_LISTED:
        # Thousands of ids help nobody: list the nearest, or the first ones as examples.
        near = get_close_matches(case_id, ids, n=_N_LISTED)
        ids = [*(near or ids[:_N_LISTED]), "…"]
    return unknown_name("case", case_id, ids)


def explain_case(
    fixtures: FixtureSet,
    case: Case,
    corpus: str,
    indexed: IndexedCorpus,
    asked: Sequence[Ranker],
    progress: ProgressCallback,
    allowed: frozenset[int] | None = None,
) -> CaseExplanation:
    """`case` of `fixtures` on every system that is `asked`; `corpus` is named as given."""
    explainer = _Explainer(case, indexed, allowed)
    explanations = []
    for n_done, ranker in enumerate(asked):
        progress("explained", n_done, len(asked), "backends")
        explanations.append(explainer.of_backend(ranker))
    index = indexed.index
    return CaseExplanation(
        fixtures=fixtures.path,
        corpus=corpus,
        embedder=index.embedder.name,
        redaction=indexed.redaction,
        n_chunks=len(index.chunks),
        case=case,
        anchors=explainer.anchors,
        backends=tuple(explanations),
    )


class _Explainer:
    """Explains one case on one index, backend after backend."""

    def __init__(self, case: Case, indexed: IndexedCorpus, allowed: frozenset[int] | None) -> None:
        self._case = case
        self._index = indexed.index
        self._allowed = allowed
        self._table = AnchorTable(case.anchors)
        self.anchors = _anchors_in_index(case, indexed)

    def of_backend(self, system: Ranker) -> BackendExplanation:
        query = Query(self._case.query).within(self._allowed)
        account = system.explain(query, self._case.k)
        hits = tuple(hit.hit for hit in account.hits)
        is_plain = all(isinstance(hit.chunk, Chunk) for hit in hits)
        match = match_case(self._case, hits, chunks=None if is_plain else self._lookup)
        matched = {position for of_hit in match.matches for position in of_hit}
        missed = [position for position in range(len(self.anchors)) if position not in matched]
        return BackendExplanation(
            backend=system.name,
            hits=tuple(map(MatchedHit, account.hits, match.matches)),
            cut=tuple(MatchedHit(hit, self._matches(hit)) for hit in account.cut),
            misses=tuple(self._misses(system, query, account, missed)),
            terms=account.terms,
            formula=account.formula,
        )

    def _misses(
        self, system: Ranker, query: Query, account: RankingAccount, missed: Sequence[int]
    ) -> list[Miss]:
        absent = [position for position in missed if self.anchors[position].absence is not None]
        present = [position for position in missed if self.anchors[position].absence is None]
        misses = {position: Miss(position, self.anchors[position].absence) for position in absent}
        if present:
            misses.update(self._misses_of_present(system, query, account, present))
        return [misses[position] for position in missed]

    def _misses_of_present(
        self, system: Ranker, query: Query, account: RankingAccount, missed: Sequence[int]
    ) -> Mapping[int, Miss]:
        if not query.tokens:
            return {position: Miss(position, _WORDLESS) for position in missed}
        query = query.within(system.allowed)
        everything = system.explain(query, len(self._index.chunks))
        ranked, cut = self._first_matches(everything.hits), self._first_matches(everything.cut)
        fates = self._fates(account)
        outside = set() if query.allowed is None else set(missed) - self._matched_within(query.allowed)
        return {
            position: Miss(position, _OUTSIDE)
            if position in outside
            else self._miss(position, everything, ranked.get(position), cut.get(position), fates)
            for position in missed
        }

    def _matched_within(self, allowed: frozenset[int]) -> set[int]:
        """Positions of the anchors that a chunk in the scope matches."""
        return {each for at in allowed for each in self._table.matched_by(self._index.chunks[at])}

    def _miss(
        self,
        position: int,
        everything: RankingAccount,
        best: AccountedHit | None,
        crowded_out: AccountedHit | None,
        fates: Mapping[int, Fate] | None,
    ) -> Miss:
        fate = None if fates is None else fates.get(position, "no candidate")
        n_ranked = len(everything.hits)
        if best is None:
            reason = _SCORELESS if crowded_out is None else _CROWDED_OUT
            return Miss(position, reason, crowded_out, n_ranked, None, fate)
        behind_by = None
        if best.rank > self._case.k:
            last = everything.hits[self._case.k - 1]
            behind_by = _behind(last.hit.score, best.hit.score)
        return Miss(position, None, best, n_ranked, behind_by, fate)

    def _fates(self, account: RankingAccount) -> Mapping[int, Fate] | None:
        """What happened to the best candidate of each anchor; None if every chunk is a candidate."""
        if account.behind is None:
            return None
        behind: dict[int, Fate] = dict.fromkeys(self._first_matches(account.behind), "behind")
        cut: dict[int, Fate] = dict.fromkeys(self._first_matches(account.cut), "cut")
        return {**behind, **cut}

    def _first_matches(self, ranked: Iterable[AccountedHit]) -> Mapping[int, AccountedHit]:
        """The best of the `ranked` hits for each anchor that any of them matches."""
        first: dict[int, AccountedHit] = {}
        for hit in ranked:
            for position in self._matches(hit):
                first.setdefault(position, hit)
        return first

    def _matches(self, hit: AccountedHit) -> tuple[int, ...]:
        found = hit.hit.chunk
        if isinstance(found, Chunk):
            return self._table.matched_by(found)
        return self._table.matched_at(found, self._lookup)

    @cached_property
    def _lookup(self) -> IndexedChunks:
        return IndexedChunks(enumerate(self._index.chunks))


def _behind(last: float | None, best: float | None) -> int | None:
    """By how much `best` is below `last`, in 1e-6; None where a system gives no scores."""
    return None if last is None or best is None else ordering_key(last) - ordering_key(best)


def _anchors_in_index(case: Case, indexed: IndexedCorpus) -> tuple[AnchorInIndex, ...]:
    chunks = AnchoredChunks(indexed.index.chunks)
    texts = AnchoredTexts(indexed_texts(indexed))
    misses = Misses(chunks, texts, indexed.why_absent)
    anchors = []
    for anchor, grade in zip(case.anchors, anchor_grades(case), strict=True):
        n_chunks = len(chunks.matched(anchor))
        absence = None if n_chunks else f"matches no chunk: {misses.reason(anchor)}"
        anchors.append(AnchorInIndex(anchor.text, grade, n_chunks, absence))
    return tuple(anchors)
