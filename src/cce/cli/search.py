"""`cce search`: what a backend answers to one query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cce.cli.colours import has_colours, paint_path, paint_terms
from cce.cli.exits import say, warn, write_result
from cce.cli.options import cache_option, directory_option, parse_backends, redact_option, require_one_corpus
from cce.cli.paths import FILE
from cce.cli.progress import Progress
from cce.errors import UsageError
from cce.quoting import on_one_line

if TYPE_CHECKING:
    from cce.domain.redaction import RedactionChoice
    from cce.retrieval.indexing.cache import Cache


@click.command(
    name="search",
    short_help="see what a backend answers to one query",
    epilog="\b\nExamples:\n"
    '  cce search "where is the retry delay computed"\n'
    "  cce search overdue_fee --dir src --backend bm25 --top-k 3\n"
    "  cce search overdue_fee --store src.index.json --json",
)
@click.argument("query", metavar="QUERY")
@directory_option("Directory to search; the current one by default.")
@click.option(
    "--store",
    "store_path",
    type=FILE,
    metavar="FILE",
    help="Store to search; DIR/.cce/index.json if it is there.",
)
@click.option("--backend", default="hybrid", show_default=True, metavar="NAME", help="How to rank.")
@click.option(
    "--top-k",
    "k",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Results to show.",
)
@click.option(
    "--no-graph", is_flag=True, help="Leave out what hybrid adds from files that import each other."
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@redact_option
@cache_option
def command(
    query: str,
    directory: str | None,
    store_path: str | None,
    backend: str,
    k: int,
    no_graph: bool,
    as_json: bool,
    redaction: RedactionChoice,
    cache: Cache | None,
) -> None:
    """Rank the chunks of a store, or of a directory, for QUERY.

    Without a store the directory is indexed in memory, and nothing is written.
    """
    require_one_corpus(directory, store_path)
    names = parse_backends(backend)
    if len(names) > 1:
        raise UsageError(f"--backend takes one name here, got {backend!r}")

    from cce.domain.redaction import Redaction
    from cce.report.json.search import render_search_json
    from cce.report.text.search import render_search_text
    from cce.usecases.search import open_index, search

    place = directory or "."
    with Progress() as progress:
        opened = open_index(place, store_path, progress, cache, redaction)
    shown = on_one_line(place)
    if opened.store is None:
        say(f"{shown}: no store, indexed in memory; keep an index with: cce index {shown}")
    elif store_path is None:
        store = on_one_line(opened.store)
        say(f"{store}: searched as it was written; what changed since tells: cce stats --dir {shown}")
    if opened.redaction is Redaction.STRICT:
        say("redact: strict")
    for notice in opened.notices:
        warn(notice)
    ranking = search(opened.index, names[0], query, k, use_graph=not no_graph)
    if as_json:
        write_result(render_search_json(ranking))
    elif has_colours():
        write_result(render_search_text(ranking, paint_path, paint_terms(query)))
    else:
        write_result(render_search_text(ranking))
