"""The file formats that have a JSON Schema, and the schemas as the package ships them.

A schema is generated from what the reader of its format checks by, and each function that does so stands
beside that reader. The results lie here as files, because printing one must load neither pydantic nor a
reader; a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any

from cce.json_text import dump_json

FORMATS = ("fixtures", "report", "gate", "systems", "run", "tenants", "experiment")

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def shipped_schema(name: str) -> str:
    """The text of the schema `name`, one of FORMATS, as the package has it."""
    return files(__name__).joinpath(f"{name}.json").read_text("utf-8")


def generated_schema(name: str) -> str:
    """The same text, generated again; raises KeyError for another name."""
    schema = {"$schema": _DIALECT, **_generate(name)}
    return dump_json(schema)


def _generate(name: str) -> dict[str, Any]:
    # Only the test that compares the files generates schemas.
    from cce.interchange.run_schema import run_line_schema
    from cce.measurement.fixtures.schema import fixture_line_schema
    from cce.measurement.gate.policy import policy_schema
    from cce.measurement.reports.experiment_model import experiment_schema
    from cce.measurement.reports.model import report_schema
    from cce.retrieval.systems.tables import systems_schema
    from cce.retrieval.systems.tenants import tenants_schema

    generators: dict[str, Callable[[], dict[str, Any]]] = {
        "fixtures": fixture_line_schema,
        "report": report_schema,
        "gate": policy_schema,
        "systems": systems_schema,
        "run": run_line_schema,
        "tenants": tenants_schema,
        "experiment": experiment_schema,
    }
    return generators[name]()
