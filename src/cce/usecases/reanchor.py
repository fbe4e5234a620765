"""A fixture set with stale pins in, the same set with its anchors where their texts are now out."""

from __future__ import annotations

from typing import NamedTuple

from cce.labels.edited import Accepts, never
from cce.labels.reanchor import AnchorMove, reanchor_set
from cce.labels.revision import Revision
from cce.labels.tracking.places import LineTable
from cce.labels.tracking.tracker import Tracker
from cce.measurement.fixtures.notices import draft_notices
from cce.measurement.fixtures.reading import parse_fixture_set
from cce.retrieval.chunking.naming import named_chunks
from cce.usecases.corpora import CorpusChoice, labelled_texts


class ReanchorPlan(NamedTuple):
    """Which set to re-anchor; `accepts` decides about texts that were edited."""

    fixtures: str
    corpus: CorpusChoice
    is_writing: bool = False
    accepts: Accepts = never


class ReanchorRun(NamedTuple):
    """What became of each stale anchor, and the diff of the set; empty if the set was written."""

    moves: tuple[AnchorMove, ...]
    diff: str
    notices: tuple[str, ...]


def run_reanchor(plan: ReanchorPlan) -> ReanchorRun:
    """Carry out `plan`; raises CceError."""
    revision = Revision(plan.fixtures)
    fixtures = parse_fixture_set(revision.raw, plan.fixtures)
    texts, notices = labelled_texts(plan.corpus, fixtures)
    table = LineTable(texts, named_chunks)
    moves = reanchor_set(fixtures.cases, revision, Tracker(table), table, plan.accepts)
    if plan.is_writing:
        revision.write()
    return ReanchorRun(tuple(moves), revision.diff(), (*notices, *draft_notices(fixtures)))
