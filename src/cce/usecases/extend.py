"""A set and some systems in; what they return and nobody judged becomes candidates of its cases."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import NamedTuple

from cce.domain.case import Case, FixtureSet
from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.errors import CceError, FixtureError
from cce.labels.extending import with_candidates
from cce.labels.labelling import candidate_lines, corpus_in_header, entries_of
from cce.labels.revision import Revision
from cce.measurement.fixtures.line import case_id, parse_entry
from cce.measurement.matching.matcher import Matcher
from cce.measurement.matching.spans import LineWeights
from cce.quoting import on_one_line
from cce.retrieval.indexing.directory import ProgressCallback
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.catalogue import Catalogue
from cce.usecases.corpora import CorpusChoice, corpus_of, open_corpus
from cce.usecases.draft import Candidates
from cce.usecases.opened_systems import Surroundings, opened
from cce.usecases.ranking import rankers
from cce.usecases.scopes import CaseScopes
from cce.usecases.systems import SystemsChoice


class ExtendPlan(NamedTuple):
    """Which set gets candidates of which systems; k for lines that have none."""

    fixtures: str
    backends: tuple[str, ...]
    k: int
    corpus: CorpusChoice
    systems: SystemsChoice
    catalogue: Catalogue


class ExtendRun(NamedTuple):
    """How many candidates were added to how many of all cases, and notices: one line each."""

    n_added: int
    n_extended: int
    n_cases: int
    notices: tuple[str, ...]


def run_extend(plan: ExtendPlan, progress: ProgressCallback) -> ExtendRun:
    """Carry out `plan` and write the set, unless nothing is new; raises CceError."""
    revision = Revision(plan.fixtures)
    list(candidate_lines(revision))  # raises for candidates that an edit would not find
    lines = list(_lines(revision, plan.k))
    fixtures = FixtureSet(plan.fixtures, corpus_in_header(revision), tuple(lines))
    indexed = open_corpus(plan.corpus, corpus_of(plan.corpus, fixtures), progress)
    index = indexed.index
    scopes = CaseScopes(plan.catalogue.scopes, index, plan.catalogue.path)
    scopes.require_known(fixtures)
    n_added = n_extended = 0
    with opened(plan.systems, plan.catalogue, plan.backends, Surroundings(index, fixtures)) as systems:
        judged = _Judgments(index)
        for n_done, case in enumerate(lines):
            progress("asked", n_done, len(lines), "queries")
            candidates = Candidates(index)
            query = Query(case.query).within(scopes.allowed(case))
            for ranker in rankers(systems, plan.backends, index, case_id=case.id):
                candidates.add(ranker.name, judged.without(case, ranker.rank(query, case.k)))
            extended = with_candidates(revision.line(case.line), candidates.pool())
            revision.replace(case.line, extended.line)
            n_added += extended.n_added
            n_extended += bool(extended.n_added)
        told = systems.notices()
    if revision.diff():
        revision.write()
    return ExtendRun(n_added, n_extended, len(lines), (*indexed.notices, *told, *scopes.notices()))


def _lines(revision: Revision, k: int) -> Iterator[Case]:
    """Every case of the set, and every draft as a case without anchors; raises FixtureError."""
    first = None
    for number, entry in entries_of(revision):
        line = revision.line(number).removeprefix(BOM_UTF8)
        try:
            found = parse_entry(line, number, first)
        except CceError as exc:
            raise FixtureError(f"{on_one_line(revision.path)}:{number}: {exc}") from exc
        first = number if first is None else first
        if isinstance(found, Case):
            yield found
        elif "query" in entry:
            typed = entry.get("k")
            own = typed if type(typed) is int and typed > 0 else k
            yield Case(case_id(entry, number), entry["query"], (), own, number)


class _Judgments:
    """Which results somebody judged already: an anchor or an irrelevant place matches them."""

    def __init__(self, index: Index) -> None:
        self._matcher = Matcher(index.chunks, LineWeights(index.outer_chunks_of))

    def without(self, case: Case, ranking: Ranking) -> Ranking:
        """The results that nobody judged, in their order."""
        asked = case._replace(k=max(1, len(ranking)))
        kept = ranking
        for anchors in (case.anchors, case.irrelevant):
            if anchors and kept:
                matches = self._matcher.match(asked._replace(anchors=anchors), kept).matches
                kept = tuple(hit for hit, matched in zip(kept, matches, strict=True) if not matched)
        return kept
