"""`cce stats`: what a store holds, and whether it still matches its directory."""

from __future__ import annotations

import click

from cce.cli.exits import write_result
from cce.cli.options import directory_option
from cce.cli.paths import FILE
from cce.cli.progress import Progress


@click.command(
    name="stats",
    short_help="see what a store holds and whether it is still true",
    epilog="\b\nExamples:\n"
    "  cce stats\n"
    "  cce stats --dir src --json\n"
    "  cce stats --store src.index.json --dir src",
)
@directory_option("Directory to compare with; the current one by default.")
@click.option(
    "--store",
    "store_path",
    type=FILE,
    metavar="FILE",
    help="Store to look at; DIR/.cce/index.json by default.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(directory: str | None, store_path: str | None, as_json: bool) -> None:
    """Count what a store holds, and compare it with its directory: exact, by content.

    A store elsewhere is compared only if --dir names its directory.
    """
    from cce.report.json.summaries import render_store_json
    from cce.report.text.summaries import render_store_text
    from cce.usecases.stats import run_stats

    with Progress() as progress:
        summary = run_stats(directory, store_path, progress)
    write_result((render_store_json if as_json else render_store_text)(summary))
