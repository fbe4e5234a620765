"""`cce explain`: one case in full, and why each missed anchor was missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cce.cli.exits import warn, write_result
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
from cce.cli.paths import FILE
from cce.cli.progress import Progress

if TYPE_CHECKING:
    from cce.usecases.corpora import CorpusChoice
    from cce.usecases.systems import SystemsChoice


@click.command(
    name="explain",
    short_help="see why a case scores as it does",
    epilog="\b\nExamples:\n"
    "  cce explain eval/code.jsonl overdue-fee-cap\n"
    "  cce explain eval/code.jsonl overdue-fee-cap --backend hybrid --dir src\n"
    "  cce explain eval/code.jsonl overdue-fee-cap --json",
)
@click.argument("fixtures", type=FILE, metavar="SET")
@click.argument("case_id", metavar="ID")
@backends_option("Backends to explain")
@directory_option()
@store_option("Explain with the index in this store instead of a directory.")
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as cce.explain/v1 JSON.")
@systems_options(EXPLAINING_OPTIONS)
@redact_option
@cache_option
@with_corpus
def command(
    fixtures: str,
    case_id: str,
    backends: str | None,
    as_json: bool,
    corpus: CorpusChoice,
    systems: SystemsChoice,
) -> None:
    """Explain the case ID of the fixture set SET.

    Shows for each backend the results that count, what each score is made of and which anchors each
    result matches; for every anchor that no result matches the rank at which it would have come and by
    how much it missed, or why it is not in the index.
    """
    from cce.report.json.explanation import render_explanation_json
    from cce.report.text.explanation import render_explanation_text
    from cce.usecases.explain import ExplainPlan, run_explain
    from cce.usecases.systems import open_catalogue

    catalogue = open_catalogue(systems)
    names = catalogue.chosen("--backend", backends)
    plan = ExplainPlan(fixtures, case_id, names, corpus, systems, catalogue)
    with Progress() as progress:
        run = run_explain(plan, progress)
    for notice in run.notices:
        warn(notice)
    write_result((render_explanation_json if as_json else render_explanation_text)(run.explanation))
