"""A fixture set held against its corpus: what is wrong with its labels, or makes them mean little."""

from __future__ import annotations

from typing import NamedTuple

from cce.domain.findings import Lint
from cce.labels.lint import lint_set
from cce.measurement.fixtures.reading import stream_entries
from cce.measurement.reports.reading import read_saved_report
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
    found = lint_set(plan.fixtures, stream_entries(plan.fixtures), indexed, indexed_texts(indexed), saved)
    read = {plan.fixtures: "fixture set"}
    if plan.report is not None:
        read[plan.report] = "report"
    return LintRun(found, corpus_notices(header, indexed, read))
