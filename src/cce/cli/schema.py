"""`cce schema`: the JSON Schema of a file format."""

from __future__ import annotations

import click

from cce.cli.exits import write_result
from cce.errors import UsageError


@click.command(
    name="schema",
    short_help="print the JSON Schema of a file format",
    epilog="\b\nExamples:\n  cce schema fixtures > fixtures.schema.json\n  cce schema report",
)
@click.argument("name", metavar="NAME")
def command(name: str) -> None:
    """Print the JSON Schema NAME, for editors and other programs.

    NAME is `fixtures` (one line of a cce.relevance/v1 set), `report` (what cce relevance --json
    prints), `gate` (a cce.gate/v1 policy, which editors check as TOML), `systems` (a cce.systems/v1 file,
    also TOML), `run` (one line of a cce.run/v1 file), `tenants` (a cce.tenants/v1 file, TOML too) or
    `experiment` (a table of cce experiment, ablate or sweep).
    """
    from cce.registry import unknown_name
    from cce.schemas import FORMATS, shipped_schema

    if name not in FORMATS:
        raise UsageError(unknown_name("schema", name, FORMATS))
    write_result(shipped_schema(name))
