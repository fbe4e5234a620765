"""`cce cache`: what is kept between runs, and how to remove it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cce.cli.exits import write_result
from cce.errors import UsageError

if TYPE_CHECKING:
    from cce.retrieval.indexing.cache import Cache


@click.group(
    name="cache",
    short_help="see or clear what is kept between runs",
    epilog="\b\nExamples:\n  cce cache info\n  cce cache clear",
)
def command() -> None:
    """Look after the cache: the indexed form of each corpus, so that the next run costs what changed.

    It is in CCE_CACHE_DIR, else in the user's cache folder; never in a corpus. It holds scrubbed text
    only, and every file is checked by content. Commands that index take --no-cache.
    """


def _cache() -> Cache:
    from cce.retrieval.indexing.cache import default_cache

    cache = default_cache()
    if cache is None:
        raise UsageError("cache: this user has no home folder to keep it in; set CCE_CACHE_DIR to a folder")
    return cache


@command.command(short_help="show where it is and how large", epilog="\b\nExample:\n  cce cache info --json")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def info(as_json: bool) -> None:
    """Show where the cache is, how large it is, and the corpora that it holds, the last used one first.

    It holds at most CCE_CACHE_BYTES bytes; by default 4 GiB, or a tenth of the free disk if that is more.
    Above that, corpora that are gone are dropped first, then those that were not used for longest.
    """
    from cce.domain.summary import CachedCorpus
    from cce.report.json.summaries import render_cache_json
    from cce.report.text.summaries import render_cache_text

    cache = _cache()
    corpora = [CachedCorpus(entry.corpus, entry.n_bytes, entry.used) for entry in cache.entries()]
    render = render_cache_json if as_json else render_cache_text
    write_result(render(cache.folder, corpora, cache.max_bytes))


@command.command(short_help="remove everything from it", epilog="\b\nExample:\n  cce cache clear")
def clear() -> None:
    """Remove everything from the cache; the next runs index from scratch."""
    from cce.report.text.summaries import render_cache_cleared

    cache = _cache()
    n_entries = len(cache.entries())
    write_result(render_cache_cleared(cache.folder, n_entries, cache.clear()))
