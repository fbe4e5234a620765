"""`cce experiment`: several systems in one table."""

from __future__ import annotations

import click

from cce.cli.options import backends_option
from cce.cli.paths import FILE
from cce.cli.tables import TableChoice, table_options, write_table


@click.command(
    name="experiment",
    short_help="compare several systems in one table",
    epilog="\b\nExamples:\n"
    "  cce experiment eval/code.jsonl --backend bm25,vector,hybrid\n"
    "  cce experiment eval/code.jsonl --systems systems.toml --min-effect 0.02\n"
    "  cce experiment eval/code.jsonl --report markdown=table.md",
)
@backends_option("Rows, in the order of the table")
@click.option("--gate", type=FILE, metavar="POLICY.toml", help="A policy of this set that judges each row.")
@table_options
def command(choice: TableChoice, backends: str | None, gate: str | None) -> None:
    """Measure several systems on FIXTURES, one row per system, each held against the first.

    A row has the means, the interval of the main metric, on how many cases it is better and worse, a p value
    that is adjusted over all rows, and what its answers cost. With --min-effect the cheapest row is marked
    that is shown to lose less than that to the best.
    """
    from cce.usecases.systems import open_catalogue

    catalogue = open_catalogue(choice.systems)
    names = catalogue.chosen("--backend", backends)
    if choice.baseline is not None and backends is None:
        names = tuple(dict.fromkeys((choice.baseline, *names)))
        catalogue.require(choice.baseline)
    write_table("experiment", choice, catalogue, names, gate=gate)
