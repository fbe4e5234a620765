"""`cce gate`: whether a change of the ranking may go in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cce.atomic import write_atomically
from cce.cli.exits import ExitCode, OutputError, ReaderLeft, silence_stdout, warn
from cce.cli.options import cache_option, redact_option
from cce.cli.progress import Progress
from cce.cli.report_files import (
    parse_report_files,
    report_option,
    require_apart,
    typed_command,
    write_reports,
)

if TYPE_CHECKING:
    from cce.domain.redaction import RedactionChoice
    from cce.retrieval.cache import Cache


@click.command(
    name="gate",
    short_help="hold a ranking to a policy and a baseline",
    epilog="\b\nExamples:\n"
    "  cce gate eval/gate.toml --accept      (once, and whenever a change is meant)\n"
    "  cce gate eval/gate.toml\n"
    "  cce gate eval/gate.toml --strict --report markdown=comment.md",
)
@click.argument("policy_path", metavar="POLICY.toml")
@click.option(
    "--accept",
    "is_accepting",
    is_flag=True,
    help="Write what is measured now as the new baseline, and judge by that.",
)
@click.option("--strict", "is_strict", is_flag=True, help="Refuse with exit code 1 on REVIEW, too.")
@click.option("--json", "as_json", is_flag=True, help="Short for --report json=-.")
@report_option
@redact_option
@cache_option
def command(
    policy_path: str,
    is_accepting: bool,
    is_strict: bool,
    as_json: bool,
    reports: tuple[str, ...],
    redaction: RedactionChoice,
    cache: Cache | None,
) -> int:
    """Measure the backend that POLICY.toml names and say GO, REVIEW or BLOCK.

    POLICY.toml is a cce.gate/v1 policy: a fixture set, a backend, a saved baseline to hold it
    against, and limits. Paths in it are relative to its folder.

    BLOCK: a critical case has no relevant result or lost recall, a floor or a drop is broken, a
    metric of the evidence regressed. REVIEW: nothing of that, but more cases got worse than better,
    a critical case's first relevant result came later, cases have no baseline, or the set is too
    small to tell. Each reason has a line of its own.

    The exit code is 1 for BLOCK, with --strict also for REVIEW, else 0; 2 if it could not be measured.
    """
    from cce.gating import GatePlan, beside, input_paths, run_gate
    from cce.measurement.policy import read_policy
    from cce.report.catalog import RENDERERS, WITH_DRILLDOWN

    files = parse_report_files(reports, RENDERERS, as_json=as_json)
    policy = read_policy(policy_path)
    require_apart(files, input_paths(policy))
    is_drilled = any(file.format in WITH_DRILLDOWN for file in files)
    plan = GatePlan(policy, is_strict, is_accepting, is_drilled, typed_command(), cache, redaction)
    with Progress() as progress:
        run = run_gate(plan, progress)
    for notice in run.notices:
        warn(notice)
    rendered = [(file, RENDERERS[file.format](run.full)) for file in files]
    if run.new_baseline is not None:
        _write_baseline(beside(policy, policy.baseline), run.new_baseline)
    try:
        write_reports(rendered)
    except ReaderLeft:
        silence_stdout()  # a gate that was refused stays refused, whoever listens
    return ExitCode.REFUSED if run.gate.is_refused else ExitCode.MEASURED


def _write_baseline(path: str, content: bytes) -> None:
    try:
        write_atomically(path, content)
    except OSError as exc:
        raise OutputError(f"{path}: {exc.strerror or exc}; name a writable baseline in the policy") from exc
