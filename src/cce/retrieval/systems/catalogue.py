"""Every system that a run can name: backends of the registry, those of a systems file, saved runs.

Names enter, tables leave. A name has one owner: two are an error that names both places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import NamedTuple

from cce.domain.scope import Scope
from cce.domain.second_stage import NO_RERANKER, NO_SECOND_STAGE
from cce.domain.systems import (
    NAME_RULE,
    RunFile,
    SystemEntry,
    SystemsFile,
    SystemTable,
    Variant,
    is_system_name,
)
from cce.errors import UnknownNameError, UsageError
from cce.quoting import on_one_line, quoted
from cce.registry import split_names, unknown_name
from cce.retrieval.backends.catalog import BACKENDS, DEFAULT_BACKENDS

DEFAULT_SYSTEM = "hybrid"
"""What answers where one system is asked and none is named."""

RUN_OPTION = "--run"
BUILT_IN = "built in"


class ResolvedSystem(NamedTuple):
    """A system without references: `table.source` is no other table of the file.

    scopes  of the system and of those that it is a variant of; a result must be in all of them
    """

    table: SystemTable
    scopes: tuple[Scope, ...]


class Catalogue:
    """The systems by name: built-in ones and plug-ins, then those of the file, then the saved runs."""

    def __init__(self, file: SystemsFile | None = None, runs: Sequence[SystemTable] = ()) -> None:
        """A run stands in for a program, service or object of the file that has its name.

        Raises UsageError for any other name with two owners.
        """
        self.scopes: Mapping[str, Scope] = {} if file is None else file.scopes
        self.path = None if file is None else file.path
        self.changes: tuple[str, ...] = () if file is None else file.changes
        self._given: dict[str, SystemTable] = {}
        self._resolved: dict[str, ResolvedSystem] = {}
        for table in () if file is None else file.systems.values():
            self._require_free(table)
            self._given[table.name] = table
        for run in runs:
            replaced = self._given.get(run.name)
            if replaced is not None and replaced.runs_code:
                # What the program answered before, in place of the program: its other settings hold.
                self._given[run.name] = replaced._replace(source=run.source, origin=run.origin)
            else:
                self._require_free(run)
                self._given[run.name] = run

    def with_resolved(self, rows: Mapping[str, ResolvedSystem]) -> Catalogue:
        """The same catalogue with these systems besides; raises UsageError for a faulty second stage."""
        other = copy(self)
        other._resolved = {**self._resolved, **rows}
        for each in rows.values():
            if each.table.stage != NO_SECOND_STAGE:
                _require_reranker(each.table)
        return other

    def _require_free(self, table: SystemTable) -> None:
        if table.name in self._given:
            other = self._given[table.name].origin
        elif table.name in BACKENDS:
            other = BACKENDS.spell(table.name) if BACKENDS.package_of(table.name) else "the built-in backends"
        else:
            return
        here, there = on_one_line(table.origin), on_one_line(other)
        raise UsageError(f"system {quoted(table.name)} is named twice, in {there} and in {here}: rename one")

    def names(self) -> tuple[str, ...]:
        """All names, in the order in which messages list them."""
        return (*BACKENDS.names(), *self._given)

    def __contains__(self, name: str) -> bool:
        return name in self._given or name in self._resolved or name in BACKENDS

    def entries(self) -> Iterator[SystemEntry]:
        """All systems with what they are and where they come from; nothing is opened."""
        for name in BACKENDS.names():
            yield SystemEntry(name, "backend", BACKENDS.package_of(name) or BUILT_IN)
        for table in self._given.values():
            yield SystemEntry(table.name, _KINDS[type(table.source).__name__], table.origin)

    def tables(self) -> tuple[SystemTable, ...]:
        """The tables of the file, then those of the saved runs."""
        return tuple(self._given.values())

    def chosen(self, place: str, typed: str | Iterable[str] | None) -> tuple[str, ...]:
        """At least one name, all known; without any typed those of file and runs, or the default backends.

        Raises UsageError; `place` is where they were typed.
        """
        if typed is None:
            return tuple(self._given) or DEFAULT_BACKENDS
        names = split_names(typed)
        if not names:
            raise UsageError(f"{place} names no backend; known: {', '.join(self.names())}")
        for name in names:
            self.require(name)
        return names

    def chosen_one(self, typed: str | None) -> str:
        """The system called `typed`, else the only one of file and runs, else hybrid; raises UsageError."""
        if typed is not None:
            self.require(typed)
            return typed
        if len(self._given) > 1:
            raise UsageError(f"which system? Name one of {', '.join(self._given)} with --backend")
        return next(iter(self._given), DEFAULT_SYSTEM)

    def require(self, name: str) -> None:
        """Raise UnknownNameError, with the known names, unless there is a system called `name`."""
        if name not in self:
            raise UnknownNameError(unknown_name("backend", name, self.names()))

    def is_described(self, name: str) -> bool:
        """Whether a table describes it, so that it is more than a bare name."""
        return name in self._given or name in self._resolved

    def is_priced(self, name: str) -> bool:
        """Whether the system has a price of its own."""
        return self.is_described(name) and self.resolve(name).table.price is not None

    def resolve(self, name: str) -> ResolvedSystem:
        """What `name` stands for, through the tables that it is a variant of; raises UsageError."""
        self.require(name)
        if name in self._resolved:
            return self._resolved[name]
        table = self._given.get(name) or SystemTable(name, Variant(name), BUILT_IN)
        scopes = [] if table.scope is None else [self.scopes[table.scope]]
        while isinstance(table.source, Variant) and table.source.backend in self._given:
            base = self._given[table.source.backend]
            scopes += [] if base.scope is None else [self.scopes[base.scope]]
            table = _on_top(table, table.source, base)
        if isinstance(table.source, Variant) and table.source.backend not in BACKENDS:
            fault = unknown_name("backend", table.source.backend, self.names())
            raise UnknownNameError(f"{on_one_line(table.origin)}: system.{name}.backend: {fault}")
        if table.stage != NO_SECOND_STAGE:
            _require_reranker(table)
        return ResolvedSystem(table, tuple(scopes))


_KINDS = {
    "Variant": "variant",
    "Program": "program",
    "Service": "service",
    "PythonObject": "object",
    "RunFile": "saved run",
}


def _on_top(table: SystemTable, variant: Variant, base: SystemTable) -> SystemTable:
    """`table` with what it leaves to `base`, of which it is a variant."""
    source = base.source
    if variant.options and not isinstance(source, Variant):
        raise UsageError(
            f"{on_one_line(table.origin)}: system.{table.name}.options: {quoted(base.name)} is no backend "
            "and takes none, remove them"
        )
    if isinstance(source, Variant):
        source = Variant(source.backend, {**source.options, **variant.options})
    finals = [final for final in (table.final, base.final) if final is not None]
    return SystemTable(
        table.name,
        source,
        table.origin,
        collapse=table.collapse or base.collapse,
        repeat=max(table.repeat, base.repeat),
        scope=table.scope or base.scope,
        filter=table.filter if table.scope is not None else base.filter,
        final=min(finals, default=None),
        price=table.price or base.price,
        stage=table.stage.over(base.stage),
    )


def _require_reranker(table: SystemTable) -> None:
    """Raise UsageError for a reranker that nobody offers, and for keys of a stage that has none."""
    from cce.retrieval.rerank.catalog import RERANKERS  # few systems have a second stage

    place, stage = f"{on_one_line(table.origin)}: system.{table.name}", table.stage
    if stage.rerank is None:
        keys = {"rerank_options": stage.options, **stage._asdict()}
        key = next(key for key, value in keys.items() if value is not None)
        raise UsageError(f'{place}.{key}: goes with a reranker, add rerank = "overlap" or remove it')
    if stage.is_active and stage.rerank not in RERANKERS:
        fault = unknown_name("reranker", stage.rerank, (*RERANKERS.names(), NO_RERANKER))
        raise UnknownNameError(f"{place}.rerank: {fault}")


def parse_run_option(typed: str) -> SystemTable:
    """The system that `--run NAME=FILE` names; raises UsageError."""
    name, equals, path = typed.partition("=")
    name = name.strip()
    if not equals or not path:
        raise UsageError(f"--run takes NAME=FILE, as in --run mine=runs/mine.jsonl; got {quoted(typed)}")
    if not is_system_name(name):
        raise UsageError(f"--run {quoted(typed)}: {NAME_RULE}")
    return SystemTable(name, RunFile(path), RUN_OPTION)
