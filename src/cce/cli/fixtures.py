"""`cce fixtures`: check, pin and re-anchor labels, and make new ones."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from cce.cli.exits import ExitCode, say, warn, write_result
from cce.cli.judgments import add, clean, status
from cce.cli.options import (
    EXPLAINING_OPTIONS,
    backends_option,
    cache_option,
    directory_option,
    redact_option,
    store_option,
    systems_options,
    with_corpus,
)
from cce.cli.outputs import refuse_output, warn_of_indexed
from cce.cli.paths import FILE
from cce.cli.progress import Progress
from cce.cli.revisions import WRITE, tell_revision
from cce.errors import UsageError
from cce.files import read_bytes, reading, write_file
from cce.quoting import on_one_line

STANDARD_STREAM = "-"

if TYPE_CHECKING:
    from cce.usecases.corpora import CorpusChoice
    from cce.usecases.systems import SystemsChoice


@click.group(
    name="fixtures",
    short_help="check, pin, re-anchor, draft and label fixture sets",
    epilog="\b\nExamples:\n"
    "  cce fixtures lint eval/code.jsonl\n"
    "  cce fixtures pin eval/code.jsonl --write\n"
    "  cce fixtures reanchor eval/code.jsonl | patch -p0",
)
def command() -> None:
    """Keep the labels of a fixture set true to the code they label."""


for _each in (add, clean, status):
    command.add_command(_each)


@command.command(short_help="find labels that are wrong, stale or worth little")
@click.argument("fixtures", type=FILE, metavar="SET")
@directory_option()
@store_option("Use the index in this store instead of a directory; pins stay unchecked.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as cce.lint/v1 JSON.")
@click.option("--strict", is_flag=True, help="Warnings fail as well.")
@click.option(
    "--level",
    type=click.Choice(["error", "warning", "note"]),
    default="note",
    show_default=True,
    help="The least to report.",
)
@click.option(
    "--report", type=FILE, metavar="FILE", help="A saved report of SET, to say what spread it measured."
)
@redact_option
@cache_option
@with_corpus
def lint(
    fixtures: str,
    as_json: bool,
    strict: bool,
    level: str,
    report: str | None,
    corpus: CorpusChoice,
) -> int:
    """Check every label of SET against its corpus.

    Errors make figures wrong: anchors that match nothing, ids and anchors that are there twice, pins
    whose text moved or changed. Warnings make them mean little. Notes say what the set can show at all.

    Exit code 1 if there is an error (with --strict also for a warning), else 0.
    """
    from cce.domain.findings import SEVERITIES
    from cce.report.json.findings import render_findings_json
    from cce.report.text.findings import render_findings
    from cce.usecases.lint import LintPlan, run_lint

    with Progress() as progress:
        run = run_lint(LintPlan(fixtures, corpus, report), progress)
    for notice in run.notices:
        warn(notice)
    least = next(known for known in SEVERITIES if known == level)
    write_result((render_findings_json if as_json else render_findings)(run.lint, least))
    is_refused = run.lint.count("error") or (strict and run.lint.count("warning"))
    return ExitCode.REFUSED if is_refused else ExitCode.MEASURED


@command.command(short_help="note which text each anchor was made for")
@click.argument("fixtures", type=FILE, metavar="SET")
@directory_option()
@WRITE
@click.option("--renew", is_flag=True, help="Renew stale pins as well: the labels hold for the new text.")
@click.option("--case", "ids", multiple=True, metavar="ID", help="Only this case; may be repeated.")
@redact_option
@with_corpus
def pin(
    fixtures: str,
    write: bool,
    renew: bool,
    ids: tuple[str, ...],
    corpus: CorpusChoice,
) -> None:
    """Add a pin to each anchor of SET that has none: a fingerprint of the text that it covers.

    A pin shows when that text moves or changes. Without --write a diff is printed and nothing changes.
    """
    from cce.usecases.pin import PinPlan, run_pin

    run = run_pin(PinPlan(fixtures, corpus, write, renew, ids))
    for notice in run.notices:
        warn(notice)
    pinning = run.pinning
    summary = f"pins added: {pinning.n_added}, renewed: {pinning.n_renewed}, dropped: {pinning.n_removed}"
    tell_revision([], summary, None if write else run.diff, fixtures)


@command.command(short_help="let stale anchors follow their text")
@click.argument("fixtures", type=FILE, metavar="SET")
@directory_option()
@WRITE
@click.option(
    "--similar",
    type=click.FloatRange(0, 1),
    metavar="R",
    help="Follow edited texts too, if at least this share of lines is the same.",
)
@click.option("--ask", is_flag=True, help="Show each edited text beside the old one and ask.")
@redact_option
@with_corpus
def reanchor(fixtures: str, write: bool, similar: float | None, ask: bool, corpus: CorpusChoice) -> None:
    """Find where the text of each stale pin of SET went.

    Anchors whose text moved, unchanged, are rewritten. Where it changed as well, the function or class of
    the same name is listed; --similar 0.8 rewrites those anchors too, and --ask asks about each, also
    where two places look the same. Without --write a diff is printed and nothing changes.
    """
    from cce.cli.asking import asking
    from cce.labels.edited import at_least, never
    from cce.usecases.reanchor import ReanchorPlan, run_reanchor

    accepts = never if similar is None else at_least(similar)
    run = run_reanchor(ReanchorPlan(fixtures, corpus, write, asking(accepts) if ask else accepts))
    for notice in run.notices:
        warn(notice)
    lines = [f"{on_one_line(fixtures)}:{move.case.line}: {move}" for move in run.moves]
    n_made = sum(move.is_made for move in run.moves)
    summary = f"{n_made} of {len(run.moves)} stale anchors re-anchored"
    tell_revision(lines, summary, None if write else run.diff, fixtures)


@command.command(short_help="make cases to label from real queries")
@click.option("--from", "source", type=FILE, metavar="FILE", help="Queries; - is standard input.")
@click.option(
    "--extend",
    "extended",
    type=FILE,
    metavar="SET",
    help="Instead of --from: add candidates to the cases of this set, and write it.",
)
@directory_option("The directory to search; the current one by default.")
@store_option("Search the index in this store; label then needs --dir.")
@click.option(
    "--k",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Results per backend; a case of SET has its own.",
)
@backends_option("Backends to pool")
@click.option(
    "-o", "--output", default="-", type=FILE, metavar="FILE", help="A new file; standard output by default."
)
@systems_options(EXPLAINING_OPTIONS)
@redact_option
@cache_option
@with_corpus
def draft(
    source: str | None,
    extended: str | None,
    k: int,
    backends: str | None,
    output: str,
    corpus: CorpusChoice,
    systems: SystemsChoice,
) -> None:
    """Turn real queries into drafts: cases with candidates, and no label.

    FILE has one query per line, or one object with the key "query" per line, as a search log has. Of
    queries with the same words the first is taken. Label the drafts with: cce fixtures label SET

    With --extend, what the backends return for the cases of a set and nobody judged becomes candidates there.
    """
    if (source is None) == (extended is None):
        raise UsageError("give --from FILE to draft new cases, or --extend SET to add to those of a set")
    if source is None:
        _extend(str(extended), k, backends, output, corpus, systems)
        return
    from cce.usecases.draft import DraftPlan, run_draft
    from cce.usecases.systems import open_catalogue

    catalogue = open_catalogue(systems)
    names = catalogue.chosen("--backend", backends)
    plan = DraftPlan(source, names, k, corpus, output, systems, catalogue)
    if output != STANDARD_STREAM:
        refuse_output(output, "-o")
        _require_new(output)
    raw = _read(source)
    with Progress() as progress:
        run = run_draft(plan, raw, progress)
    for notice in run.notices:
        warn(notice)
    queries = run.queries
    drafts = "1 draft" if len(queries.texts) == 1 else f"{len(queries.texts)} drafts"
    say(
        f"{drafts}; left out: {queries.n_repeated} with the words of another query,"
        f" {queries.n_wordless} without a token"
    )
    if output == STANDARD_STREAM:
        write_result(run.text)
        return
    _write_new(output, run.text)
    warn_of_indexed(run.directory, {output: "set of drafts"})
    write_result(f"{drafts} -> {on_one_line(output)}\n")


@command.command(short_help="label the candidates of drafts at the terminal")
@click.argument("fixtures", type=FILE, metavar="SET")
@directory_option()
@click.option("--case", "ids", multiple=True, metavar="ID", help="Only this case; may be repeated.")
@redact_option
@with_corpus
def label(fixtures: str, ids: tuple[str, ...], corpus: CorpusChoice) -> None:
    """Show the candidates of SET one by one and take an answer for each.

    Every answer is written to SET at once. After a stop, the next run continues there.
    """
    from cce.cli.labelling import run_session
    from cce.usecases.label import open_labelling

    labelling = open_labelling(fixtures, ids, corpus)
    for notice in labelling.notices:
        warn(notice)
    run_session(labelling.session, labelling.texts, labelling.revision)


def _extend(
    fixtures: str, k: int, backends: str | None, output: str, corpus: CorpusChoice, systems: SystemsChoice
) -> None:
    from cce.quoting import counted
    from cce.usecases.extend import ExtendPlan, run_extend
    from cce.usecases.systems import open_catalogue

    if output != STANDARD_STREAM:
        raise UsageError("--extend writes to its set, so leave out -o")
    catalogue = open_catalogue(systems)
    plan = ExtendPlan(fixtures, catalogue.chosen("--backend", backends), k, corpus, systems, catalogue)
    with Progress() as progress:
        run = run_extend(plan, progress)
    for notice in run.notices:
        warn(notice)
    cases = f"{run.n_extended} of {counted(run.n_cases, 'case')}"
    write_result(f"{counted(run.n_added, 'candidate')} added to {cases} -> {on_one_line(fixtures)}\n")


def _read(source: str) -> bytes:
    """The bytes of a file of queries, or of standard input."""
    what = ("the queries", UsageError, "name a readable file")
    if source != STANDARD_STREAM:
        return read_bytes(source, *what)
    with reading(source, *what):
        return sys.stdin.buffer.read()


def _require_new(output: str) -> None:
    if os.path.lexists(output):
        raise UsageError(
            f"{on_one_line(output)}: is there already and may hold answers, name a new file with -o"
        )


def _write_new(output: str, text: str) -> None:
    _require_new(output)  # again: drafting takes its time
    content = text.encode("utf-8", "backslashreplace")
    write_file(output, content, UsageError, "cannot be written: {}; name another file with -o")
