"""`cce systems`: which systems there are, and whether one answers as it should."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cce.cli.exits import ExitCode, warn, write_result
from cce.cli.options import (
    ASKING_OPTIONS,
    cache_option,
    directory_option,
    redact_option,
    store_option,
    systems_options,
    with_corpus,
)
from cce.cli.paths import FILE
from cce.cli.progress import Progress
from cce.errors import UsageError

if TYPE_CHECKING:
    from cce.usecases.corpora import CorpusChoice
    from cce.usecases.systems import SystemsChoice

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
    epilog="\b\nExamples:\n  cce systems\n  cce systems systems.toml\n"
    "  cce systems check mine --systems systems.toml --dir src",
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


@command.command(
    "check",
    short_help="talk to a system, and see whether it answers as it should",
    epilog="\b\nExamples:\n"
    "  cce systems check mine --systems systems.toml\n"
    "  cce systems check production --systems systems.toml --dir src --load",
)
@click.argument("name", metavar="NAME")
@systems_options(ASKING_OPTIONS)
@directory_option("Directory whose words are asked for; the current one by default.")
@store_option("Store whose words are asked for, instead of a directory.")
@click.option("--load", "may_load", is_flag=True, help="Check a service on another machine, too.")
@redact_option
@cache_option
@with_corpus
def check(name: str, may_load: bool, corpus: CorpusChoice, systems: SystemsChoice) -> ExitCode:
    """Talk to the program, service or object NAME as a run does, and print which laws it keeps.

    Handshake, places, k of 0, 1 and 10,000, a blank query, emoji, a query of 1 MB, repeats, batches, scopes,
    time limits, and a clean end. Exit code 1 if it breaks one.
    """
    if systems.file is None:
        raise UsageError("which file describes the system? Name it with --systems FILE")

    from cce.report.text.system_check import render_check_text
    from cce.usecases.check_system import CheckPlan, check_system
    from cce.usecases.systems import open_catalogue

    plan = CheckPlan(name, corpus, systems, open_catalogue(systems), may_load)
    with Progress() as progress:
        run = check_system(plan, progress)
    for notice in run.notices:
        warn(notice)
    write_result(render_check_text(run.check))
    return ExitCode.REFUSED if run.check.count("failed") else ExitCode.MEASURED
