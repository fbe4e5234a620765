"""`cce explain`: one case in full, and why each missed anchor was missed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from cce.cli.exits import warn, write_result
from cce.cli.options import cache_option, directory_option, parse_backends, redact_option, require_one_corpus
from cce.cli.paths import FILE
from cce.cli.progress import Progress
from cce.domain.case import Case
from cce.quoting import on_one_line, quoted

if TYPE_CHECKING:
    from cce.domain.redaction import RedactionChoice
    from cce.retrieval.indexing.cache import Cache

_N_LINES_SHOWN = 5


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
@click.option(
    "--backend",
    "backends",
    metavar="A,B,..",
    help="Backends to explain: bm25, vector, hybrid (these three by default), bm25-okapi, bm25-plus, bm25-l.",
)
@directory_option()
@click.option(
    "--store", type=FILE, metavar="FILE", help="Explain with the index in this store instead of a directory."
)
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as cce.explain/v1 JSON.")
@redact_option
@cache_option
def command(
    fixtures: str,
    case_id: str,
    backends: str | None,
    directory: str | None,
    store: str | None,
    as_json: bool,
    redaction: RedactionChoice,
    cache: Cache | None,
) -> None:
    """Explain the case ID of the fixture set SET.

    Shows for each backend the results that count, what each score is made of and which anchors each
    result matches; for every anchor that no result matches the rank at which it would have come and by
    how much it missed, or why it is not in the index.
    """
    require_one_corpus(directory, store)
    names = parse_backends(backends)

    from cce.measurement.fixtures.reading import read_fixture_set
    from cce.report.json.explanation import render_explanation_json
    from cce.report.text.explanation import render_explanation_text
    from cce.retrieval.corpus.membership import notices_of_read
    from cce.usecases.evaluate import Plan, corpus_name, foreign_corpus, index_corpus
    from cce.usecases.explain import cases_called, explain_case

    fixture_set = read_fixture_set(fixtures)
    case, *others = cases_called(fixture_set, case_id)
    plan = Plan(
        fixtures, directory, names, is_comparison=False, store=store, cache=cache, redaction=redaction
    )
    corpus = corpus_name(plan, fixture_set)
    with Progress() as progress:
        indexed = index_corpus(plan, corpus, progress)
        explanation = explain_case(fixture_set, case, corpus, indexed, names, progress)
    foreign = foreign_corpus(fixture_set, corpus) if store is None else None
    of_set = () if foreign is None else (foreign,)
    for notice in (*of_set, *indexed.notices, *notices_of_read(indexed, {fixtures: "fixture set"})):
        warn(notice)
    if others:
        warn(_repeated_id(fixtures, case, others))
    write_result((render_explanation_json if as_json else render_explanation_text)(explanation))


def _repeated_id(fixtures: str, case: Case, others: Sequence[Case]) -> str:
    lines = ", ".join(str(other.line) for other in others[:_N_LINES_SHOWN])
    more = ", …" if len(others) > _N_LINES_SHOWN else ""
    return (
        f"{on_one_line(fixtures)}: the id {quoted(case.id)} stands also in line {lines}{more}; explained is"
        f" the case of line {case.line}, give each its own id"
    )
