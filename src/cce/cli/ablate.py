"""`cce ablate`: one system, and what each single change does to it."""

from __future__ import annotations

import click

from cce.cli.tables import TableChoice, table_options, write_table
from cce.errors import UsageError


@click.command(
    name="ablate",
    short_help="change one key of a system at a time",
    epilog="\b\nExamples:\n"
    "  cce ablate eval/code.jsonl --base hybrid --change options.graph=false\n"
    "  cce ablate eval/code.jsonl --systems systems.toml --change rerank=none",
)
@click.option("--base", metavar="NAME", help="The system to change; the only one of the file by default.")
@click.option(
    "--change",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="One change of its table, as in rerank=none; may be repeated. Else those of [ablate] in the file.",
)
@table_options
def command(choice: TableChoice, base: str | None, changes: tuple[str, ...]) -> None:
    """Measure a system and, one row each, the same system with a single change.

    What a row loses against the first is what the changed part was worth. Keys are those of a table of a
    systems file: options.NAME, rerank, rerank_options.NAME, depth, max_words, blend, final, collapse, filter,
    scope.
    """
    from cce.retrieval.systems.derived import parse_change, with_rows
    from cce.usecases.systems import open_catalogue

    catalogue = open_catalogue(choice.systems)
    name = catalogue.chosen_one(base)
    typed = changes or catalogue.changes
    if not typed:
        raise UsageError("nothing to change: add --change KEY=VALUE, or [ablate] changes to the systems file")
    place = "--change" if changes else "changes"
    catalogue, rows = with_rows(catalogue, name, [[parse_change(place, each)] for each in typed])
    write_table("ablate", choice, catalogue, (name, *rows))
