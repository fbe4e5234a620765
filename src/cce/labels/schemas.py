"""JSON Schemas of the file formats, so that an editor can complete and check them.

They are generated: those of fixture lines and gate policies from what the readers themselves check
by, that of the report from a model of its own. The package ships the result in `schemas/`, because
printing it must not load what making it needs.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from cce.json_text import dump_json

Schema = dict[str, Any]

SCHEMAS = ("fixtures", "report", "gate")

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FIXTURE_KEYS = {
    "schema": "The format; only a header has it.",
    "corpus": "The directory to search, relative to the folder of this file.",
    "query": "What somebody types.",
    "expected": "Anchors that a good answer must touch: path, path#kind, #kind, path@a-b or path#kind@a-b.",
    "id": "A name for reports, unique in the set; q and the line number if absent.",
    "k": "How many results count.",
    "tags": "Groups to report on.",
    "grades": "How good an answer is, by anchor: 1 related, 2 useful, 3 exactly this.",
    "critical": "Whether a gate may never let this case regress.",
    "note": "For the next reader.",
    "pins": "By anchor, what text it was made for; written by cce fixtures pin.",
    "traces": "By anchor, how to find its text again; written by cce fixtures pin.",
    "candidates": "Results to judge; written by cce fixtures draft.",
}


def shipped_schema(name: str) -> str:
    """The text of the schema `name`, one of SCHEMAS, as the package has it."""
    return files("cce").joinpath("schemas", f"{name}.json").read_text("utf-8")


def generated_schema(name: str) -> str:
    """The same text, made anew; raises KeyError for another name."""
    schema = {"fixtures": _fixture_line, "report": _report, "gate": _policy}[name]()
    return dump_json({"$schema": _DIALECT, **schema})


def _fixture_line() -> Schema:
    """One line of a set: a header or a case."""
    from pydantic.json_schema import GenerateJsonSchema

    from cce.measurement.fixtures.line import SCHEMA
    from cce.measurement.fixtures.schema import case_schema, header_schema

    header, case = (GenerateJsonSchema().generate(schema) for schema in (header_schema(), case_schema()))
    header["properties"]["schema"] = {"const": SCHEMA}
    header |= {"required": ["schema"], "not": {"required": ["query"]}}
    case["properties"]["query"]["pattern"] = r"\S"
    case["properties"]["id"] = {"type": "string"}
    case["properties"] |= {"traces": {"type": "object"}, "candidates": {"type": "array"}}
    for model in (header, case):
        for key, field in model["properties"].items():
            field.pop("title", None)
            field["description"] = _FIXTURE_KEYS[key]
    return {
        "title": "One line of a fixture set (cce.relevance/v1)",
        "anyOf": [header | {"title": "Header"}, case | {"title": "Case"}],
    }


def _report() -> Schema:
    """A report, open to keys that later versions add."""
    from cce.measurement.reports.model import ReportModel

    schema = ReportModel.model_json_schema()
    for model in (schema, *schema["$defs"].values()):
        model.pop("additionalProperties", None)
        for field in model.get("properties", {}).values():
            field.pop("title", None)
    return schema | {"title": "A report (cce.relevance.report/v2)"}


def _policy() -> Schema:
    """A gate policy, once its TOML is read."""
    from cce.measurement.gate.policy import SAVED_METRICS
    from cce.measurement.gate.policy_tables import RULES, SCHEMA, policy_model
    from cce.measurement.metrics.catalog import CATALOG

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
    return schema | {"title": "A gate policy (cce.gate/v1)"}
