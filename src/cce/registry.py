"""Named strategies: a built-in table of import paths, and what other packages offer.

Nothing is imported until a name is asked for, so a backend that needs a heavy library costs only
those who use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from cce.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

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

    def __contains__(self, name: str) -> bool:
        # Looking for plug-ins goes through every installed package: not for a name of our own.
        return name in self._builtin or name in self._plugins()

    def load(self, name: str) -> T:
        """The strategy called `name`; raises UsageError, for an unknown one with the known ones."""
        if name in self._builtin:
            module, _, attribute = self._builtin[name].partition(":")
            return cast(T, getattr(import_module(module), attribute))
        plugin = self._plugins().get(name)
        if plugin is None:
            raise UnknownNameError(unknown_name(self._noun, name, self.names()))
        try:
            return cast(T, plugin.load())
        except Exception as exc:  # a plug-in may raise anything while it is imported
            reason = " ".join(f"{type(exc).__name__}: {exc}".split())
            fault = f"{self._noun} {name!r} of plug-in {plugin.value!r} cannot be loaded ({reason})"
            raise UsageError(f"{fault}; repair or remove the package that brings it") from exc

    def _plugins(self) -> dict[str, EntryPoint]:
        from importlib.metadata import entry_points

        return {point.name: point for point in entry_points(group=self._group)}


def unknown_name(noun: str, name: str, known: Iterable[str]) -> str:
    """A one-line message that helps: the nearest known name if there is one, and all of them."""
    known = tuple(known)
    nearest = nearest_name(name, known)
    hint = "" if nearest is None else f"; did you mean {nearest!r}?"
    return f"unknown {noun} {name!r}{hint} (known: {', '.join(known)})"


def nearest_name(name: str, known: Sequence[str]) -> str | None:
    """The known name that was most likely meant: the same in another case, else one spelled alike."""
    import difflib  # only a slip of the pen needs it

    alike = [each for each in known if each.casefold() == name.casefold()]
    nearest = alike or difflib.get_close_matches(name, known, n=1)
    return nearest[0] if nearest else None
