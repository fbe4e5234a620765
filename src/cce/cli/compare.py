"""`cce compare`: saved reports against the first of them, case by case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from cce.cli.exits import warn
from cce.cli.options import evidence_options
from cce.cli.paths import FILE
from cce.cli.report_files import (
    ReportFile,
    parse_report_files,
    report_option,
    require_apart,
    typed_command,
    write_reports,
)
from cce.errors import UsageError
from cce.quoting import on_one_line
from cce.registry import split_names

if TYPE_CHECKING:
    from cce.domain.evidence import EvidenceOptions
    from cce.domain.report import Report

FORMATS_OF_SEVERAL = ("text", "markdown", "json")


@click.command(
    name="compare",
    short_help="compare saved reports case by case",
    epilog="\b\nExamples:\n"
    "  cce relevance eval/code.jsonl --json > old.json\n"
    "  (change the ranking)\n"
    "  cce relevance eval/code.jsonl --json > new.json\n"
    "  cce compare old.json new.json --backend hybrid --evidence\n"
    "  cce compare old.json try1.json try2.json --evidence --fixtures set.jsonl",
)
@click.argument("old", type=FILE, metavar="OLD.json")
@click.argument("new", type=FILE, metavar="NEW.json")
@click.argument("more", type=FILE, nargs=-1, metavar="[NEW.json]...")
@click.option(
    "--backend",
    "backends",
    metavar="A[,B,..]",
    help="The backend to compare, that of OLD and that of the others, or one for each report; not needed "
    "where only one can be meant.",
)
@click.option(
    "--common", "only_shared", is_flag=True, help="Compare the cases that all have with the same k."
)
@click.option(
    "--fixtures", type=FILE, metavar="SET", help="The set of the reports: adds slices by tag to --evidence."
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@report_option
@evidence_options
def command(
    old: str,
    new: str,
    more: tuple[str, ...],
    backends: str | None,
    only_shared: bool,
    fixtures: str | None,
    as_json: bool,
    reports: tuple[str, ...],
    evidence: EvidenceOptions | None,
) -> None:
    """Compare a backend in each NEW.json with one in OLD.json: what moved since the report was saved.

    All are cce.relevance.report/v2 files, as --json of cce relevance writes them. Cases are paired
    by their ids, and all must be in each file with the same k unless --common is given. Deltas are
    NEW - OLD, so positive means that the new one is better. With several, each is compared with OLD,
    and p values are adjusted over all of them.
    """
    from cce.domain.full_report import FullReport
    from cce.report.catalog import RENDERERS
    from cce.usecases.compare import PairingPlan, compare_saved

    names = None if backends is None else _parse_backends(backends, 2 + len(more))
    if fixtures is not None and evidence is None:
        raise UsageError("--fixtures adds slices to --evidence, which is not given: add --evidence")
    files = parse_report_files(reports, RENDERERS, as_json=as_json)
    if more:
        _require_formats_for_several(files)
    inputs = {"old report": old, "new report": new, "fixture set": fixtures}
    inputs |= {f"new report {number}": path for number, path in enumerate(more, start=2)}
    require_apart(files, inputs, lambda: _corpora(old, new, *more))
    compared, *others = compare_saved(PairingPlan(old, new, names, only_shared, evidence, more, fixtures))
    notices = tuple(dict.fromkeys(_notices([compared, *others])))
    for notice in notices:
        warn(notice)
    full = FullReport(compared, command=typed_command(), warnings=notices, others=tuple(others))
    write_reports([(file, RENDERERS[file.format](full)) for file in files])


def _notices(reports: Iterable[Report]) -> Iterator[str]:
    for report in reports:
        yield from report.saved.notices if report.saved else ()


def _require_formats_for_several(files: Iterable[ReportFile]) -> None:
    for file in files:
        if file.format not in FORMATS_OF_SEVERAL:
            raise UsageError(
                f"--report {file.format}={on_one_line(file.path)}: {file.format} shows two reports: "
                f"name two, or write {', '.join(FORMATS_OF_SEVERAL)}"
            )


def _corpora(*saved: str) -> Iterator[str]:
    """What the reports say they were measured on, as seen from the folder where they were made."""
    from cce.measurement.reports.reading import read_saved_report

    for path in saved:
        yield read_saved_report(path).corpus


def _parse_backends(typed: str, n_reports: int) -> tuple[str, ...]:
    names = split_names(typed)
    if len(names) not in (1, 2, n_reports):
        others = "NEW" if n_reports == 2 else f"the others, or one for each of the {n_reports} reports"
        raise UsageError(
            f"--backend takes one name, or one for OLD and one for {others}, as in bm25,hybrid; got {typed!r}"
        )
    return names
