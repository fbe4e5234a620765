"""Options in two stages: what was typed, and what it means."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cce.cli.paths import DIRECTORY
from cce.domain.redaction import STANDARD, Redaction, RedactionChoice
from cce.errors import UsageError
from cce.quoting import quoted
from cce.registry import unknown_name
from cce.retrieval.backends.catalog import BACKENDS, DEFAULT_BACKENDS

if TYPE_CHECKING:
    from cce.domain.evidence import EvidenceOptions

_T = TypeVar("_T")


def parse_backends(typed: str | None) -> tuple[str, ...]:
    """Backend names from a comma list, each once, in the order typed; the default three for None."""
    return DEFAULT_BACKENDS if typed is None else _parse_names("--backend", typed)


def parse_comparison(typed: str) -> tuple[str, str]:
    """The two backends of `--compare A,B`."""
    names = _parse_names("--compare", typed)
    if len(names) != 2:
        raise UsageError(
            f"--compare takes exactly two different backends, as in --compare bm25,hybrid; got {typed!r}"
        )
    return names[0], names[1]


def _parse_names(option: str, typed: str) -> tuple[str, ...]:
    names = split_names(typed)
    if not names:
        raise UsageError(f"{option} names no backend; known: {', '.join(BACKENDS.names())}")
    for name in names:
        if name not in BACKENDS:
            raise UsageError(unknown_name("backend", name, BACKENDS.names()))
    return names


def require_one_corpus(directory: str | None, store: str | None) -> None:
    """Refuse `--dir` together with `--store`."""
    if directory is not None and store is not None:
        raise UsageError("--dir and --store exclude each other: a store holds the chunks of its directory")


def refuse_empty(_context: click.Context, _parameter: click.Parameter, path: str | None) -> str | None:
    """A callback for directories: an empty one, most likely a variable of the shell without a value."""
    if path == "":
        raise click.BadParameter("it is empty, write . for the current directory")
    return path


def directory_option(
    description: str = "Corpus directory; wins over the one the set names.",
) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
    """Give a command `--dir`, which it receives as `directory: str | None`; an empty one is refused."""
    return click.option(
        "--dir", "directory", type=DIRECTORY, metavar="DIR", callback=refuse_empty, help=description
    )


def split_names(typed: str) -> tuple[str, ...]:
    """The names of a comma list, each once, in the order typed."""
    return tuple(dict.fromkeys(name.strip() for name in typed.split(",") if name.strip()))


def cache_option(command: Callable[..., _T]) -> Callable[..., _T]:
    """Give a command `--no-cache`; it receives what it may use as `cache: Cache | None`."""

    @functools.wraps(command)
    def with_cache(*, no_cache: bool, **others: object) -> _T:
        from cce.retrieval.indexing.cache import default_cache

        return command(cache=None if no_cache else default_cache(), **others)

    return click.option("--no-cache", is_flag=True, help="Index from scratch, and leave the cache as it is.")(
        with_cache
    )


_REDACTIONS = {each.value: each for each in (Redaction.STANDARD, Redaction.STRICT)}
_REDACT_VARIABLE = "CCE_REDACT"


def redact_option(command: Callable[..., _T]) -> Callable[..., _T]:
    """Give a command `--redact`; it receives what holds as `redaction: RedactionChoice`."""

    @functools.wraps(command)
    def with_redaction(*, redact: str | None, **others: object) -> _T:
        return command(redaction=parse_redaction(redact), **others)

    return click.option(
        "--redact",
        metavar="standard|strict",
        help="Rules by which secrets are scrubbed: standard, or strict, which takes many more; "
        f"{_REDACT_VARIABLE} sets the default.",
    )(with_redaction)


def parse_redaction(typed: str | None) -> RedactionChoice:
    """What was typed behind `--redact`, else what the environment says, else the standard rules."""
    if typed is not None:
        return RedactionChoice(_redaction_called("--redact", typed), is_typed=True)
    found = os.environ.get(_REDACT_VARIABLE)
    return RedactionChoice(_redaction_called(_REDACT_VARIABLE, found)) if found else STANDARD


def _redaction_called(place: str, name: str) -> Redaction:
    if name not in _REDACTIONS:
        raise UsageError(f"{place} is {quoted(name)}: write standard or strict")
    return _REDACTIONS[name]


_EVIDENCE_OPTIONS = (
    click.option("--evidence", "is_wanted", is_flag=True, help="Say how sure the figures are, and by tag."),
    click.option(
        "--metrics",
        metavar="A,B,..",
        help="With --evidence: the metrics to weigh, precision_at_k,recall,mrr,f1 by default; "
        "cce metrics lists all.",
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
        numbers = {"alpha": alpha, "min_effect": min_effect, "seed": seed, "resamples": resamples}
        command(evidence=parse_evidence(metrics, numbers, is_wanted=is_wanted), **others)

    for option in reversed(_EVIDENCE_OPTIONS):
        with_evidence = option(with_evidence)
    return with_evidence


def parse_evidence(
    metrics: str | None, numbers: Mapping[str, float | None], *, is_wanted: bool
) -> EvidenceOptions | None:
    """What kind of evidence is asked for; `numbers` are fields of EvidenceOptions, None where not typed."""
    typed: dict[str, Any] = {name: number for name, number in numbers.items() if number is not None}
    if metrics is not None:
        typed["metrics"] = metrics
    if not is_wanted:
        if typed:
            option = "--" + next(iter(typed)).replace("_", "-")
            raise UsageError(f"{option} says how to weigh the evidence: add --evidence, or leave it out")
        return None
    if metrics is not None:
        typed["metrics"] = _parse_metrics(metrics)

    from cce.domain.evidence import EvidenceOptions

    return EvidenceOptions(**typed)


def _parse_metrics(typed: str) -> tuple[str, ...]:
    from cce.measurement.metrics.catalog import metric_called

    return tuple(metric_called(name).name for name in split_names(typed))
