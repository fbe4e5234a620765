"""Rows of an ablation or a sweep: a system with some keys of its table changed.

`key=value` texts enter, a catalogue with one more system per row leaves. A changed key stands in place of the
system's own, where that of a variant would only add to it: `final=10` over `final = 5` is 10.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from cce.domain.systems import SystemTable, Variant
from cce.errors import OutsideSystemError, UsageError
from cce.quoting import on_one_line, quoted
from cce.retrieval.systems.catalogue import Catalogue, ResolvedSystem
from cce.retrieval.systems.file import parse_systems
from cce.toml_tables import is_toml_value

_KEY = re.compile(r"[a-z_]+(?:\.[A-Za-z0-9_-]+)*")
_CHANGEABLE = (
    *("options", "rerank", "rerank_options", "depth", "max_words", "blend"),
    *("final", "collapse", "filter", "scope"),
)


class ChangedKey(NamedTuple):
    """One key of a table and its value, as TOML; `text` is how it was typed, which names the row."""

    key: str
    value: str
    text: str


def parse_change(place: str, typed: str) -> ChangedKey:
    """What `key=value` changes; raises UsageError. A value that is no TOML value is a text."""
    key, equals, value = (part.strip() for part in typed.partition("="))
    if not equals or not value or _KEY.fullmatch(key) is None:
        raise UsageError(f"{place} takes KEY=VALUE, as in max_words=8 or rerank=none; got {quoted(typed)}")
    if key.partition(".")[0] not in _CHANGEABLE:
        from cce.toml_tables import unknown

        raise UsageError(f"{place} {on_one_line(typed)}: {unknown('key', key, _CHANGEABLE)}")
    return ChangedKey(key, value if is_toml_value(value) else json.dumps(value), f"{key}={value}")


def parse_variation(place: str, typed: str) -> tuple[ChangedKey, ...]:
    """What `key=value,value,..` tries, one after the other; raises UsageError."""
    key, _, values = typed.partition("=")
    changes = tuple(parse_change(place, f"{key}={value}") for value in values.split(","))
    if len({change.text for change in changes}) < len(changes):
        raise UsageError(f"{place} {on_one_line(typed)}: a value stands twice, leave one")
    return changes


def combinations(variations: Sequence[Sequence[ChangedKey]]) -> list[tuple[ChangedKey, ...]]:
    """Every combination of one change of each variation, the last one varying fastest."""
    return list(product(*variations))


def with_rows(
    catalogue: Catalogue, base: str, rows: Sequence[Sequence[ChangedKey]]
) -> tuple[Catalogue, tuple[str, ...]]:
    """`catalogue` with the system `base` changed in each of these ways, and the names of the rows.

    Raises CceError for a change that the table cannot take.
    """
    resolved = catalogue.resolve(base)
    named = {" ".join(change.text for change in row): _changed(catalogue, resolved, row) for row in rows}
    try:
        return catalogue.with_resolved(named), tuple(named)
    except UsageError as exc:  # it names the table, which nobody wrote: --change depth=3 says all
        place = f"{on_one_line(resolved.table.origin)}: system."
        raise UsageError(str(exc).removeprefix(place)) from exc


def _changed(catalogue: Catalogue, base: ResolvedSystem, row: Sequence[ChangedKey]) -> ResolvedSystem:
    name = " ".join(change.text for change in row)
    typed = _parsed(catalogue, name, row)
    keys = {change.key.partition(".")[0] for change in row}
    table = base.table
    source = table.source
    if "options" in keys:
        if not isinstance(source, Variant):
            raise UsageError(f"{on_one_line(name)}: {quoted(table.name)} is no backend and takes no options")
        assert isinstance(typed.source, Variant)  # noqa: S101 - it was written with a backend
        source = source._replace(options={**source.options, **typed.source.options})
    plain = {key: getattr(typed, key) for key in ("final", "collapse", "filter", "scope") if key in keys}
    changed = table._replace(name=name, source=source, stage=typed.stage.over(table.stage), **plain)
    scopes = base.scopes if typed.scope is None else (*base.scopes, catalogue.scopes[typed.scope])
    return ResolvedSystem(changed, scopes)


def _parsed(catalogue: Catalogue, name: str, row: Sequence[ChangedKey]) -> SystemTable:
    """The keys of the row as a table that has no others, checked as one of a systems file is."""
    lines = ['schema = "cce.systems/v1"', "[system.row]", 'backend = "base"']
    lines += [f"{change.key} = {change.value}" for change in row]
    lines += [f"[scope.{json.dumps(scope)}]" for scope in catalogue.scopes]
    try:
        file = parse_systems("\n".join(lines).encode(), name)
    except OutsideSystemError as exc:
        raise UsageError(str(exc).replace(": system.row.", ": ")) from exc
    return file.systems["row"]
