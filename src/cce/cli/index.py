"""`cce index`: keep an index beside the code, so that it is read instead of built."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from cce.cli.exits import warn, write_result
from cce.cli.options import cache_option, redact_option, refuse_empty
from cce.cli.outputs import refuse_output, warn_of_indexed
from cce.cli.paths import DIRECTORY, FILE
from cce.cli.progress import Progress
from cce.domain.redaction import Redaction, RedactionChoice
from cce.errors import UsageError

if TYPE_CHECKING:
    from cce.retrieval.indexing.cache import Cache


@click.command(
    name="index",
    short_help="keep an index beside the code",
    epilog="\b\nExamples:\n"
    "  cce index\n"
    "  cce index src --store /tmp/src.index.json\n"
    "  cce index --embedder ollama",
)
@click.argument("directory", type=DIRECTORY, metavar="[DIR]", default=".", callback=refuse_empty)
@click.option(
    "--store", "store_path", type=FILE, metavar="FILE", help="Where to write; DIR/.cce/index.json by default."
)
@click.option(
    "--embedder",
    "embedder_name",
    default="hash",
    show_default=True,
    metavar="NAME",
    help="hash, or ollama: a model of the server at CCE_OLLAMA_URL named by CCE_OLLAMA_MODEL.",
)
@click.option(
    "--allow-secrets",
    is_flag=True,
    help="Index sensitive files too and leave secrets in the text as they are.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@redact_option
@cache_option
def command(
    directory: str,
    store_path: str | None,
    embedder_name: str,
    allow_secrets: bool,
    as_json: bool,
    redaction: RedactionChoice,
    cache: Cache | None,
) -> None:
    """Index DIR (the current directory by default) and write the index into a store.

    The store replaces an older one in one step: whoever reads meanwhile sees the old or the new one,
    whole. Secrets are scrubbed before anything is written; likely ones that the standard rules leave are
    counted in a warning.
    """
    if allow_secrets and redaction.is_typed:
        raise UsageError("--allow-secrets and --redact exclude each other: leave one out")

    from cce.report.json.summaries import render_indexing_json
    from cce.report.text.summaries import render_indexing_text
    from cce.retrieval.embedding.checking import make_embedder
    from cce.retrieval.indexing.directory import index_directory
    from cce.retrieval.indexing.leftovers import warn_of_leftovers
    from cce.retrieval.store.place import make_store_folder, store_beside
    from cce.retrieval.store.reading import require_store
    from cce.retrieval.store.summaries import summarize_indexing
    from cce.retrieval.store.writing import write_store

    rules = Redaction.OFF if allow_secrets else redaction.redaction
    is_default = store_path is None
    path = store_beside(directory) if store_path is None else store_path
    refuse_output(path, "--store")
    require_store(path)
    started = time.monotonic()
    embedder = make_embedder(embedder_name)
    _ = embedder.dimension  # a model that does not answer is found out before the corpus is read
    with Progress() as progress:
        indexed = index_directory(directory, progress, embedder=embedder, redaction=rules, cache=cache)
        if is_default:
            make_store_folder(directory)
        n_bytes = write_store(
            path,
            indexed.index,
            indexed.digests(),
            rules,
            default_of=directory if is_default else None,
        )
    for notice in (*indexed.notices, *warn_of_leftovers(indexed)):
        warn(notice)
    if not is_default:  # that one lies in a hidden folder
        warn_of_indexed(directory, {path: "store"})
    summary = summarize_indexing(indexed, path, n_bytes, time.monotonic() - started)
    write_result((render_indexing_json if as_json else render_indexing_text)(summary))
