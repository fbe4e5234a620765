"""`cce bench`: what indexing a corpus and asking it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cce.cli.exits import warn, write_result
from cce.cli.options import (
    ASKING_OPTIONS,
    backends_option,
    directory_option,
    redact_option,
    systems_options,
    with_corpus,
)
from cce.cli.paths import FILE
from cce.cli.progress import Progress

if TYPE_CHECKING:
    from cce.usecases.corpora import CorpusChoice
    from cce.usecases.systems import SystemsChoice


@click.command(
    name="bench",
    short_help="measure what indexing and asking cost",
    epilog="\b\nExamples:\n"
    "  cce bench\n"
    "  cce bench --dir src --repeat 3 --backend bm25\n"
    "  cce bench eval/code.jsonl --json",
)
@click.argument("fixtures", type=FILE, metavar="[SET]", required=False)
@directory_option("Corpus directory: wins over the one the set names; the current one without a set.")
@backends_option("Backends to time, in report order")
@click.option(
    "--repeat",
    "n_runs",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    metavar="N",
    help="Timed runs, after one warm-up.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as cce.bench/v1 JSON.")
@systems_options(ASKING_OPTIONS)
@redact_option
@with_corpus
def command(
    fixtures: str | None,
    backends: str | None,
    n_runs: int,
    as_json: bool,
    corpus: CorpusChoice,
    systems: SystemsChoice,
) -> None:
    """Measure time, memory and the tokens saved by reading hits instead of files.

    The queries are those of SET, a cce.relevance/v1 set, with their k. Without SET they are made of the
    corpus, up to 100 with k = 10: of evenly spaced chunks the first line that has a token, cut to eight
    tokens. So they are the same for the same corpus.

    Everything is done once to warm up, which gives the memory, and then N times to be timed. Indexing
    starts from scratch, without the cache. In the tokens of whole files, a file counts once per query;
    of nested hits both count, so a saving can be negative.

    \b
    Keys of --json; times are strings of six decimals, a spread is
    {"max", "median", "min"} of the N runs:
      backends[]           one object for each backend, in report order
        backend            its name
        latency_ms.first   the first query, which builds what all need
        latency_ms.p50     spread of the median over all queries, in ms
        latency_ms.p95     spread of the 95th percentile
        latency_ms.max     spread of the slowest query
        tokens.in_hits     tokens in the top k of all queries
        tokens.in_files    tokens of the whole files they come from
        tokens.saved       1 - in_hits / in_files; null without a hit
      chunks, files        how many were indexed
      corpus               the directory as given
      fixtures             the set as given; null if the queries were made
      index_mb_per_second  text_bytes in MB (10^6) over median index_seconds
      index_seconds        spread of the time to index from scratch
      machine              Python, system and number of processors
      peak_memory_bytes    the most this process had by the end of the
                           warm-up, without its workers; null on Windows
      queries              how many
      redact               "strict"; only there with --redact strict
      runs, warm_ups       how often it was timed, and done before untimed
      schema               "cce.bench/v1"
      text_bytes           bytes of text that were indexed
    """  # noqa: D301 - click reads the escape
    from cce.report.json.benchmark import render_benchmark_json
    from cce.report.text.benchmark import render_benchmark_text
    from cce.usecases.bench import BenchmarkPlan, run_benchmark
    from cce.usecases.systems import open_catalogue

    catalogue = open_catalogue(systems)
    names = catalogue.chosen("--backend", backends)
    plan = BenchmarkPlan(fixtures, names, n_runs, corpus, systems, catalogue)
    with Progress() as progress:
        run = run_benchmark(plan, progress)
    for notice in run.notices:
        warn(notice)
    write_result((render_benchmark_json if as_json else render_benchmark_text)(run.benchmark))
