"""Options in two stages: what was typed, and what it means."""

from __future__ import annotations

from cce.errors import UsageError
from cce.registry import unknown_name
from cce.retrieval.backends.catalog import BACKENDS, DEFAULT_BACKENDS


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
    names = tuple(dict.fromkeys(name.strip() for name in typed.split(",") if name.strip()))
    if not names:
        raise UsageError(f"{option} names no backend; known: {', '.join(BACKENDS.names())}")
    for name in names:
        if name not in BACKENDS.names():
            raise UsageError(unknown_name("backend", name, BACKENDS.names()))
    return names
