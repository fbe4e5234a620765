"""`cce relevance`: score rankings against a labelled fixture set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cce.cli.exits import warn_beside
from cce.cli.options import (
    SCORING_OPTIONS,
    backends_option,
    cache_option,
    directory_option,
    evidence_options,
    parse_comparison,
    redact_option,
    store_option,
    systems_options,
    with_corpus,
)
from cce.cli.paths import FILE
from cce.cli.progress import Progress
from cce.cli.report_files import (
    parse_report_files,
    record_files,
    report_option,
    require_apart,
    typed_command,
    warn_of_indexed_reports,
    write_reports,
)
from cce.errors import UsageError

if TYPE_CHECKING:
    from cce.domain.evidence import EvidenceOptions
    from cce.usecases.corpora import CorpusChoice
    from cce.usecases.systems import SystemsChoice


@click.command(
    name="relevance",
    short_help="score rankings against a labelled fixture set",
    epilog="\b\nExamples:\n"
    "  cce relevance eval/code.jsonl\n"
    "  cce relevance eval/code.jsonl --dir src --backend bm25,hybrid\n"
    "  cce relevance eval/code.jsonl --compare bm25,hybrid\n"
    "  cce relevance eval/code.jsonl --compare bm25,hybrid --evidence --metrics mrr\n"
    "  cce relevance eval/code.jsonl --json > report.json\n"
    "  cce relevance eval/code.jsonl --evidence --report html=report.html\n"
    "  cce relevance eval/code.jsonl --systems systems.toml --compare bm25,mine\n"
    "  cce relevance eval/code.jsonl --run mine=runs/mine.jsonl",
)
@click.argument("fixtures", type=FILE, metavar="FIXTURES")
@directory_option()
@store_option("Score the index in this store instead of a directory.")
@backends_option("Backends to score, in report order")
@click.option(
    "--compare", "comparison", metavar="A,B", help="Score two backends and test whether B differs from A."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as cce.relevance.report/v2 JSON.")
@click.option(
    "--labels",
    "has_labels",
    is_flag=True,
    help="Add to a JSON report what each case was labelled with, so that cce compare sees a changed label.",
)
@report_option
@evidence_options
@systems_options(SCORING_OPTIONS)
@click.option("--no-corpus", "without_corpus", is_flag=True, help="Score saved runs by the labels alone.")
@redact_option
@cache_option
@with_corpus
def command(
    fixtures: str,
    corpus: CorpusChoice,
    backends: str | None,
    comparison: str | None,
    as_json: bool,
    has_labels: bool,
    reports: tuple[str, ...],
    evidence: EvidenceOptions | None,
    systems: SystemsChoice,
    without_corpus: bool,
) -> None:
    """Score how well backends rank the labelled queries of FIXTURES.

    FIXTURES is a cce.relevance/v1 set: one JSON object per line, with a query and the anchors
    that a good answer must touch.

    Prints precision at k, recall, MRR and F1 of each backend, with --compare the paired differences
    and a t-test on them. --evidence adds what a decision needs: intervals, tests that assume less,
    what difference this set can detect, a verdict, and the slices by tag.

    A bad score is a finding, not a failure: the exit code is 0 whenever it could be measured, else 2.
    """
    if backends is not None and comparison is not None:
        raise UsageError(
            "--backend and --compare exclude each other: --compare scores the two backends it names"
        )
    from cce.domain.full_report import FullReport
    from cce.report.catalog import RENDERERS, WITH_DRILLDOWN, WITH_MISSES
    from cce.usecases.corpora import corpus_directories
    from cce.usecases.evaluate import Plan, evaluate
    from cce.usecases.systems import input_files, open_catalogue

    catalogue = open_catalogue(systems)
    names = (
        catalogue.chosen("--backend", backends)
        if comparison is None
        else parse_comparison(catalogue, comparison)
    )
    files = parse_report_files(reports, RENDERERS, as_json=as_json)
    if has_labels and not any(file.format == "json" for file in files):
        raise UsageError("--labels adds to a JSON report: add --json or --report json=PATH, or leave it out")
    plan = Plan(
        fixtures,
        names,
        comparison is not None,
        corpus,
        evidence,
        systems,
        catalogue,
        without_corpus,
        has_labels,
    )
    has_drilldown = any(file.format in WITH_DRILLDOWN for file in files)
    has_misses = any(file.format in WITH_MISSES for file in files)
    inputs = {"fixture set": fixtures, "store": corpus.store, **input_files(catalogue)}
    require_apart(files, inputs, lambda: corpus_directories(corpus, fixtures))
    records = record_files(systems.records, inputs, lambda: corpus_directories(corpus, fixtures))
    with Progress() as progress:
        evaluation = evaluate(plan, progress, has_drilldown=has_drilldown, has_misses=has_misses)
    is_text_shown = any(file.format == "text" and file.is_standard_output for file in files)
    warn_beside(evaluation.notices, evaluation.report.notes if is_text_shown else ())
    full = FullReport(evaluation.report, fixtures, evaluation.cases, command=typed_command())
    full = full._replace(warnings=evaluation.notices)
    write_reports([(file, RENDERERS[file.format](full)) for file in files])
    warn_of_indexed_reports(evaluation.directory, files, records)
