"""The door for gate policies: bytes of a `cce.gate/v1` TOML file in, a frozen GatePolicy out.

Every key and metric is checked here, tags and case ids once the set is read. What is wrong raises
PolicyError: `path: key: fault, way out`. How a policy is applied is told in `gates`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cce.domain.case import FixtureSet
from cce.domain.evidence import EvidenceOptions
from cce.domain.gate import GatePolicy, Limits
from cce.files import read_bytes
from cce.measurement.gate.policy_tables import PolicyError, parse_tables, unknown
from cce.measurement.metrics.catalog import CATALOG
from cce.quoting import on_one_line

if TYPE_CHECKING:
    from pydantic import BaseModel

SAVED_METRICS = tuple(name for name, metric in CATALOG.items() if not metric.needs_index)
"""The metrics that a saved baseline has."""


def read_policy(path: str) -> GatePolicy:
    """The policy in the file `path`; raises PolicyError."""
    return parse_policy(read_bytes(path, "the policy", PolicyError, "name a readable TOML file"), path)


def parse_policy(raw: bytes, path: str) -> GatePolicy:
    """The policy that `raw` spells; `path` is what messages name and its own paths are relative to."""
    try:
        return _policy(parse_tables(raw), path)
    except PolicyError as exc:
        raise PolicyError(f"{on_one_line(path)}{exc}") from exc


def require_known(policy: GatePolicy, fixtures: FixtureSet) -> None:
    """Raise PolicyError unless the set has every case and tag that `policy` names."""
    ids = dict.fromkeys(case.id for case in fixtures.cases)
    tags = dict.fromkeys(tag for case in fixtures.cases for tag in case.tags)
    for name in policy.critical:
        if name not in ids:
            raise PolicyError(f"{on_one_line(policy.path)}: critical: {unknown('case id', name, ids)}")
    for tag in policy.slices:
        if tag not in tags:
            raise PolicyError(f"{on_one_line(policy.path)}: slices: {unknown('tag', tag, tags)}")


def _policy(tables: Any, path: str) -> GatePolicy:
    if tables.dir is not None and tables.store is not None:
        raise PolicyError(": dir and store exclude each other: a store has its own chunks, remove one")
    return GatePolicy(
        path=path,
        fixtures=tables.fixtures,
        backend=tables.backend,
        baseline=tables.baseline,
        baseline_backend=tables.baseline_backend or tables.backend,
        directory=tables.dir,
        store=tables.store,
        critical=tuple(dict.fromkeys(tables.critical)),
        limits=_limits("", tables),
        evidence=None if tables.evidence is None else _evidence(tables.evidence),
        slices=_slices(tables.slices),
    )


def _slices(tables: Mapping[str, Any]) -> Mapping[str, Limits]:
    # Code points sort as their UTF-8 bytes do.
    by_tag = {tag: _limits(f"slices.{on_one_line(tag)}.", tables[tag]) for tag in sorted(tables)}
    return MappingProxyType(by_tag)


def _limits(prefix: str, tables: Any) -> Limits:
    for name in tables.floor:
        _require_metric(f"{prefix}floor", name)
    _require_saved_metrics(f"{prefix}drop", tables.drop)
    return Limits(_in_catalog_order(tables.floor), _in_catalog_order(tables.drop))


def _in_catalog_order(limits: Mapping[str, float]) -> Mapping[str, float]:
    return MappingProxyType({name: float(limits[name]) for name in CATALOG if name in limits})


def _evidence(table: BaseModel) -> EvidenceOptions:
    options = table.model_dump()
    _require_saved_metrics("evidence.metrics", options["metrics"])
    return EvidenceOptions(**{**options, "metrics": tuple(options["metrics"])})


def _require_saved_metrics(place: str, names: Iterable[str]) -> None:
    """All known, none twice, and all to be had from a saved report."""
    names = tuple(names)
    for name in names:
        _require_metric(place, name)
        if name not in SAVED_METRICS:
            raise PolicyError(
                f": {place}: metric '{name}' needs the rankings, which a saved baseline does not hold: "
                f"use it in a floor, or one of {', '.join(SAVED_METRICS)} here"
            )
    if len(set(names)) < len(names):
        raise PolicyError(f": {place}: names a metric twice, name each once")


def _require_metric(place: str, name: str) -> None:
    if name not in CATALOG:
        raise PolicyError(f": {place}: {unknown('metric', name, CATALOG)}")
