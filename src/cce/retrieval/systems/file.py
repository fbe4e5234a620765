"""The reader of systems files: a `cce.systems/v1` TOML file in, a frozen SystemsFile out.

Which keys go together, names, and paths are checked here. Faults raise OutsideSystemError: `path: key: fault,
way out`. Nothing is opened, started or imported.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Collection, Iterable
from types import MappingProxyType

from cce.domain.scope import Scope
from cce.domain.second_stage import SecondStage
from cce.domain.systems import (
    Price,
    Program,
    PythonObject,
    RunFile,
    Service,
    Source,
    SystemsFile,
    SystemTable,
    Variant,
    is_system_name,
)
from cce.errors import OutsideSystemError
from cce.files import read_bytes
from cce.quoting import on_one_line, quoted
from cce.retrieval.systems.tables import SOURCES, FileValues, SystemValues, parse_tables
from cce.toml_tables import unknown

_STAGE_KEYS = ("rerank", "rerank_options", "depth", "max_words", "blend")
_KEYS_OF_ALL = ("collapse", "repeat", "scope", "filter", "final", "price", *_STAGE_KEYS)
_KEYS = {
    "backend": ("options",),
    "command": ("processes", "timeout", "start_timeout", "env", "root"),
    "url": ("headers", "retries", "timeout", "ca", "root"),
    "object": ("options", "path", "root"),
    "run": ("order", "docid", "root"),
}
"""The keys that go with each of SOURCES."""

_FACTORY = r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*"


def read_systems(path: str) -> SystemsFile:
    """The systems file at `path`; raises OutsideSystemError."""
    raw = read_bytes(path, "the systems file", OutsideSystemError, "name a readable TOML file")
    return parse_systems(raw, path)


def parse_systems(raw: bytes, path: str) -> SystemsFile:
    """The systems file that `raw` spells; `path` is what messages name and its own paths are relative to."""
    try:
        values, keys = parse_tables(raw)
        _require_names("system", values["system"])
        _require_names("scope", values["scope"])
        systems = {
            name: _system(name, table, keys[name], values, path) for name, table in values["system"].items()
        }
        _require_no_circle(systems)
    except OutsideSystemError as exc:
        raise OutsideSystemError(f"{on_one_line(path)}{exc}") from exc
    scopes = {
        name: _scope(name, table["include"], table["exclude"]) for name, table in values["scope"].items()
    }
    changes = tuple(values["ablate"]["changes"])
    return SystemsFile(path, MappingProxyType(systems), MappingProxyType(scopes), changes)


def _require_names(noun: str, names: Iterable[str]) -> None:
    for name in names:
        if not is_system_name(name):
            fault = (
                f": {noun} {quoted(name)}: a name has 1 to 64 letters, digits, dots, dashes or underscores"
            )
            raise OutsideSystemError(f"{fault}, in ASCII")


def _scope(name: str, include: list[str] | None, exclude: list[str]) -> Scope:
    return Scope(name, None if include is None else tuple(include), tuple(exclude))


def _system(
    name: str, values: SystemValues, keys: Collection[str], file: FileValues, path: str
) -> SystemTable:
    place = f": system.{name}"
    kind = _kind(place, keys)
    for key in keys - {kind, *_KEYS[kind], *_KEYS_OF_ALL}:  # type: ignore[operator]
        others = " or ".join(source for source in SOURCES if key in _KEYS[source])
        raise OutsideSystemError(f"{place}.{key}: goes with {others}, this system has {kind}: remove it")
    if values["scope"] is not None and values["scope"] not in file["scope"]:
        raise OutsideSystemError(f"{place}.scope: {unknown('scope', values['scope'], file['scope'])}")
    return SystemTable(
        name,
        _source(place, kind, values, path),
        path,
        collapse=values["collapse"],
        repeat=values["repeat"],
        scope=values["scope"],
        filter=values["filter"],
        final=values["final"],
        price=None if values["price"] is None else Price(**values["price"]),
        stage=_stage(values),
    )


def _stage(values: SystemValues) -> SecondStage:
    options = values["rerank_options"]
    return SecondStage(
        values["rerank"],
        None if options is None else MappingProxyType(options),
        values["depth"],
        values["max_words"],
        values["blend"],
    )


def _kind(place: str, keys: Collection[str]) -> str:
    found = [source for source in SOURCES if source in keys]
    if len(found) != 1:
        given = f"has {' and '.join(found)}" if found else "says nothing of what answers"
        raise OutsideSystemError(f"{place}: {given}: give it one of {', '.join(SOURCES)}")
    return found[0]


def _source(place: str, kind: str, values: SystemValues, path: str) -> Source:
    folder, root = os.path.dirname(path), values["root"]
    if kind == "backend":
        return Variant(str(values["backend"]), MappingProxyType(values["options"]))
    if kind == "command":
        command, env = tuple(values["command"] or ()), tuple(values["env"])
        times = values["timeout"], values["start_timeout"]
        return Program(command, folder, values["processes"], *times, env, root)
    if kind == "url":
        headers, ca = MappingProxyType(values["headers"]), values["ca"]
        return Service(str(values["url"]), folder, headers, values["retries"], values["timeout"], ca, root)
    if kind == "object":
        factory = str(values["object"])
        if re.fullmatch(_FACTORY, factory) is None:
            fault = f"{place}.object: {quoted(factory)} is no factory"
            raise OutsideSystemError(f'{fault}, write it as "my_package.search:make_retriever"')
        return PythonObject(factory, folder, MappingProxyType(values["options"]), values["path"], root)
    docid = values["docid"]
    if docid is not None and docid.count("{}") != 1:
        raise OutsideSystemError(f'{place}.docid: must have {{}} once for the id, as in "{{}}.txt"')
    # Joined with `/` on every system, so that messages are the same.
    return RunFile(posixpath.join(folder, str(values["run"])), values["order"], docid, root)


def _require_no_circle(systems: dict[str, SystemTable]) -> None:
    for name in systems:
        seen = [name]
        while (backend := _backend_of(systems, seen[-1])) is not None:
            if backend in seen:
                circle = " -> ".join([*seen, backend])
                raise OutsideSystemError(f": system.{name}.backend: goes round in a circle: {circle}")
            seen.append(backend)


def _backend_of(systems: dict[str, SystemTable], name: str) -> str | None:
    source = systems[name].source if name in systems else None
    return source.backend if isinstance(source, Variant) and source.backend in systems else None
