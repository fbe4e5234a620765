"""A fixture set with its corpus in, the same set with a pin for each anchor out."""

from __future__ import annotations

from typing import NamedTuple

from cce.labels.pinning import Pinning, pin_set
from cce.labels.revision import Revision
from cce.labels.tracking.places import LineTable
from cce.measurement.fixtures.notices import draft_notices
from cce.measurement.fixtures.reading import parse_fixture_set
from cce.retrieval.chunking.naming import named_chunks
from cce.usecases.corpora import CorpusChoice, labelled_texts


class PinPlan(NamedTuple):
    """Which set to pin, or only its cases `only_ids`; `is_renewal` renews stale pins as well."""

    fixtures: str
    corpus: CorpusChoice
    is_writing: bool = False
    is_renewal: bool = False
    only_ids: tuple[str, ...] = ()


class PinRun(NamedTuple):
    """What was pinned, and the diff of the set; empty if the set was written."""

    pinning: Pinning
    diff: str
    notices: tuple[str, ...]


def run_pin(plan: PinPlan) -> PinRun:
    """Carry out `plan`; raises CceError."""
    revision = Revision(plan.fixtures)
    fixtures = parse_fixture_set(revision.raw, plan.fixtures)
    texts, notices = labelled_texts(plan.corpus, fixtures)
    pinning = pin_set(
        fixtures, revision, LineTable(texts, named_chunks), is_renewal=plan.is_renewal, only_ids=plan.only_ids
    )
    if plan.is_writing:
        revision.write()
    return PinRun(pinning, revision.diff(), (*notices, *draft_notices(fixtures), *pinning.left))
