"""Systems as a user describes them: a variant of a backend, a program, a service, an object, a saved run.

Values only: a systems file is read in `retrieval.systems`, and what a table describes is opened there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from cce.domain.scope import Scope
from cce.domain.second_stage import NO_SECOND_STAGE, SecondStage

_NOTHING: Mapping[str, Any] = MappingProxyType({})

NAME = r"[A-Za-z0-9._-]{1,64}"
"""What a system and a scope may be called."""

NAME_RULE = "a name has 1 to 64 ASCII letters, digits, dots, dashes or underscores"


def is_system_name(name: str) -> bool:
    """Whether a system or a scope may be called `name`."""
    return re.fullmatch(NAME, name) is not None


Filter = Literal["before", "after"]
"""Whether a scope limits what is ranked, or drops results from what was ranked without it."""


class Variant(NamedTuple):
    """A backend of a registry, or another system of the file, with options of its own."""

    backend: str
    options: Mapping[str, Any] = _NOTHING


class Program(NamedTuple):
    """A child process that speaks cce.retriever/v1; times in seconds.

    folder  where it is started: that of the systems file
    env     names of the environment that it gets besides the basics
    root    cut off the front of the paths that it returns
    """

    command: tuple[str, ...]
    folder: str
    processes: int = 1
    timeout: float = 30.0
    start_timeout: float = 60.0
    env: tuple[str, ...] = ()
    root: str | None = None


class Service(NamedTuple):
    """An HTTP service that speaks cce.retriever/v1; `headers` as written, with `${env:NAME}` in them."""

    url: str
    folder: str
    headers: Mapping[str, str] = _NOTHING
    retries: int = 2
    timeout: float = 30.0
    ca: str | None = None
    root: str | None = None


class PythonObject(NamedTuple):
    """What the factory `module:attribute` returns; `path` is where it is imported from, below `folder`."""

    factory: str
    folder: str
    options: Mapping[str, Any] = _NOTHING
    path: str | None = None
    root: str | None = None


class RunFile(NamedTuple):
    """A saved run; `path` as reached from the working directory.

    order  "rising" where a smaller score is better, for formats without ranks
    docid  how a document id of the run becomes a place, `{}` for the id as it is
    """

    path: str
    order: str | None = None
    docid: str | None = None
    root: str | None = None


Source = Variant | Program | Service | PythonObject | RunFile
"""What answers."""


class Price(NamedTuple):
    """What a query costs, in `unit`: per query, per scored pair, per 1,000 tokens of results."""

    query: float = 0.0
    pair: float = 0.0
    ktoken: float = 0.0
    unit: str = "ms"


class SystemTable(NamedTuple):
    """A system under its name.

    origin    where it was described, as messages name it: a systems file, or the option
    collapse  drop results that repeat an earlier one
    repeat    how often each question is asked
    scope     the name of the scope that its results are limited to
    final     how many results it returns at most; None for as many as are asked
    stage     what sorts its results anew
    """

    name: str
    source: Source
    origin: str
    collapse: bool = False
    repeat: int = 1
    scope: str | None = None
    filter: Filter = "before"
    final: int | None = None
    price: Price | None = None
    stage: SecondStage = NO_SECOND_STAGE

    @property
    def runs_code(self) -> bool:
        """Whether opening it starts a program, calls a service or imports an object."""
        return isinstance(self.source, Program | Service | PythonObject)


class SystemEntry(NamedTuple):
    """A row of the list of systems: `origin` is a package, a systems file or the option."""

    name: str
    kind: str
    origin: str


class SystemsFile(NamedTuple):
    """A `cce.systems/v1` file: its systems and its scopes by name, in the order of the file.

    changes  what `cce ablate` changes, `key=value` each, as written
    """

    path: str
    systems: Mapping[str, SystemTable] = _NOTHING
    scopes: Mapping[str, Scope] = _NOTHING
    changes: tuple[str, ...] = ()
