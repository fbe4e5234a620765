"""`cce export`: rankings and labels in the formats of other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cce.cli.exits import OutputError, warn, write_result
from cce.cli.options import (
    NamingOption,
    cache_option,
    directory_option,
    redact_option,
    store_option,
    with_corpus,
)
from cce.cli.outputs import RUN_MARK, output_fault, warn_of_indexed
from cce.cli.paths import FILE
from cce.cli.progress import Progress
from cce.errors import UsageError
from cce.files import write_file
from cce.quoting import counted, on_one_line
from cce.registry import known_names
from cce.retrieval.backends.catalog import BACKENDS

if TYPE_CHECKING:
    from cce.usecases.corpora import CorpusChoice
    from cce.usecases.export import Export

_DEFAULT_BACKEND = "hybrid"
_QRELS_MARK = rb"\S+ 0 \S+ -?[0-9]+\s"
_OUTPUT = click.option(
    "-o",
    "--output",
    required=True,
    type=FILE,
    metavar="FILE",
    help="Where to write; an older export there is replaced.",
)


@click.group(
    name="export",
    short_help="write rankings and labels for other tools",
    epilog="\b\nExamples:\n"
    "  cce export run eval/code.jsonl -o hybrid.jsonl\n"
    "  cce export run eval/code.jsonl --backend bm25 --format trec -o bm25.run\n"
    "  cce export qrels eval/code.jsonl -o code.qrels",
)
def command() -> None:
    """Write what a backend ranks, or what a set labels, in a format that other tools read."""


@command.command(
    short_help="write the rankings of a backend as a run",
    epilog="\b\nExamples:\n"
    "  cce export run eval/code.jsonl -o hybrid.jsonl\n"
    "  cce export run eval/code.jsonl --backend bm25 --format trec -o bm25.run",
)
@click.argument("fixtures", type=FILE, metavar="SET")
@directory_option()
@store_option("Rank the index in this store instead of a directory.")
@click.option(
    "--backend",
    default=_DEFAULT_BACKEND,
    show_default=True,
    cls=NamingOption,
    metavar="NAME",
    help="What ranks. Known: {backends}.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["jsonl", "trec"]),
    default="jsonl",
    show_default=True,
    help="cce.run/v1 lines, or the six columns of a TREC run.",
)
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    metavar="N",
    help="Also keep the ranking for N, for metrics such as recall@N; in jsonl only.",
)
@_OUTPUT
@redact_option
@cache_option
@with_corpus
def run(
    fixtures: str, corpus: CorpusChoice, backend: str, format_name: str, depth: int | None, output: str
) -> None:
    """Write what a backend answers to the queries of SET, each with its k, as a run.

    Read with --run NAME=FILE it gives every figure again. In TREC's columns a place is the document id,
    as in src/a.py#function_definition@3-9.
    """
    from cce.usecases.export import ExportPlan, export_run

    names = known_names(BACKENDS, "--backend", backend)
    if len(names) != 1:
        raise UsageError("--backend takes one name: a run holds the rankings of one system")
    plan = ExportPlan(fixtures, corpus, names[0], format_name, depth)
    _refuse_output(output, RUN_MARK, plan.fixtures, corpus)
    with Progress() as progress:
        export = export_run(plan, progress)
    _write(export, output, "run", fixtures, corpus)


@command.command(
    short_help="write the chunks that a set labels as judgments",
    epilog="\b\nExamples:\n  cce export qrels eval/code.jsonl -o code.qrels",
)
@click.argument("fixtures", type=FILE, metavar="SET")
@directory_option()
@store_option("Take the chunks of this store instead of a directory.")
@_OUTPUT
@redact_option
@cache_option
@with_corpus
def qrels(fixtures: str, corpus: CorpusChoice, output: str) -> None:
    """Write the chunks that the anchors of SET match as TREC judgments: four columns, with grades.

    A recall over them counts chunks and not anchors: where an anchor matches two chunks, one of them is
    half of it.
    """
    from cce.usecases.export import ExportPlan, export_qrels

    _refuse_output(output, _QRELS_MARK, fixtures, corpus)
    with Progress() as progress:
        export = export_qrels(ExportPlan(fixtures, corpus), progress)
    _write(export, output, "set of judgments", fixtures, corpus)


def _refuse_output(output: str, mark: bytes, fixtures: str, corpus: CorpusChoice) -> None:
    """Raise UsageError for an output that is read here, or that would replace what is no older export."""
    from cce.usecases.corpora import corpus_directories

    inputs = {"fixture set": fixtures, "store": corpus.store}
    fault = output_fault(output, mark, inputs, lambda: corpus_directories(corpus, fixtures))
    if fault is not None:
        raise UsageError(f"-o {on_one_line(output)}: {fault}, name another file")


def _write(export: Export, output: str, noun: str, fixtures: str, corpus: CorpusChoice) -> None:
    for notice in export.notices:
        warn(notice)
    write_file(output, export.content, OutputError, "{}; free some space or name another place")
    if corpus.store is None:
        from cce.usecases.corpora import corpus_directories

        warn_of_indexed(corpus_directories(corpus, fixtures)[0], {output: noun})
    write_result(f"{counted(export.n_cases, 'case')} -> {on_one_line(output)}\n")
