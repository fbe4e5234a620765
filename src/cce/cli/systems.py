"""`cce systems`: which systems there are, and whether one answers as it should."""

from __future__ import annotations

import click

from cce.cli.exits import write_result
from cce.cli.paths import FILE

_LIST = "list"


class _ListByDefault(click.Group):
    """A group whose subcommand `list` may be left out: `cce systems FILE`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_known = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if is_known else [_LIST, *args])


@click.group(
    name="systems",
    cls=_ListByDefault,
    short_help="list what can be measured, and check that it answers",
    epilog="\b\nExamples:\n  cce systems\n  cce systems systems.toml",
)
def command() -> None:
    """List the systems that --backend and --compare can name.

    A system is a backend, a variant of one, a program, a service, a Python object or a saved run. A
    cce.systems/v1 file describes them; cce schema systems prints its schema.
    """


@command.command(_LIST, short_help="list the systems, with their origin")
@click.argument("file", type=FILE, metavar="[FILE]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def listing(file: str | None, as_json: bool) -> None:
    """List all systems: built-in ones, those of other packages, and those of the systems file FILE.

    Nothing is started, called or imported.
    """
    from cce.report.json.listings import render_systems_json
    from cce.report.text.listings import render_systems_text
    from cce.usecases.systems import SystemsChoice, open_catalogue

    catalogue = open_catalogue(SystemsChoice(file))
    render = render_systems_json if as_json else render_systems_text
    write_result(render(catalogue.entries(), catalogue.scopes.values()))
