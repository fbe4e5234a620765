"""`cce history`: what a baseline was in each version that git has of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import click

from cce.cli.paths import FILE, FormatAndPath
from cce.cli.report_files import parse_report_files, require_apart, write_reports

if TYPE_CHECKING:
    from cce.domain.history import BaselineHistory

FORMATS = ("text", "json", "html")


@click.command(
    name="history",
    short_help="see how a baseline changed over the commits",
    epilog="\b\nExamples:\n"
    "  cce history eval/code.baseline.json\n"
    "  cce history eval/code.baseline.json --report html=history.html",
)
@click.argument("baseline", type=FILE, metavar="BASELINE.json")
@click.option("--backend", metavar="NAME", help="The backend to follow, where the baseline holds several.")
@click.option("--json", "as_json", is_flag=True, help="Print the history as JSON.")
@click.option(
    "--report",
    "reports",
    multiple=True,
    type=FormatAndPath(lambda: FORMATS),
    metavar="FORMAT=PATH",
    help=f"Write the history, as in html=history.html; - is standard output. Formats: {', '.join(FORMATS)}. "
    "May be given again.",
)
def command(baseline: str, backend: str | None, as_json: bool, reports: tuple[str, ...]) -> None:
    """List every version of a baseline in git's log, oldest first: its commit, means and cases.

    A version whose labels or cases differ from the one before starts a new line in the plot, since figures
    before and after are no comparison. Nothing is measured, fetched or changed.
    """
    from cce.usecases.history import read_history

    files = parse_report_files(reports, FORMATS, as_json=as_json)
    require_apart(files, {"baseline": baseline})
    history = read_history(baseline, backend)
    renderers = _renderers()
    write_reports([(file, renderers[file.format](history)) for file in files])


def _renderers() -> Mapping[str, Callable[[BaselineHistory], str]]:
    from cce.report.json.history import render_history_json
    from cce.report.text.history import render_history_text

    return {"text": render_history_text, "json": render_history_json, "html": _render_page}


def _render_page(history: BaselineHistory) -> str:
    from cce.report.html.history import render_history_html  # it needs a template engine

    return render_history_html(history)
