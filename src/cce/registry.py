"""Named strategies: a built-in table of import paths, and what other packages offer.

Nothing is imported until a name is asked for, so a backend that needs a heavy library costs only
those who use it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Generic, TypeVar, cast

from cce.errors import UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Strategies of one sort by name, built-in ones first, then the entry points of `group`."""

    def __init__(self, noun: str, builtin: Mapping[str, str], group: str) -> None:
        """`builtin` maps a name to `module:attribute`; `noun` is used in messages."""
        self._noun = noun
        self._builtin = builtin
        self._group = group

    def names(self) -> tuple[str, ...]:
        """Every known name: built-in ones in table order, then others by name."""
        return (*self._builtin, *sorted(self._plugins().keys() - self._builtin.keys()))

    def load(self, name: str) -> T:
        """The strategy called `name`; raises UnknownNameError that lists the known ones."""
        target = self._builtin.get(name) or self._plugins().get(name)
        if target is None:
            raise UnknownNameError(unknown_name(self._noun, name, self.names()))
        module, _, attribute = target.partition(":")
        return cast(T, getattr(import_module(module), attribute))

    def _plugins(self) -> dict[str, str]:
        from importlib.metadata import entry_points

        return {point.name: point.value for point in entry_points(group=self._group)}


def unknown_name(noun: str, name: str, known: Iterable[str]) -> str:
    """A one-line message that helps: the nearest known name if there is one, and all of them."""
    known = tuple(known)
    nearest = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
    return f"unknown {noun} {name!r}{hint} (known: {', '.join(known)})"
