"""The reader of gate policies: bytes of a `cce.gate/v1` TOML file in, a frozen GatePolicy out.

Keys and metrics are checked here; tags and case ids once the set is read. Faults raise PolicyError:
`path: key: fault, way out`. `rules` applies a policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from cce.domain.case import FixtureSet
from cce.domain.evidence import EvidenceOptions
from cce.domain.gate import GatePolicy, Level, Limits
from cce.errors import UnknownNameError
from cce.files import read_bytes
from cce.measurement.gate.policy_tables import (
    RULES,
    SCHEMA,
    EvidenceValues,
    LimitValues,
    PolicyError,
    PolicyValues,
    parse_tables,
    policy_model,
)
from cce.measurement.metrics.catalog import CATALOG, CUT_ONLY, Metric, catalog_order, metric_called
from cce.measurement.metrics.cutoffs import CUT_NAMES, unknown_metric
from cce.quoting import on_one_line
from cce.toml_tables import unknown


def read_policy(path: str) -> GatePolicy:
    """The policy in the file `path`; raises PolicyError."""
    return parse_policy(read_bytes(path, "the policy", PolicyError, "name a readable TOML file"), path)


def parse_policy(raw: bytes, path: str) -> GatePolicy:
    """The policy that `raw` spells; `path` is what messages name and its own paths are relative to."""
    try:
        return _policy(parse_tables(raw), path)
    except PolicyError as exc:
        raise PolicyError(f"{on_one_line(path)}{exc}") from exc


def require_known(policy: GatePolicy, fixtures: FixtureSet, then: Iterable[str] | None = None) -> None:
    """Raise PolicyError unless the set has every case and tag that `policy` names.

    then  ids of the baseline: a critical case that only the baseline has was removed, or renamed
    """
    ids = dict.fromkeys((*(case.id for case in fixtures.cases), *(then or ())))
    tags = dict.fromkeys(tag for case in fixtures.cases for tag in case.tags)
    for name in policy.critical:
        if name not in ids:
            raise PolicyError(f"{on_one_line(policy.path)}: critical: {unknown('case id', name, ids)}")
    for tag in policy.slices:
        if tag not in tags:
            raise PolicyError(f"{on_one_line(policy.path)}: slices: {unknown('tag', tag, tags)}")


def _policy(values: PolicyValues, path: str) -> GatePolicy:
    if values["dir"] is not None and values["store"] is not None:
        raise PolicyError(": dir and store exclude each other: a store has its own chunks, remove one")
    return GatePolicy(
        path=path,
        fixtures=values["fixtures"],
        backend=values["backend"],
        baseline=values["baseline"],
        baseline_backend=values["baseline_backend"] or values["backend"],
        directory=values["dir"],
        store=values["store"],
        systems=values["systems"],
        critical=tuple(dict.fromkeys(values["critical"])),
        limits=_limits("", values),
        evidence=None if values["evidence"] is None else _evidence(values["evidence"]),
        slices=_slices(values["slices"]),
        review_p=1.0 if values["evidence"] is None else float(values["evidence"]["review_p"]),
        labels=Level(values["labels"]),
    )


def _slices(tables: Mapping[str, LimitValues]) -> Mapping[str, Limits]:
    # Code points sort as their UTF-8 bytes do.
    by_tag = {tag: _limits(f"slices.{on_one_line(tag)}.", tables[tag]) for tag in sorted(tables)}
    return MappingProxyType(by_tag)


def _limits(prefix: str, values: LimitValues) -> Limits:
    _require_compared(f"{prefix}floor", values["floor"])
    _require_compared(f"{prefix}drop", values["drop"])
    for name, limit in values["ceiling"].items():
        most = _metric(f"{prefix}ceiling", name).range[1]
        if limit > most:
            raise PolicyError(f": {prefix}ceiling: {name} never exceeds {most}, write a smaller number")
    return Limits(*(_in_catalog_order(values[key]) for key in ("floor", "drop", "ceiling")))


def _in_catalog_order(limits: Mapping[str, float]) -> Mapping[str, float]:
    return MappingProxyType({name: float(limits[name]) for name in sorted(limits, key=catalog_order)})


def _evidence(values: EvidenceValues) -> EvidenceOptions:
    _require_compared("evidence.metrics", values["metrics"])
    return EvidenceOptions(
        metrics=tuple(values["metrics"]),
        alpha=values["alpha"],
        min_effect=values["min_effect"],
        seed=values["seed"],
        resamples=values["resamples"],
    )


def _require_compared(place: str, names: Iterable[str]) -> None:
    """All known, none twice, and more of each is better."""
    names = tuple(names)
    for name in names:
        if not _metric(place, name).is_compared:
            raise PolicyError(f": {place}: less of '{name}' is better, so it may stand in [ceiling] only")
    if len(set(names)) < len(names):
        raise PolicyError(f": {place}: names a metric twice, name each once")


def _metric(place: str, name: str) -> Metric:
    base = name.partition("@")[0]
    if name not in CATALOG and CUT_NAMES.get(base, base) not in {**CATALOG, **CUT_ONLY}:
        raise PolicyError(f": {place}: {unknown_metric(name, tuple(CATALOG), tuple(CUT_ONLY))}")
    try:
        return metric_called(name)
    except UnknownNameError as exc:
        raise PolicyError(f": {place}: {exc}") from exc


def policy_schema() -> dict[str, Any]:
    """The JSON Schema of a policy, once its TOML is read."""
    schema = policy_model().model_json_schema()
    limits, evidence = (schema["$defs"][name] for name in ("LimitTables", "EvidenceTable"))
    for table in (schema, limits, evidence):
        table.pop("title", None)
        for key, field in table["properties"].items():
            field.pop("title", None)
            field["description"] = RULES[key]
            if "anyOf" in field:  # TOML has no null
                field.pop("default")
                field |= field.pop("anyOf")[0]
    compared = [*CATALOG, *(name for name, metric in CUT_ONLY.items() if metric.is_compared)]
    for table in (schema, limits):
        for key in ("floor", "drop"):
            table["properties"][key]["propertyNames"] = _names_schema(compared)
        table["properties"]["ceiling"]["propertyNames"] = _names_schema([*compared, *CUT_ONLY])
    evidence["properties"]["metrics"]["items"] = _names_schema(compared)
    schema["properties"]["schema"] = {"const": SCHEMA, "description": "The format."}
    schema["required"] = ["schema", *schema["required"]]
    return schema | {"title": f"A gate policy ({SCHEMA})"}


def _names_schema(names: Iterable[str]) -> dict[str, Any]:
    """Metrics, with and without a cut-off."""
    names = tuple(names)
    spelled = {called: name for name, called in CUT_NAMES.items()}
    cut = "|".join(spelled.get(name, name) for name in names)
    return {
        "anyOf": [
            {"enum": [name for name in names if name in CATALOG]},
            {"pattern": f"^({cut})@[1-9][0-9]{{0,4}}$"},
        ]
    }
