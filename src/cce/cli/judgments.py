"""`cce fixtures add`, `clean` and `status`: judgments without a labelling session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cce.cli.exits import warn, write_result
from cce.cli.options import directory_option, redact_option, with_corpus
from cce.cli.paths import FILE
from cce.cli.progress import Progress
from cce.cli.revisions import WRITE, tell_revision
from cce.quoting import counted, on_one_line, quoted

if TYPE_CHECKING:
    from cce.usecases.corpora import CorpusChoice


@click.command(
    short_help="add a place to the answers of a case",
    epilog="\b\nExamples:\n"
    "  cce fixtures add eval/code.jsonl pin-check accounts.py@29-37\n"
    "  cce fixtures add eval/code.jsonl pin-check accounts.py --grade 1",
)
@click.argument("fixtures", type=FILE, metavar="SET")
@click.argument("case_id", metavar="ID")
@click.argument("place", metavar="PLACE")
@click.option("--grade", type=click.IntRange(1, 3), metavar="N", help="1 related, 2 useful, 3 exactly this.")
@directory_option()
@redact_option
@with_corpus
def add(fixtures: str, case_id: str, place: str, grade: int | None, corpus: CorpusChoice) -> None:
    """Add PLACE, an anchor such as a.py@3-9, to the answers of the case or draft ID of SET.

    SET is written at once. PLACE leaves `irrelevant` if it is there. A place that the corpus does not have
    is refused; where SET names no corpus and there is no --dir, nothing is looked up.
    """
    from cce.usecases.judge import AddPlan, run_add

    run = run_add(AddPlan(fixtures, case_id, place, grade, corpus))
    for notice in run.notices:
        warn(notice)
    what = f"{quoted(place)}" + ("" if grade is None else f" with grade {grade}")
    path = on_one_line(fixtures)
    if run.is_changed:
        write_result(f"{what} added to {quoted(case_id)} -> {path}\n")
    else:
        write_result(f"{what} is an answer of {quoted(case_id)} already, so {path} stays as it is\n")


@click.command(
    short_help="drop judged candidates, keep the judgments",
    epilog="\b\nExamples:\n"
    "  cce fixtures clean eval/code.jsonl\n"
    "  cce fixtures clean eval/code.jsonl --write",
)
@click.argument("fixtures", type=FILE, metavar="SET")
@WRITE
def clean(fixtures: str, write: bool) -> None:
    """Drop the candidates of all labelled cases of SET, so that a line is short again.

    Answers are in `expected` and stay; candidates that were judged no go to `irrelevant`. Candidates that
    nobody judged are dropped too: cce fixtures draft --extend finds them again. A draft stays as it is.
    """
    from cce.usecases.judge import run_clean

    run = run_clean(fixtures, is_writing=write)
    cleaning = run.cleaning
    for notice in cleaning.left:
        warn(notice)
    cases = counted(cleaning.n_cases, "case")
    summary = f"candidates dropped: {cleaning.n_candidates} of {cases}, {cleaning.n_open} of them unjudged"
    tell_revision([], summary, None if write else run.diff, fixtures)


@click.command(
    short_help="see how much is labelled, and how old the labels are",
    epilog="\b\nExamples:\n"
    "  cce fixtures status eval/code.jsonl\n"
    "  cce fixtures status eval/code.jsonl --json",
)
@click.argument("fixtures", type=FILE, metavar="SET")
@directory_option()
@click.option("--json", "as_json", is_flag=True, help="Print the status as cce.status/v1 JSON.")
@with_corpus
def status(fixtures: str, as_json: bool, corpus: CorpusChoice) -> None:
    """Count the labelled cases of SET, its open candidates, and what was judged of each system.

    Labels are grouped by the age of their text: the days from its last change in git to the last commit.
    """
    from cce.report.json.status import render_status_json
    from cce.report.text.status import render_status_text
    from cce.usecases.status import set_status

    with Progress() as progress:
        found = set_status(fixtures, corpus, progress)
    write_result((render_status_json if as_json else render_status_text)(found))
