"""`cce gate`: whether a change of the ranking may go in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cce.cli.exits import ExitCode, ReaderLeft, silence_stdout, warn
from cce.cli.options import cache_option, redact_option, with_corpus
from cce.cli.outputs import output_fault, warn_of_indexed
from cce.cli.paths import FILE
from cce.cli.progress import Progress
from cce.cli.report_files import (
    parse_report_files,
    report_option,
    require_apart,
    typed_command,
    warn_of_indexed_reports,
    write_reports,
)
from cce.errors import UsageError
from cce.quoting import on_one_line

if TYPE_CHECKING:
    from cce.domain.gate import GatePolicy
    from cce.usecases.corpora import CorpusChoice


@click.command(
    name="gate",
    short_help="hold a ranking to a policy and a baseline",
    epilog="\b\nExamples:\n"
    "  cce gate eval/gate.toml --accept      (once, and whenever a change is meant)\n"
    "  cce gate eval/gate.toml\n"
    "  cce gate eval/gate.toml --strict --report markdown=comment.md",
)
@click.argument("policy_path", type=FILE, metavar="POLICY.toml")
@click.option(
    "--accept",
    "is_accepting",
    is_flag=True,
    help="Write what is measured now as the new baseline, and judge by that.",
)
@click.option("--strict", "is_strict", is_flag=True, help="Refuse with exit code 1 on REVIEW, too.")
@click.option(
    "--baseline-ref",
    metavar="REF",
    help="Read the baseline from this git commit, as in origin/main, so that accepting one changes nothing.",
)
@click.option("--json", "as_json", is_flag=True, help="Short for --report json=-.")
@report_option
@redact_option
@cache_option
@with_corpus
def command(
    policy_path: str,
    is_accepting: bool,
    is_strict: bool,
    baseline_ref: str | None,
    as_json: bool,
    reports: tuple[str, ...],
    corpus: CorpusChoice,
) -> int:
    """Measure the backend that POLICY.toml names and say GO, REVIEW or BLOCK.

    POLICY.toml is a cce.gate/v1 policy: a fixture set, a backend, a saved baseline to hold it
    against, and limits. Paths in it are relative to its folder.

    BLOCK: a critical case has no relevant result or lost recall, a floor or a drop is broken, a
    metric of the evidence regressed. REVIEW: nothing of that, but more cases got worse than better,
    a critical case's first relevant result came later, cases have no baseline, or the set is too
    small to decide. Each reason is one line.

    The exit code is 1 for BLOCK, with --strict also for REVIEW, else 0; 2 if it could not be measured.
    """
    from cce.measurement.gate.policy import read_policy
    from cce.report.catalog import RENDERERS, WITH_DRILLDOWN
    from cce.usecases.gate import GatePlan, run_gate
    from cce.usecases.gate_files import beside, corpus_directories_of, input_paths, write_baseline

    files = parse_report_files(reports, RENDERERS, as_json=as_json)
    policy = read_policy(policy_path)
    require_apart(files, input_paths(policy), lambda: corpus_directories_of(policy))
    if is_accepting and baseline_ref is not None:
        raise UsageError(
            "--accept and --baseline-ref exclude each other: accept writes the file that is here"
        )
    if is_accepting:
        _require_own_baseline(policy)
    is_drilled = any(file.format in WITH_DRILLDOWN for file in files)
    plan = GatePlan(policy, is_strict, is_accepting, is_drilled, baseline_ref, typed_command(), corpus)
    with Progress() as progress:
        run = run_gate(plan, progress)
    for notice in run.notices:
        warn(notice)
    rendered = [(file, RENDERERS[file.format](run.full)) for file in files]
    if run.new_baseline is not None:
        write_baseline(policy, run.new_baseline)
        warn_of_indexed(run.directory, {beside(policy, policy.baseline): "baseline"})
    try:
        write_reports(rendered)
        warn_of_indexed_reports(run.directory, files)
    except ReaderLeft:
        silence_stdout()  # the exit code stays the gate's, even if nothing reads its report
    return ExitCode.REFUSED if run.gate.is_refused else ExitCode.MEASURED


def _require_own_baseline(policy: GatePolicy) -> None:
    """Raise UsageError if a new baseline would replace another input of the gate, or be read as rules."""
    from cce.usecases.gate_files import beside, input_paths

    path = beside(policy, policy.baseline)
    others = {noun: read for noun, read in input_paths(policy).items() if noun != "baseline"}
    fault = output_fault(path, inputs=others)
    if fault is not None:
        way_out = f"name another baseline in {on_one_line(policy.path)}"
        raise UsageError(f"{on_one_line(path)}: {fault}; {way_out}")
