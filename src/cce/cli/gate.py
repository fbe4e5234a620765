"""`cce gate`: whether a change of the ranking may go in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from cce.cli.exits import ExitCode, ReaderLeft, say, silence_stdout, warn_beside
from cce.cli.options import GATE_OPTIONS, cache_option, redact_option, systems_options, with_corpus
from cce.cli.outputs import output_fault, warn_of_indexed
from cce.cli.paths import FILE
from cce.cli.progress import Progress
from cce.cli.report_files import (
    ReportFile,
    parse_report_files,
    record_files,
    report_option,
    require_apart,
    typed_command,
    warn_of_indexed_reports,
    write_reports,
)
from cce.errors import CceError, UsageError
from cce.quoting import on_one_line

if TYPE_CHECKING:
    from cce.domain.gate import GatePolicy
    from cce.usecases.corpora import CorpusChoice
    from cce.usecases.systems import SystemsChoice


_JOINED = ("text", "markdown", "github")
"""The formats in which the reports of several policies follow one another."""


class _Gate(click.Command):
    """`cce gate POLICY..`, and `cce gate init SET`: a policy of that name is `./init`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] != ["init"]:
            return super().make_context(info_name, args, parent, **extra)
        from cce.cli.gate_init import command as init

        return init.make_context(f"{info_name} init", args[1:], parent, **extra)


@click.command(
    name="gate",
    cls=_Gate,
    short_help="hold a ranking to a policy and a baseline",
    epilog="\b\nExamples:\n"
    "  cce gate init eval/code.jsonl         (a first policy and its baseline)\n"
    "  cce gate eval/gate.toml --accept      (whenever a change is meant)\n"
    "  cce gate eval/gate.toml\n"
    "  cce gate eval/gate.toml --strict --report markdown=comment.md\n"
    "  cce gate gate.toml --run-systems      (its systems may run)\n"
    "  cce gate gate.toml --run mine=mine.jsonl",
)
@click.argument("policy_paths", type=FILE, metavar="POLICY.toml...", nargs=-1, required=True)
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
@systems_options(GATE_OPTIONS)
@redact_option
@cache_option
@with_corpus
def command(
    policy_paths: tuple[str, ...],
    is_accepting: bool,
    is_strict: bool,
    baseline_ref: str | None,
    as_json: bool,
    reports: tuple[str, ...],
    corpus: CorpusChoice,
    systems: SystemsChoice,
) -> int:
    """Measure the backend that POLICY.toml names and say GO, REVIEW or BLOCK; several are asked in turn.

    POLICY.toml is a cce.gate/v1 policy: a fixture set, a backend, a saved baseline to hold it
    against, and limits. Paths in it are relative to its folder.

    BLOCK: a critical case has no relevant result or lost recall, a floor or a drop is broken, a
    metric of the evidence regressed, a critical case left the set or has other labels. REVIEW: nothing
    of that, but more cases got worse than better, a critical case's first relevant result came later,
    labels changed, are stale or match nothing, or the set is too small to decide. Each reason is one
    line.

    The exit code is 1 for BLOCK, with --strict also for REVIEW, else 0; 2 if it could not be measured.
    The worst answer of several policies counts. cce gate init SET writes a first policy.
    """
    from cce.report.catalog import RENDERERS

    files = parse_report_files(reports, RENDERERS, as_json=as_json)
    if is_accepting and baseline_ref is not None:
        raise UsageError("--accept and --baseline-ref exclude each other: what is accepted is the file here")
    options = _Options(is_accepting, is_strict, baseline_ref, corpus, systems)
    if len(policy_paths) == 1:
        answer = _ask(policy_paths[0], files, options)
        return _written(files, [answer])
    if systems.records:
        raise UsageError("--record takes one policy: ask them one by one")
    for file in files:
        if file.format not in _JOINED:
            raise UsageError(
                f"--report {file.format} takes one policy, got {len(policy_paths)}: ask them one by one, "
                f"or write {', '.join(_JOINED)}"
            )
    answers = [_told(path, files, options) for path in policy_paths]
    return _written(files, answers)


