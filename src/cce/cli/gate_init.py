"""`cce gate init`: a first policy and its baseline beside a set."""

from __future__ import annotations

import click

from cce.cli.exits import ExitCode, warn, write_result
from cce.cli.options import refuse_empty
from cce.cli.outputs import warn_of_indexed
from cce.cli.paths import DIRECTORY, FILE
from cce.cli.progress import Progress


@click.command(
    name="init",
    epilog="\b\nExamples:\n"
    "  cce gate init eval/code.jsonl\n"
    "  cce gate init eval/code.jsonl --backend bm25 --dir src",
)
@click.argument("fixtures", type=FILE, metavar="SET")
@click.option("--backend", default="hybrid", metavar="NAME", help="The backend to gate, hybrid by default.")
@click.option(
    "--dir",
    "directory",
    type=DIRECTORY,
    metavar="DIR",
    callback=refuse_empty,
    help="Corpus directory; by default the one that the set names.",
)
def command(fixtures: str, backend: str, directory: str | None) -> int:
    """Write a policy and a first baseline beside SET: eval/code.gate.toml and eval/code.baseline.json.

    The policy is a start to edit: a limit on the fall of recall, and evidence on MRR. If either file is
    there already nothing is written.
    """
    from cce.report.text.gate import render_gate_text
    from cce.usecases.gate_files import beside
    from cce.usecases.gate_init import first_gate, write_gate

    with Progress() as progress:
        gate = first_gate(fixtures, backend, directory, progress)
    for notice in gate.run.notices:
        warn(notice)
    write_gate(gate)
    policy = gate.policy
    warn_of_indexed(gate.run.directory, {policy.path: "policy", beside(policy, policy.baseline): "baseline"})
    write_result(render_gate_text(gate.run.gate))
    return ExitCode.REFUSED if gate.run.gate.is_refused else ExitCode.MEASURED
