"""`cce import`: labels and collections of other tools become fixture sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from cce.cli.exits import OutputError, warn, write_result
from cce.cli.options import refuse_empty
from cce.cli.outputs import is_foreign, output_fault
from cce.cli.paths import DIRECTORY, FILE
from cce.errors import UsageError
from cce.files import write_file
from cce.quoting import counted, on_one_line

if TYPE_CHECKING:
    from cce.usecases.importing import ImportedSet

_STANDARD_OUTPUT = "-"
_OUTPUT = click.option(
    "-o",
    "--output",
    default=_STANDARD_OUTPUT,
    type=FILE,
    metavar="FILE",
    help="A new file for the set; standard output by default.",
)
_K = click.option(
    "--k",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="How many results count, in every case.",
)


@click.group(
    name="import",
    short_help="make fixture sets of other tools' labels",
    epilog="\b\nExamples:\n"
    "  cce import qrels robust.qrels --queries topics.txt -o robust.jsonl\n"
    "  cce import beir scifact --split test -o scifact.jsonl --corpus-out docs/",
)
def command() -> None:
    """Make a fixture set of judgments, or of a whole collection."""


@command.command(
    short_help="make a set of judgments",
    epilog="\b\nExamples:\n"
    "  cce import qrels robust.qrels --queries topics.txt --k 20 -o robust.jsonl\n"
    "  cce import qrels judged.json -o judged.jsonl",
)
@click.argument("source", type=FILE, metavar="FILE")
@click.option(
    "--queries",
    type=FILE,
    metavar="FILE",
    help="The texts of the queries: NDJSON, an id and a text with a tab between, or TREC topics.",
)
@_K
@_OUTPUT
def qrels(source: str, queries: str | None, k: int, output: str) -> None:
    """Make a set of the judgments in FILE: TREC's four columns, or ranx's JSON.

    A grade above 0 becomes an anchor with that grade, at most 3; 0 becomes a place that is irrelevant; a
    negative one judges nothing. A query without a relevant document is left out. The document ids become
    paths.
    """
    from cce.usecases.importing import QrelsPlan, import_qrels

    _refuse_output(output, {"file of judgments": source, "file of queries": queries})
    _write(import_qrels(QrelsPlan(source, queries, k)), output)


@command.command(
    short_help="make a set and a corpus of a BEIR collection",
    epilog="\b\nExamples:\n"
    "  cce import beir scifact --split test -o scifact.jsonl --corpus-out docs/\n"
    "  cce relevance scifact.jsonl --backend bm25",
)
@click.argument("folder", type=DIRECTORY, metavar="DIR", callback=refuse_empty)
@click.option(
    "--split", default="test", show_default=True, metavar="NAME", help="Which judgments: qrels/NAME.tsv."
)
@click.option(
    "--corpus-out",
    "documents",
    required=True,
    type=DIRECTORY,
    metavar="DIR",
    callback=refuse_empty,
    help="A new folder for the documents, one file each.",
)
@_K
@_OUTPUT
def beir(folder: str, split: str, documents: str, k: int, output: str) -> None:
    """Make a set of the collection in DIR, and write its documents as files, called by their ids.

    What a file name cannot hold is percent-encoded. A run with the ids of the collection is read with
    --docid '{}.txt'.
    """
    from cce.usecases.importing import BeirPlan, import_beir, refuse_folder

    _refuse_output(output, {})
    refuse_folder(documents)
    _write(import_beir(BeirPlan(folder, split, documents, output, k)), output)


def _refuse_output(output: str, inputs: Mapping[str, str | None]) -> None:
    """Raise UsageError for an output that is an input, or holds something: people label in their sets."""
    if output == _STANDARD_OUTPUT:
        return
    fault = output_fault(output, inputs=inputs)
    if fault is None and is_foreign(output, None):
        fault = "is there already"
    if fault is not None:
        raise UsageError(f"-o {on_one_line(output)}: {fault}, name a new file")


def _write(imported: ImportedSet, output: str) -> None:
    for notice in imported.notices:
        warn(notice)
    if output == _STANDARD_OUTPUT:
        write_result(imported.content.decode())
        return
    write_file(output, imported.content, OutputError, "{}; free some space or name another place")
    write_result(f"{counted(imported.n_cases, 'case')} -> {on_one_line(output)}\n")
