"""`cce sweep`: one system with every combination of some settings."""

from __future__ import annotations

import click

from cce.cli.tables import TableChoice, table_options, write_table
from cce.errors import UsageError

_MAX_ROWS = 500


@click.command(
    name="sweep",
    short_help="try every combination of settings of a system",
    epilog="\b\nExamples:\n"
    "  cce sweep eval/code.jsonl --systems systems.toml --vary depth=3,10,20\n"
    "  cce sweep eval/code.jsonl --vary final=1,3,5 --min-effect 0.1 --tune 0.5",
)
@click.option("--base", metavar="NAME", help="The system to vary; the only one of the file by default.")
@click.option(
    "--vary",
    "variations",
    multiple=True,
    required=True,
    metavar="KEY=V,V,..",
    help="Values of one key of its table to try; may be repeated.",
)
@click.option(
    "--tune",
    metavar="TAG|SHARE",
    help="Choose on the cases with this tag, or on this share of them, and show the choice on the others.",
)
@table_options
def command(choice: TableChoice, base: str | None, variations: tuple[str, ...], tune: str | None) -> None:
    """Measure a system with every combination of the values given, one row each.

    With --min-effect the cheapest row is marked that is shown to lose less than that to the best. The best
    row of the set that it was chosen on looks better than it is, so --tune shows the chosen row on cases that
    had no part in the choice.
    """
    from cce.retrieval.systems.derived import combinations, parse_variation, with_rows
    from cce.usecases.systems import open_catalogue

    catalogue = open_catalogue(choice.systems)
    name = catalogue.chosen_one(base)
    rows = combinations([parse_variation("--vary", each) for each in variations])
    if len(rows) > _MAX_ROWS:
        raise UsageError(
            f"--vary: {len(rows)} combinations, at most {_MAX_ROWS} are one table: try fewer values"
        )
    catalogue, names = with_rows(catalogue, name, rows)
    write_table("sweep", choice, catalogue, names, tune=tune)
