"""A set of drafts with its corpus in, the session that takes a person's answers out."""

from __future__ import annotations

from typing import NamedTuple

from cce.domain.case import FixtureSet
from cce.labels.labelling import LabelSession, corpus_in_header
from cce.labels.revision import Revision
from cce.labels.tracking.texts import AnchoredTexts
from cce.usecases.corpora import CorpusChoice, labelled_texts


class Labelling(NamedTuple):
    """A session, the set that it writes to, and the texts that it shows."""

    session: LabelSession
    texts: AnchoredTexts
    revision: Revision
    notices: tuple[str, ...]


def open_labelling(fixtures: str, only_ids: tuple[str, ...], corpus: CorpusChoice) -> Labelling:
    """The session for the set of this path, or only for its cases `only_ids`; raises CceError."""
    revision = Revision(fixtures)
    session = LabelSession(revision, only_ids)
    # Drafts have no labels yet, so they are no fixture set to read.
    header = FixtureSet(fixtures, corpus_in_header(revision), ())
    texts, notices = labelled_texts(corpus, header)
    return Labelling(session, texts, revision, notices)
