"""Options in two stages: what was typed, and what it means."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from cce.cli.exits import say
from cce.cli.paths import DIRECTORY, FILE, NAMED_FILE
from cce.errors import UsageError
from cce.registry import split_names
from cce.retrieval.backends.catalog import BACKENDS, DEFAULT_BACKENDS

if TYPE_CHECKING:
    from cce.retrieval.systems.catalogue import Catalogue

_T = TypeVar("_T")


def parse_comparison(catalogue: Catalogue, typed: str) -> tuple[str, str]:
    """The two systems of `--compare A,B`."""
    names = catalogue.chosen("--compare", typed)
    if len(names) != 2:
        raise UsageError(
            f"--compare takes exactly two different backends, as in --compare bm25,hybrid; got {typed!r}"
        )
    return names[0], names[1]


def refuse_empty(_context: click.Context, _parameter: click.Parameter, path: str | None) -> str | None:
    """A callback for directories: an empty one, most likely a variable of the shell without a value."""
    if path == "":
        raise click.BadParameter("it is empty, write . for the current directory")
    return path


def _listed_formats() -> str:
    from cce.report.catalog import RENDERERS

    return ", ".join(RENDERERS)


def _listed_embedders() -> str:
    from cce.retrieval.embedding.catalog import EMBEDDERS

    return ", ".join(EMBEDDERS.names())


def _listed_metrics() -> str:
    from cce.domain.scores import METRICS

    return ",".join(METRICS)


_LISTS: Mapping[str, Callable[[], str]] = {
    "{backends}": lambda: ", ".join(BACKENDS.names()),
    "{default_backends}": lambda: ", ".join(DEFAULT_BACKENDS),
    "{default_metrics}": _listed_metrics,
    "{embedders}": _listed_embedders,
    "{formats}": _listed_formats,
}


class NamingOption(click.Option):
    """An option whose help text names what a registry holds, as in `{backends}`.

    The registries are read when the help is printed: what other packages offer takes milliseconds to find.
    """

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """What click prints of the option."""
        for placeholder, listed in _LISTS.items():
            if self.help is not None and placeholder in self.help:
                self.help = self.help.replace(placeholder, listed())
        return super().get_help_record(ctx)


def backends_option(description: str) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
    """Give a command `--backend`, which it receives as `backends: str | None`."""
    text = f"{description}; {{default_backends}} by default. Known: {{backends}}."
    return click.option("--backend", "backends", cls=NamingOption, metavar="A,B,..", help=text)


def directory_option(
    description: str = "Corpus directory; wins over the one the set names.",
) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
    """Give a command `--dir`, an empty one refused: a part of what `with_corpus` makes `corpus` of."""
    return click.option(
        "--dir", "directory", type=DIRECTORY, metavar="DIR", callback=refuse_empty, help=description
    )


def store_option(description: str) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
    """Give a command `--store`: a part of what `with_corpus` makes `corpus` of."""
    return click.option("--store", type=FILE, metavar="FILE", help=description)


def redact_option(command: Callable[..., _T]) -> Callable[..., _T]:
    """Give a command `--redact`: a part of what `with_corpus` makes `corpus` of."""
    return click.option(
        "--redact",
        metavar="standard|strict",
        help="Rules by which secrets are scrubbed: standard, or strict, which takes many more; "
        "CCE_REDACT sets the default.",
    )(command)


def cache_option(command: Callable[..., _T]) -> Callable[..., _T]:
    """Give a command `--no-cache`: a part of what `with_corpus` makes `corpus` of."""
    return click.option("--no-cache", is_flag=True, help="Index from scratch, and leave the cache as it is.")(
        command
    )


def with_corpus(command: Callable[..., _T]) -> Callable[..., _T]:
    """Turn what the options of a corpus say, as many as the command has, into `corpus: CorpusChoice`.

    A command without --no-cache uses no cache. It must be the innermost decorator.
    """

    @functools.wraps(command)
    def with_choice(
        *,
        directory: str | None = None,
        store: str | None = None,
        redact: str | None = None,
        no_cache: bool = True,
        **others: object,
    ) -> _T:
        from cce.usecases.corpora import choose_corpus  # it brings in both wings

        choice = choose_corpus(directory, store, redact, is_cached=not no_cache)
        try:
            return command(corpus=choice, **others)
        finally:
            for entry in () if choice.cache is None else choice.cache.evicted:
                say(f"cache: it is full, so the index of {entry.corpus or 'an earlier version'} was dropped")

    return with_choice


_SYSTEMS_FILE = click.option(
    "--systems",
    "systems_file",
    type=FILE,
    metavar="FILE",
    help="A cce.systems/v1 file of further systems; naming it here consents to running them.",
)
_RUNS = click.option(
    "--run",
    "runs",
    multiple=True,
    type=NAMED_FILE,
    metavar="NAME=FILE",
    help="A saved run as the system NAME: cce.run/v1, TREC or ranx; may be repeated.",
)
_KEEP_GOING = click.option(
    "--keep-going", "keeps_going", is_flag=True, help="Score a case that a system fails as empty, and go on."
)
_REPEAT = click.option(
    "--repeat",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Ask each system N times, and score the mean.",
)
_RUN_ORDER = click.option(
    "--run-order",
    metavar="rank|score",
    help="Which column orders a TREC run in which ranks and scores disagree.",
)
_TIES = click.option(
    "--ties",
    metavar="rank|trec_eval",
    help="How equal scores of a TREC run are ordered: by rank, the default, or as trec_eval does.",
)
_DOCID = click.option(
    "--docid",
    metavar="PATTERN",
    help="What makes a path of a document id of a run, as in '{}.txt' after cce import beir.",
)
_HOSTS = click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="HOST",
    help="Under CI: a host besides this machine that a service may be on; may be repeated.",
)
_RECORDS = click.option(
    "--record",
    "records",
    multiple=True,
    type=NAMED_FILE,
    metavar="NAME=FILE",
    help="Keep what the system NAME answers as a cce.run/v1 file; may be repeated.",
)
_RESUME = click.option(
    "--resume", "resumes", is_flag=True, help="With --record: ask only what FILE.part does not hold."
)
_CONSENT = click.option(
    "--run-systems", "is_consented", is_flag=True, help="Run what the policy's systems file names."
)
_PRICE = click.option(
    "--price",
    metavar="query=4,pair=1.5",
    help="What a query, a scored pair and 1,000 tokens (ktoken) cost, for systems without a price.",
)

ASKING_OPTIONS = (_SYSTEMS_FILE, _HOSTS)
"""For commands that ask one query after the other."""

EXPLAINING_OPTIONS = (_SYSTEMS_FILE, _RUNS, _RUN_ORDER, _TIES, _DOCID, _HOSTS)
"""For commands that ask a query of a set."""

SCORING_OPTIONS = (
    *(_SYSTEMS_FILE, _RUNS, _KEEP_GOING, _REPEAT, _RUN_ORDER, _TIES, _DOCID),
    *(_RECORDS, _RESUME, _PRICE, _HOSTS),
)
"""For commands that score the cases of a set."""

GATE_OPTIONS = (
    *(_CONSENT, _RUNS, _KEEP_GOING, _REPEAT, _RUN_ORDER, _TIES, _DOCID),
    *(_RECORDS, _RESUME, _HOSTS),
)
"""For the gate, whose policy names the systems file."""


def systems_options(
    options: Sequence[Callable[[Callable[..., _T]], Callable[..., _T]]],
) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
    """Give a command these options; it receives them as `systems: SystemsChoice`."""

    def decorate(command: Callable[..., _T]) -> Callable[..., _T]:
        @functools.wraps(command)
        def with_choice(
            *,
            systems_file: str | None = None,
            runs: tuple[str, ...] = (),
            is_consented: bool = False,
            keeps_going: bool = False,
            repeat: int | None = None,
            run_order: str | None = None,
            ties: str | None = None,
            hosts: tuple[str, ...] = (),
            records: tuple[str, ...] = (),
            resumes: bool = False,
            docid: str | None = None,
            price: str | None = None,
            **others: object,
        ) -> _T:
            from cce.usecases.systems import SystemsChoice, parse_order, parse_price

            if resumes and not records:
                raise UsageError("--resume goes on with a --record NAME=FILE, name it")
            if docid is not None and "{}" not in docid:
                raise UsageError(f"--docid puts an id in for {{}}, as in '{{}}.txt'; got {docid!r}")
            choice = SystemsChoice(
                systems_file,
                runs,
                is_consented or systems_file is not None,
                hosts,
                parse_order(run_order, ties),
                keeps_going,
                repeat,
                parse_price(price),
                records,
                resumes,
                docid,
            )
            return command(systems=choice, **others)

        for option in reversed(options):
            with_choice = option(with_choice)
        return with_choice

    return decorate


_EVIDENCE_OPTIONS = (
    click.option("--evidence", "is_wanted", is_flag=True, help="Say how sure the figures are, and by tag."),
    click.option(
        "--metrics",
        cls=NamingOption,
        metavar="A,B,..",
        help="With --evidence: the metrics to weigh, {default_metrics} by default; cce metrics lists all.",
    ),
    click.option(
        "--alpha",
        type=float,
        metavar="F",
        help="With --evidence: how often luck alone may pass for a difference, 0.05 by default.",
    ),
    click.option(
        "--min-effect",
        type=float,
        metavar="F",
        help="With --evidence: the least mean difference that matters to you, 0 (any) by default.",
    ),
    click.option(
        "--seed", type=int, metavar="N", help="With --evidence: the seed of the resampling, 0 by default."
    ),
    click.option(
        "--resamples", type=int, metavar="N", help="With --evidence: how many resamples, 10000 by default."
    ),
)


def evidence_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `--evidence`; it receives them as `evidence: EvidenceOptions | None`."""

    @functools.wraps(command)
    def with_evidence(
        *,
        is_wanted: bool,
        metrics: str | None,
        alpha: float | None,
        min_effect: float | None,
        seed: int | None,
        resamples: int | None,
        **others: object,
    ) -> None:
        typed = {
            "--alpha": alpha,
            "--min-effect": min_effect,
            "--seed": seed,
            "--resamples": resamples,
            "--metrics": metrics,
        }
        if not is_wanted:
            _refuse_unused(typed)
            command(evidence=None, **others)
            return

        from cce.domain.evidence import EvidenceOptions

        default = EvidenceOptions()
        options = EvidenceOptions(
            metrics=default.metrics if metrics is None else parse_metrics(metrics),
            alpha=default.alpha if alpha is None else alpha,
            min_effect=default.min_effect if min_effect is None else min_effect,
            seed=default.seed if seed is None else seed,
            resamples=default.resamples if resamples is None else resamples,
        )
        command(evidence=options, **others)

    for option in reversed(_EVIDENCE_OPTIONS):
        with_evidence = option(with_evidence)
    return with_evidence


def _refuse_unused(typed: Mapping[str, object]) -> None:
    """Raise UsageError if an option of `--evidence` has a value."""
    for option, value in typed.items():
        if value is not None:
            raise UsageError(f"{option} says how to weigh the evidence: add --evidence, or leave it out")


def parse_metrics(typed: str) -> tuple[str, ...]:
    """The names of a comma list, all of known metrics; raises UsageError."""
    from cce.measurement.metrics.catalog import metric_called

    return tuple(metric_called(name).name for name in split_names(typed))