class _Options(NamedTuple):
    is_accepting: bool
    is_strict: bool
    baseline_ref: str | None
    corpus: CorpusChoice
    systems: SystemsChoice


class _GateAnswer(NamedTuple):
    """What one policy says: a text for each report, none if it could not be asked."""

    code: ExitCode
    texts: tuple[str, ...] = ()
    directory: str | None = None
    records: tuple[str, ...] = ()


def _told(path: str, files: Sequence[ReportFile], options: _Options) -> _GateAnswer:
    """The answer of one of several policies under its name; one that cannot be asked stops no other."""
    try:
        answer = _ask(path, files, options)
    except CceError as exc:
        say(f"error: {on_one_line(str(exc))}")
        return _GateAnswer(ExitCode.NOT_MEASURED)
    named = (
        f"{on_one_line(path)}\n{text}" if file.format == "text" else text
        for file, text in zip(files, answer.texts, strict=True)
    )
    return answer._replace(texts=tuple(named))


def _ask(path: str, files: Sequence[ReportFile], options: _Options) -> _GateAnswer:
    from cce.measurement.gate.policy import read_policy
    from cce.report.catalog import RENDERERS, WITH_DRILLDOWN, WITH_MISSES
    from cce.usecases.gate import GatePlan, run_gate
    from cce.usecases.gate_files import beside, corpus_directories_of, input_paths, write_baseline

    policy = read_policy(path)
    inputs = input_paths(policy)
    require_apart(files, inputs, lambda: corpus_directories_of(policy))
    records = record_files(options.systems.records, inputs, lambda: corpus_directories_of(policy))
    if options.is_accepting:
        _require_own_baseline(policy)
    is_drilled = any(file.format in WITH_DRILLDOWN for file in files)
    plan = GatePlan(
        policy,
        options.is_strict,
        options.is_accepting,
        is_drilled,
        options.baseline_ref,
        typed_command(),
        options.corpus,
        options.systems,
        has_misses=any(file.format in WITH_MISSES for file in files),
    )
    with Progress() as progress:
        run = run_gate(plan, progress)
    is_text_shown = any(file.format == "text" and file.is_standard_output for file in files)
    warn_beside(run.notices, run.notices if is_text_shown else ())
    texts = tuple(RENDERERS[file.format](run.full) for file in files)
    if run.new_baseline is not None:
        write_baseline(policy, run.new_baseline)
        warn_of_indexed(run.directory, {beside(policy, policy.baseline): "baseline"})
    code = ExitCode.REFUSED if run.gate.is_refused else ExitCode.MEASURED
    return _GateAnswer(code, texts, run.directory, tuple(records))


def _written(files: Sequence[ReportFile], answers: Sequence[_GateAnswer]) -> int:
    """Write what all answers say, and give the worst exit code."""
    told = [answer for answer in answers if answer.texts]
    try:
        if told:
            write_reports(
                [(file, "\n".join(answer.texts[at] for answer in told)) for at, file in enumerate(files)]
            )
        records = [path for answer in told for path in answer.records]
        for directory in dict.fromkeys(answer.directory for answer in told):
            warn_of_indexed_reports(directory, files, records)
    except ReaderLeft:
        silence_stdout()  # the exit code stays the gate's, even if nothing reads its report
    return max(answer.code for answer in answers)


def _require_own_baseline(policy: GatePolicy) -> None:
    """Raise UsageError if a new baseline would replace another input of the gate, or be read as rules."""
    from cce.usecases.gate_files import beside, input_paths

    path = beside(policy, policy.baseline)
    others = {noun: read for noun, read in input_paths(policy).items() if noun != "baseline"}
    fault = output_fault(path, inputs=others)
    if fault is not None:
        way_out = f"name another baseline in {on_one_line(policy.path)}"
        raise UsageError(f"{on_one_line(path)}: {fault}; {way_out}")
