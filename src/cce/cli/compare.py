"""`cce compare`: two saved reports, case by case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from cce.cli.exits import warn
from cce.cli.options import evidence_options
from cce.cli.paths import FILE
from cce.cli.report_files import (
    parse_report_files,
    report_option,
    require_apart,
    typed_command,
    write_reports,
)
from cce.errors import UsageError
from cce.registry import split_names

if TYPE_CHECKING:
    from cce.domain.evidence import EvidenceOptions


@click.command(
    name="compare",
    short_help="compare two saved reports case by case",
    epilog="\b\nExamples:\n"
    "  cce relevance eval/code.jsonl --json > old.json\n"
    "  (change the ranking)\n"
    "  cce relevance eval/code.jsonl --json > new.json\n"
    "  cce compare old.json new.json --backend hybrid --evidence",
)
@click.argument("old", type=FILE, metavar="OLD.json")
@click.argument("new", type=FILE, metavar="NEW.json")
@click.option(
    "--backend",
    "backends",
    metavar="A[,B]",
    help="The backend to compare, or that of OLD and that of NEW; not needed where only one can be meant.",
)
@click.option(
    "--common", "only_shared", is_flag=True, help="Compare the cases that both have with the same k."
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@report_option
@evidence_options
def command(
    old: str,
    new: str,
    backends: str | None,
    only_shared: bool,
    as_json: bool,
    reports: tuple[str, ...],
    evidence: EvidenceOptions | None,
) -> None:
    """Compare a backend in NEW.json with one in OLD.json: what moved since the report was saved.

    Both are cce.relevance.report/v2 files, as --json of cce relevance writes them. Cases are paired
    by their ids, and all must be in both files with the same k unless --common is given. Deltas are
    NEW - OLD, so positive means that the new one is better.
    """
    from cce.domain.full_report import FullReport
    from cce.report.catalog import RENDERERS
    from cce.usecases.compare import PairingPlan, compare_saved

    names = None if backends is None else _parse_backends(backends)
    files = parse_report_files(reports, RENDERERS, as_json=as_json)
    require_apart(files, {"old report": old, "new report": new}, lambda: _corpora(old, new))
    report = compare_saved(PairingPlan(old, new, names, only_shared, evidence))
    notices = report.saved.notices if report.saved else ()
    for notice in notices:
        warn(notice)
    full = FullReport(report, command=typed_command(), warnings=notices)
    write_reports([(file, RENDERERS[file.format](full)) for file in files])


def _corpora(*saved: str) -> Iterator[str]:
    """What the reports say they were measured on, as seen from the folder where they were made."""
    from cce.measurement.reports.reading import read_saved_report

    for path in saved:
        yield read_saved_report(path).corpus


def _parse_backends(typed: str) -> tuple[str, ...]:
    names = split_names(typed)
    if not 1 <= len(names) <= 2:
        raise UsageError(
            f"--backend takes one name, or one for OLD and one for NEW, as in bm25,hybrid; got {typed!r}"
        )
    return names
