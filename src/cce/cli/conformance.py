"""`cce conformance`: the chunk list of a directory, for comparing implementations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cce.cli.exits import warn, write_result
from cce.cli.options import cache_option, refuse_empty
from cce.cli.paths import DIRECTORY, FILE
from cce.cli.progress import Progress
from cce.errors import UsageError

if TYPE_CHECKING:
    from cce.retrieval.cache import Cache


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
    default="conformance.json",
    show_default=True,
    type=FILE,
    metavar="FILE",
    help="Where to write; - is standard output.",
)
@cache_option
def command(directory: str, output: str, cache: Cache | None) -> None:
    """Write every chunk of DIR (path, lines, kind, id, token count) as JSON.

    Two implementations that agree on this list cut the same corpus into the same chunks.
    """
    from cce.atomic import write_atomically
    from cce.report.conformance import render_conformance
    from cce.retrieval.indexing import index_directory

    with Progress() as progress:
        indexed = index_directory(directory, progress, cache=cache)
    for notice in indexed.notices:
        warn(notice)
    chunks = indexed.index.chunks
    text = render_conformance(chunks)
    if output == "-":
        write_result(text)
        return
    try:
        write_atomically(output, text.encode("utf-8", "backslashreplace"))
    except OSError as exc:
        raise UsageError(f"{output}: cannot be written: {exc.strerror}; name another file with -o") from exc
    write_result(f"{len(chunks)} chunks of {len(indexed.index.positions_by_file)} files -> {output}\n")
