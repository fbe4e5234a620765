"""Named strategies: a built-in table of import paths, and what other packages offer.

Nothing is imported until a name is asked for, so a backend that needs a heavy library costs only
those who use it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from cce.errors import CceError, UnknownNameError, UsageError
from cce.quoting import on_one_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

_OUR_PACKAGE = "cce-relevance"


class Registry(Generic[T]):
    """Strategies of one sort by name, built-in ones first, then the entry points of `group`.

    A name has one owner. One that two packages offer is an error that names both: either may be meant.
    """

    def __init__(self, noun: str, builtin: Mapping[str, str], group: str) -> None:
        """`builtin` maps a name to `module:attribute`; `noun` is used in messages."""
        self.noun = noun
        self._builtin = builtin
        self._group = group

    def names(self) -> tuple[str, ...]:
        """Every known name: built-in ones in table order, then others by name."""
        return (*self._builtin, *sorted(self._plugins().keys() - self._builtin.keys()))

    def __contains__(self, name: str) -> bool:
        """Raises UsageError, with both packages, for a name that has two owners."""
        self._refuse_rival(name)
        return name in self._builtin or self._plugin(name) is not None

    def load(self, name: str) -> T:
        """The strategy called `name`.

        Raises UsageError, for an unknown name with the known ones, for one of two owners with both packages.
        """
        self._refuse_rival(name)
        if name in self._builtin:
            module, _, attribute = self._builtin[name].partition(":")
            return cast(T, getattr(import_module(module), attribute))
        plugin = self._plugin(name)
        if plugin is None:
            raise UnknownNameError(unknown_name(self.noun, name, self.names()))
        try:
            return cast(T, plugin.load())
        except Exception as exc:  # a plug-in may raise anything while it is imported
            reason = " ".join(f"{type(exc).__name__}: {exc}".split())
            fault = f"{self.noun} {name!r} of plug-in {plugin.value!r} cannot be loaded ({reason})"
            raise UsageError(f"{fault}; repair or remove the package that brings it") from exc

    def spell(self, name: str) -> str:
        """The strategy as messages name it: with its package, unless it is built in."""
        package = self.package_of(name)
        return f"{self.noun} {name!r}" + ("" if package is None else f" of package {package!r}")

    def package_of(self, name: str) -> str | None:
        """The package that brings `name`; None for a built-in one, and for an unknown one."""
        if name in self._builtin:
            return None
        plugin = self._plugin(name)
        return None if plugin is None else _package(plugin)

    def _refuse_rival(self, name: str) -> None:
        """Raise UsageError if a package offers `name` and it is a built-in one."""
        # Mostly no package offers anything, and the library that reads entry points is slow to import.
        if name in self._builtin and _is_offered_anything(self._group):
            for point in self._plugins().get(name, ()):
                fault = self._clash(name, _OUR_PACKAGE, _package(point))
                raise UsageError(f"{fault}: remove {_package(point)}, or have it offer another name")

    def _plugin(self, name: str) -> EntryPoint | None:
        points = self._plugins().get(name, [])
        if len(points) > 1:
            fault = self._clash(name, *sorted(map(_package, points))[:2])
            raise UsageError(f"{fault}: remove one of them, or have it offer another name")
        return points[0] if points else None

    def _plugins(self) -> dict[str, list[EntryPoint]]:
        from importlib.metadata import entry_points

        plugins: dict[str, list[EntryPoint]] = {}
        for point in entry_points(group=self._group):
            plugins.setdefault(point.name, []).append(point)
        return plugins

    def _clash(self, name: str, first: str, second: str) -> str:
        return f"{self.noun} {name!r} is offered by two packages, {first} and {second}"


def _package(point: EntryPoint) -> str:
    """Who offers `point`: the package, or else the code."""
    return point.value if point.dist is None else str(point.dist.metadata["Name"])


def _is_offered_anything(group: str) -> bool:
    """Whether an installed package may have entry points of `group`: a look at files, some milliseconds."""
    return any(group in _entry_points(folder) for folder in sys.path)


@cache
def _entry_points(folder: str) -> str:
    """The texts of all `entry_points.txt` of the packages installed in `folder`."""
    texts = []
    with suppress(OSError):
        for name in os.listdir(folder or os.curdir):
            if name.endswith((".dist-info", ".egg-info")):
                path = os.path.join(folder, name, "entry_points.txt")
                with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
                    texts.append(file.read())
    return "\n".join(texts)


def ask_plug_in(culprit: str, error: type[CceError], call: Callable[..., T], *arguments: object) -> T:
    """What `call(*arguments)` returns; what a plug-in raises becomes an `error` that names `culprit`."""
    try:
        return call(*arguments)
    except (CceError, MemoryError):
        raise
    except Exception as exc:
        reason = on_one_line(f"{type(exc).__name__}: {exc}")
        raise error(f"{culprit}: {reason}; repair or remove that package") from exc


def split_names(typed: str | Iterable[str]) -> tuple[str, ...]:
    """The names of a comma list, or one by one: each once, in the order given."""
    names = typed.split(",") if isinstance(typed, str) else typed
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def known_names(registry: Registry[T], place: str, typed: str | Iterable[str]) -> tuple[str, ...]:
    """At least one name, all in `registry`; raises UsageError, `place` is where they were typed."""
    names = split_names(typed)
    if not names:
        raise UsageError(f"{place} names no {registry.noun}; known: {', '.join(registry.names())}")
    for name in names:
        if name not in registry:
            raise UnknownNameError(unknown_name(registry.noun, name, registry.names()))
    return names


def unknown_name(noun: str, name: str, known: Iterable[str]) -> str:
    """A one-line message that helps: the nearest known name if there is one, and all of them."""
    known = tuple(known)
    nearest = nearest_name(name, known)
    hint = "" if nearest is None else f"; did you mean {nearest!r}?"
    return f"unknown {noun} {name!r}{hint} (known: {', '.join(known)})"


def nearest_name(name: str, known: Sequence[str]) -> str | None:
    """The known name that was most likely meant: the same in another case, else one spelled alike."""
    import difflib  # only for a name that is misspelled

    alike = [each for each in known if each.casefold() == name.casefold()]
    nearest = alike or difflib.get_close_matches(name, known, n=1)
    return nearest[0] if nearest else None
