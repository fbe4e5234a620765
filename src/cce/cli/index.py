"""`cce index`: keep an index beside the code, so that it is read instead of built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cce.cli.exits import warn, write_result
from cce.cli.options import NamingOption, cache_option, redact_option, refuse_empty, with_corpus
from cce.cli.outputs import refuse_output, warn_of_indexed
from cce.cli.paths import DIRECTORY, FILE
from cce.cli.progress import Progress

if TYPE_CHECKING:
    from cce.usecases.corpora import CorpusChoice


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
    "--store", "target", type=FILE, metavar="FILE", help="Where to write; DIR/.cce/index.json by default."
)
@click.option(
    "--embedder",
    "embedder_name",
    cls=NamingOption,
    default="hash",
    show_default=True,
    metavar="NAME",
    help="What embeds the chunks: {embedders}. ollama asks the server at CCE_OLLAMA_URL for the model "
    "CCE_OLLAMA_MODEL.",
)
@click.option(
    "--allow-secrets",
    is_flag=True,
    help="Index sensitive files too and leave secrets in the text as they are.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@redact_option
@cache_option
@with_corpus
def command(
    target: str | None,
    embedder_name: str,
    allow_secrets: bool,
    as_json: bool,
    corpus: CorpusChoice,
) -> None:
    """Index DIR (the current directory by default) and write the index into a store.

    The store replaces an older one atomically: a reader sees either the old or the new one. Secrets are
    scrubbed before anything is written; a warning counts likely secrets that the standard rules leave.
    """
    from cce.report.json.summaries import render_indexing_json
    from cce.report.text.summaries import render_indexing_text
    from cce.usecases.index import IndexPlan, run_index, store_path

    plan = IndexPlan(corpus, target, embedder_name, allow_secrets)
    refuse_output(store_path(plan), "--store")
    with Progress() as progress:
        run = run_index(plan, progress)
    for notice in run.notices:
        warn(notice)
    if target is not None:  # the default one lies in a hidden folder
        warn_of_indexed(run.summary.directory, {target: "store"})
    write_result((render_indexing_json if as_json else render_indexing_text)(run.summary))
