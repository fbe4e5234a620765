"""`cce search`: what a backend answers to one query."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from cce.cli.exits import say, warn, write_result
from cce.cli.options import (
    ASKING_OPTIONS,
    NamingOption,
    cache_option,
    directory_option,
    redact_option,
    store_option,
    systems_options,
    with_corpus,
)
from cce.cli.progress import Progress
from cce.errors import UsageError
from cce.quoting import on_one_line
from cce.tokens import tokenize

if TYPE_CHECKING:
    from cce.usecases.corpora import CorpusChoice
    from cce.usecases.search import SearchRun
    from cce.usecases.systems import SystemsChoice

Paint = Callable[[str], str]


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
@store_option("Store to search; DIR/.cce/index.json if it is there.")
@click.option(
    "--backend",
    cls=NamingOption,
    metavar="NAME",
    help="What ranks, hybrid by default: {backends}, or a system of the file.",
)
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
@click.option(
    "--verify", is_flag=True, help="Read every file, also those that the cache knows by size, time and inode."
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@systems_options(ASKING_OPTIONS)
@redact_option
@cache_option
@with_corpus
def command(
    query: str,
    backend: str | None,
    k: int,
    no_graph: bool,
    verify: bool,
    as_json: bool,
    corpus: CorpusChoice,
    systems: SystemsChoice,
) -> None:
    """Rank the chunks of a store, or of a directory, for QUERY.

    Without a store the directory is indexed in memory. A file that the cache knows with its size, time and
    inode is not read again, as git does; --verify reads it.
    """
    if backend is not None and "," in backend:
        raise UsageError(f"--backend takes one name here, got {backend!r}")

    from cce.report.json.listings import render_search_json
    from cce.report.text.listings import render_search_text
    from cce.usecases.search import SearchPlan, run_search
    from cce.usecases.systems import open_catalogue

    catalogue = open_catalogue(systems)
    name = catalogue.chosen_one(backend)
    plan = SearchPlan(query, name, k, not no_graph, corpus, systems, catalogue, is_verified=verify)
    with Progress() as progress:
        run = run_search(plan, progress)
    _say_where(run, corpus)
    for notice in run.notices:
        warn(notice)
    if as_json:
        write_result(render_search_json(run.ranking))
    elif has_colours():
        write_result(render_search_text(run.ranking, paint_path, paint_terms(query)))
    else:
        write_result(render_search_text(run.ranking))


def _say_where(run: SearchRun, typed: CorpusChoice) -> None:
    """What was searched, where the user did not name it."""
    from cce.domain.redaction import Redaction

    place = on_one_line(typed.directory or ".")
    if run.store is None:
        say(f"{place}: no store, indexed in memory; keep an index with: cce index {place}")
    elif typed.store is None:
        store = on_one_line(run.store)
        say(f"{store}: searched as it was written; cce stats --dir {place} shows what changed since")
    if run.redaction is Redaction.STRICT:
        say("redact: strict")


def has_colours() -> bool:
    """Whether standard output is a terminal whose owner wants colours (see no-color.org)."""
    is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return is_wanted and sys.stdout is not None and sys.stdout.isatty()


def paint_path(text: str) -> str:
    """The place of a hit, coloured."""
    return click.style(text, fg="cyan")


def paint_terms(query: str) -> Paint:
    """A function that paints the words of `query` in a text, in upper or lower case."""
    words = sorted({token.decode() for token in tokenize(query.encode("utf-8", "replace"))}, key=len)
    if not words:
        return str
    # Tokens are letters, digits and underscores. Longer ones come first: `log|login` would only find "log".
    pattern = re.compile("|".join(reversed(words)), re.IGNORECASE | re.ASCII)
    return lambda text: pattern.sub(lambda found: click.style(found[0], bold=True, fg="yellow"), text)
