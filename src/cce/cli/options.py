"""Options in two stages: what was typed, and what it means."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TypeVar

import click

from cce.cli.paths import DIRECTORY, FILE
from cce.errors import UsageError
from cce.registry import known_names, split_names
from cce.retrieval.backends.catalog import BACKENDS, DEFAULT_BACKENDS

_T = TypeVar("_T")


def parse_backends(typed: str | None) -> tuple[str, ...]:
    """Backend names from a comma list, each once, in the order typed; the default three for None."""
    return DEFAULT_BACKENDS if typed is None else known_names(BACKENDS, "--backend", typed)


def parse_comparison(typed: str) -> tuple[str, str]:
    """The two backends of `--compare A,B`."""
    names = known_names(BACKENDS, "--compare", typed)
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

        return command(corpus=choose_corpus(directory, store, redact, is_cached=not no_cache), **others)

    return with_choice


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
            metrics=default.metrics if metrics is None else _parse_metrics(metrics),
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


def _parse_metrics(typed: str) -> tuple[str, ...]:
    from cce.measurement.metrics.catalog import metric_called

    return tuple(metric_called(name).name for name in split_names(typed))
