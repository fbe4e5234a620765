"""`cce conformance`: the chunk list of a directory, for comparing implementations."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from cce.cli.exits import warn, write_result
from cce.cli.options import cache_option, refuse_empty, with_corpus
from cce.cli.outputs import is_foreign, refuse_output, warn_of_indexed
from cce.cli.paths import DIRECTORY, FILE
from cce.cli.progress import Progress
from cce.errors import UsageError
from cce.files import writing
from cce.quoting import on_one_line

if TYPE_CHECKING:
    from cce.usecases.corpora import CorpusChoice

DEFAULT_OUTPUT = "conformance.json"


@click.command(
    name="conformance",
    short_help="write the chunk list of a directory",
    epilog="\b\nExamples:\n"
    "  cce conformance src\n"
    "  cce conformance src -o chunks.json\n"
    "  cce conformance src -o - | head",
)
@click.argument("directory", type=DIRECTORY, metavar="DIR", callback=refuse_empty)
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FILE",
    help=f"Where to write, {DEFAULT_OUTPUT} by default; - is standard output.",
)
@cache_option
@with_corpus
def command(output: str | None, corpus: CorpusChoice) -> None:
    """Write every chunk of DIR (path, lines, kind, id, token count) as JSON.

    Two implementations that agree on this list cut the same corpus into the same chunks.
    """
    from cce.report.catalog import CONFORMANCE_MARK
    from cce.report.json.listings import render_conformance
    from cce.usecases.conformance import list_chunks
    from cce.usecases.corpora import corpus_of

    directory = corpus_of(corpus)
    if output is None:
        _require_default()
    elif output != "-":
        refuse_output(output, "-o", CONFORMANCE_MARK, lambda: (directory,))
    with Progress() as progress:
        found = list_chunks(corpus, progress)
    for notice in found.notices:
        warn(notice)
    text = render_conformance(found.chunks)
    if output == "-":
        write_result(text)
        return
    place = DEFAULT_OUTPUT if output is None else output
    _write(output, place, text.encode("utf-8", "backslashreplace"))
    warn_of_indexed(directory, {place: "chunk list"})
    write_result(f"{len(found.chunks)} chunks of {found.n_files} files -> {on_one_line(place)}\n")


def _write(output: str | None, place: str, content: bytes) -> None:
    """Write to `output`; the default one was not typed, so no link is followed to it."""
    from cce.atomic import write_atomically, write_below

    with writing(place, UsageError, "cannot be written: {}; name another file with -o"):
        if output is None:
            write_below(os.curdir, (DEFAULT_OUTPUT,), content)
        else:
            write_atomically(output, content)


def _require_default() -> None:
    """Raise UsageError if the default output is a link, or a file that cce did not write."""
    from cce.atomic import link_below
    from cce.report.catalog import CONFORMANCE_MARK

    if link_below(os.curdir, (DEFAULT_OUTPUT,)) is not None:
        fault = "is a link, and a default output is not written through one"
    elif is_foreign(DEFAULT_OUTPUT, CONFORMANCE_MARK):
        fault = "is there already and is no chunk list of cce"
    else:
        return
    raise UsageError(f"{DEFAULT_OUTPUT}: {fault}; remove it, or name a file with -o")
