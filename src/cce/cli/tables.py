"""What `cce experiment`, `cce ablate` and `cce sweep` have in common: options, and the reports of a table."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from cce.cli.options import (
    SCORING_OPTIONS,
    cache_option,
    directory_option,
    parse_metrics,
    redact_option,
    store_option,
    systems_options,
    with_corpus,
)
from cce.cli.paths import FILE, FormatAndPath
from cce.cli.progress import Progress
from cce.cli.report_files import (
    ReportFile,
    parse_report_files,
    record_files,
    require_apart,
    warn_of_indexed_reports,
    write_reports,
)

if TYPE_CHECKING:
    from cce.domain.evidence import EvidenceOptions
    from cce.domain.experiment import Experiment
    from cce.domain.gate import GatePolicy
    from cce.retrieval.systems.catalogue import Catalogue
    from cce.usecases.corpora import CorpusChoice
    from cce.usecases.systems import SystemsChoice

_T = TypeVar("_T")

FORMATS = ("text", "json", "markdown", "html")
DEFAULT_METRICS = "recall@1,recall@3,mrr,ndcg@5"
_DEFAULT_BY = "mrr"


class TableChoice(NamedTuple):
    """What the options that all three commands have say."""

    fixtures: str
    corpus: CorpusChoice
    systems: SystemsChoice
    evidence: EvidenceOptions
    by: str
    baseline: str | None
    files: tuple[ReportFile, ...]


_OPTIONS: tuple[Callable[[Callable[..., object]], Callable[..., object]], ...] = (
    click.argument("fixtures", type=FILE, metavar="FIXTURES"),
    directory_option(),
    store_option("Score the index in this store instead of a directory."),
    click.option("--baseline", metavar="NAME", help="The row that all others are held against; the first."),
    click.option(
        "--metrics",
        metavar="M,M,..",
        default=DEFAULT_METRICS,
        show_default=True,
        help="Metrics of the table.",
    ),
    click.option(
        "--by", metavar="METRIC", help="The metric with interval, change and p; mrr, or else the first one."
    ),
    click.option(
        "--min-effect",
        type=float,
        default=0.0,
        metavar="X",
        help="Mark the cheapest row that is shown to lose less than X to the best.",
    ),
    click.option("--alpha", type=float, default=0.05, show_default=True, metavar="P", help="Error rate."),
    click.option(
        "--seed", type=int, default=0, show_default=True, metavar="N", help="Seed of the resamples."
    ),
    click.option(
        "--resamples", type=int, default=10_000, show_default=True, metavar="N", help="How many resamples."
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the table as cce.experiment/v1 JSON."),
    click.option(
        "--report",
        "reports",
        multiple=True,
        type=FormatAndPath(lambda: FORMATS),
        metavar="FORMAT=PATH",
        help=f"Write the table; - is standard output. Formats: {', '.join(FORMATS)}. May be given again.",
    ),
)


def table_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a table; it receives them as `choice: TableChoice`."""

    @functools.wraps(command)
    def with_choice(
        *,
        fixtures: str,
        corpus: CorpusChoice,
        systems: SystemsChoice,
        baseline: str | None,
        metrics: str,
        by: str | None,
        min_effect: float,
        alpha: float,
        seed: int,
        resamples: int,
        as_json: bool,
        reports: tuple[str, ...],
        **others: object,
    ) -> None:
        from cce.domain.evidence import EvidenceOptions

        evidence = EvidenceOptions(parse_metrics(metrics), alpha, min_effect, seed, resamples)
        main = _DEFAULT_BY if by is None and _DEFAULT_BY in evidence.metrics else by or evidence.metrics[0]
        files = parse_report_files(reports, FORMATS, as_json=as_json)
        choice = TableChoice(fixtures, corpus, systems, evidence, main, baseline, files)
        command(choice=choice, **others)

    decorated: Callable[..., object] = with_corpus(with_choice)
    for option in reversed((*_OPTIONS, systems_options(SCORING_OPTIONS), redact_option, cache_option)):
        decorated = option(decorated)
    return decorated  # type: ignore[return-value]


def write_table(
    verb: str,
    choice: TableChoice,
    catalogue: Catalogue,
    names: tuple[str, ...],
    *,
    tune: str | None = None,
    gate: str | None = None,
) -> None:
    """Measure the rows `names` and write the table; raises CceError.

    tune  the cases to choose a row on
    gate  the path of a policy that judges each row
    """
    from cce.usecases.corpora import corpus_directories
    from cce.usecases.experiment import ExperimentPlan, run_experiment
    from cce.usecases.systems import input_files

    plan = ExperimentPlan(
        verb,
        choice.fixtures,
        names,
        choice.baseline or names[0],
        choice.by,
        choice.evidence,
        choice.corpus,
        choice.systems,
        catalogue,
        tune,
        None if gate is None else _policy(gate),
    )
    inputs = {"fixture set": choice.fixtures, "store": choice.corpus.store, **input_files(catalogue)}
    inputs |= {"policy": gate}
    directories = functools.partial(corpus_directories, choice.corpus, choice.fixtures)
    require_apart(choice.files, inputs, directories)
    records = record_files(choice.systems.records, inputs, directories)
    with Progress() as progress:
        experiment = run_experiment(plan, progress)
    renderers = _renderers()
    write_reports([(file, renderers[file.format](experiment)) for file in choice.files])
    warn_of_indexed_reports(choice.corpus.directory, choice.files, records)


def _policy(path: str) -> GatePolicy:
    from cce.measurement.gate.policy import read_policy  # it needs pydantic

    return read_policy(path)


def _renderers() -> Mapping[str, Callable[[Experiment], str]]:
    from cce.report.json.experiment import render_experiment_json
    from cce.report.markdown.experiment import render_experiment_markdown
    from cce.report.text.experiment import render_experiment_text

    return {
        "text": render_experiment_text,
        "json": render_experiment_json,
        "markdown": render_experiment_markdown,
        "html": _render_page,
    }


def _render_page(experiment: Experiment) -> str:
    from cce.report.html.experiment import render_experiment_html  # it needs a template engine

    return render_experiment_html(experiment)
