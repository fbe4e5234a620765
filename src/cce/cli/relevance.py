"""`cce relevance`: score rankings against a labelled fixture set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cce.cli.exits import warn
from cce.cli.options import (
    cache_option,
    directory_option,
    evidence_options,
    parse_backends,
    parse_comparison,
    redact_option,
    require_one_corpus,
)
from cce.cli.paths import FILE
from cce.cli.progress import Progress
from cce.cli.report_files import (
    parse_report_files,
    report_option,
    require_apart,
    typed_command,
    warn_of_indexed_reports,
    write_reports,
)
from cce.errors import UsageError

if TYPE_CHECKING:
    from cce.domain.drilldown import CaseDrilldown
    from cce.domain.evidence import EvidenceOptions
    from cce.domain.redaction import RedactionChoice
    from cce.retrieval.indexing.cache import Cache


@click.command(
    name="relevance",
    short_help="score rankings against a labelled fixture set",
    epilog="\b\nExamples:\n"
    "  cce relevance eval/code.jsonl\n"
    "  cce relevance eval/code.jsonl --dir src --backend bm25,hybrid\n"
    "  cce relevance eval/code.jsonl --compare bm25,hybrid\n"
    "  cce relevance eval/code.jsonl --compare bm25,hybrid --evidence --metrics mrr\n"
    "  cce relevance eval/code.jsonl --json > report.json\n"
    "  cce relevance eval/code.jsonl --evidence --report html=report.html",
)
@click.argument("fixtures", type=FILE, metavar="FIXTURES")
@directory_option()
@click.option(
    "--store", type=FILE, metavar="FILE", help="Score the index in this store instead of a directory."
)
@click.option(
    "--backend",
    "backends",
    metavar="A,B,..",
    help="Backends to score, in report order: bm25, vector, hybrid (these three by default), "
    "bm25-okapi, bm25-plus, bm25-l.",
)
@click.option(
    "--compare", "comparison", metavar="A,B", help="Score two backends and test whether B differs from A."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as cce.relevance.report/v2 JSON.")
@report_option
@evidence_options
@redact_option
@cache_option
def command(
    fixtures: str,
    directory: str | None,
    store: str | None,
    backends: str | None,
    comparison: str | None,
    as_json: bool,
    reports: tuple[str, ...],
    evidence: EvidenceOptions | None,
    redaction: RedactionChoice,
    cache: Cache | None,
) -> None:
    """Score how well backends rank the labelled queries of FIXTURES.

    FIXTURES is a cce.relevance/v1 set: one JSON object a line, each with a query and the anchors
    that a good answer must touch.

    Prints precision at k, recall, MRR and F1 of each backend, with --compare the paired differences
    and a t-test on them. --evidence adds what a decision needs: intervals, tests that assume less,
    what this set could have seen at all, a verdict, and the slices by tag.

    A bad score is a finding, not a failure: the exit code is 0 whenever it could be measured, else 2.
    """
    require_one_corpus(directory, store)
    if backends is not None and comparison is not None:
        raise UsageError(
            "--backend and --compare exclude each other: --compare scores the two backends it names"
        )
    names = parse_backends(backends) if comparison is None else parse_comparison(comparison)

    from cce.domain.report import FullReport
    from cce.report.catalog import RENDERERS, WITH_DRILLDOWN
    from cce.usecases.evaluate import Plan, corpus_directories, evaluate

    files = parse_report_files(reports, RENDERERS, as_json=as_json)
    is_comparison = comparison is not None
    plan = Plan(fixtures, directory, names, is_comparison, evidence, store, cache, redaction)
    writes_text = any(file.format in WITH_DRILLDOWN for file in files)
    require_apart(files, {"fixture set": fixtures, "store": store}, lambda: corpus_directories(plan))
    with Progress() as progress:
        evaluation = evaluate(plan, progress, writes_text=writes_text)
    for notice in evaluation.notices:
        warn(notice)
    cases: tuple[CaseDrilldown, ...] = ()
    if writes_text:
        from cce.measurement.matching.drilldown import drill_down

        cases = drill_down(evaluation.fixtures.cases, evaluation.rankings)
    full = FullReport(evaluation.report, fixtures, cases, command=typed_command())
    write_reports([(file, RENDERERS[file.format](full)) for file in files])
    warn_of_indexed_reports(evaluation.report.corpus if store is None else None, files)
