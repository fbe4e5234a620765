"""A fixture set held against its corpus: what is wrong with its labels, or makes them mean little."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cce.domain.case import Case
from cce.domain.findings import Lint
from cce.labels.lint import lint_set
from cce.measurement.fixtures.line import Draft, Entry, Header
from cce.measurement.fixtures.notices import draft_notices
from cce.measurement.fixtures.reading import stream_entries
from cce.measurement.reports.reading import read_saved_report
from cce.retrieval.chunking.naming import named_chunks
from cce.retrieval.indexing.directory import ProgressCallback
from cce.usecases.corpora import (
    CorpusChoice,
    corpus_notices,
    corpus_of,
    header_of,
    indexed_texts,
    open_corpus,
)


class LintPlan(NamedTuple):
    """Which set to check; `report` is a saved report of it, for the spread that it measured."""

    fixtures: str
    corpus: CorpusChoice
    report: str | None = None


class LintRun(NamedTuple):
    """The findings, and notices for their reader: one line each."""

    lint: Lint
    notices: tuple[str, ...]


def run_lint(plan: LintPlan, progress: ProgressCallback) -> LintRun:
    """Carry out `plan`; raises CceError. The set is streamed, so it may be larger than memory."""
    saved = None if plan.report is None else read_saved_report(plan.report)
    header = header_of(plan.fixtures)
    indexed = open_corpus(plan.corpus, corpus_of(plan.corpus, header), progress)
    drafts: list[str] = []
    entries = _without_drafts(stream_entries(plan.fixtures), drafts)
    found = lint_set(plan.fixtures, entries, indexed, indexed_texts(indexed), saved, named_chunks)
    read = {plan.fixtures: "fixture set"}
    if plan.report is not None:
        read[plan.report] = "report"
    skipped = draft_notices(header._replace(drafts=tuple(drafts)))
    return LintRun(found, (*corpus_notices(header, indexed, read), *skipped))


def _without_drafts(
    entries: Iterable[tuple[bytes, Entry]], drafts: list[str]
) -> Iterator[tuple[bytes, Header | Case]]:
    """The other entries; the ids of the drafts go to `drafts`."""
    for line, entry in entries:
        if isinstance(entry, Draft):
            drafts.append(entry.id)
        else:
            yield line, entry
