"""The JSON Schema of a gate policy, made of the models that its reader checks by."""

from __future__ import annotations

from typing import Any

from cce.measurement.gate.policy import SAVED_METRICS
from cce.measurement.gate.policy_tables import RULES, SCHEMA, policy_model
from cce.measurement.metrics.catalog import CATALOG


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
    for table in (schema, limits):
        table["properties"]["floor"]["propertyNames"] = {"enum": [*CATALOG]}
        table["properties"]["drop"]["propertyNames"] = {"enum": [*SAVED_METRICS]}
    evidence["properties"]["metrics"]["items"] = {"enum": [*SAVED_METRICS]}
    schema["properties"]["schema"] = {"const": SCHEMA, "description": "The format."}
    schema["required"] = ["schema", *schema["required"]]
    return schema | {"title": f"A gate policy ({SCHEMA})"}
