"""JSON Schemas: shipped as generated, and true of what the product reads and writes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from cce.domain.evidence import EvidenceOptions
from cce.interchange.recorded_run import _Error, _Line, _Result, _Scope
from cce.measurement.fixtures.schema import case_schema
from cce.measurement.gate.policy_tables import policy_model
from cce.measurement.reports.model import ReportModel
from cce.report.json.report_v2 import render_json
from cce.schemas import FORMATS, generated_schema, shipped_schema
from cce.usecases.evaluate import Plan, evaluate
from conftest import Run
from corpora import unwatched
from oracle import Oracle


@pytest.mark.parametrize("name", FORMATS)
def test_the_shipped_schema_is_the_generated_one(name: str) -> None:
    assert shipped_schema(name) == generated_schema(name)


def test_the_fixture_schema_has_every_key_that_the_reader_knows() -> None:
    header, case, draft = json.loads(shipped_schema("fixtures"))["anyOf"]
    assert set(header["properties"]) == {"schema", "corpus"}
    assert set(case["properties"]) == {*case_schema()["fields"], "traces", "candidates"}
    assert case["required"] == ["query", "expected"]
    assert set(draft["properties"]) == set(case["properties"])
    assert draft["required"] == ["query", "candidates"]
    assert all(field["description"] for field in case["properties"].values())


def test_the_policy_schema_has_every_key_that_the_reader_knows() -> None:
    schema = json.loads(shipped_schema("gate"))
    assert set(schema["properties"]) == {"schema", *policy_model().model_fields}
    assert schema["required"] == ["schema", "fixtures", "backend", "baseline"]
    for table in (schema, *schema["$defs"].values()):
        assert table["additionalProperties"] is False
        assert all(field["description"] for field in table["properties"].values())


def test_the_policy_schema_takes_our_policies_and_no_unknown_metric(root: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="checking by a schema needs jsonschema")
    validator = jsonschema.Draft202012Validator(json.loads(shipped_schema("gate")))
    for path in sorted((root / "eval").glob("*.toml")):
        policy = tomllib.loads(path.read_text("utf-8"))
        assert validator.is_valid(policy), path
        assert not validator.is_valid(policy | {"floor": {"recal": 1.0}})
        assert validator.is_valid(policy | {"drop": {"ndcg@5": 1.0}, "ceiling": {"irrelevant_hits@5": 2}})
        assert not validator.is_valid(policy | {"drop": {"ndcg@0": 1.0}})
        assert not validator.is_valid(policy | {"drop": {"irrelevant_hits@5": 1.0}})


def test_the_run_schema_has_every_key_that_the_reader_knows_and_takes_what_it_takes() -> None:
    answer = json.loads(shipped_schema("run"))["anyOf"][1]
    keys = answer["properties"]
    read = (_Line, keys), (_Result, keys["results"]["items"]["properties"])
    for struct, described in (
        *read,
        (_Error, keys["error"]["properties"]),
        (_Scope, keys["scope"]["properties"]),
    ):
        assert set(described) == set(struct.__struct_fields__)
    jsonschema = pytest.importorskip("jsonschema", reason="checking by a schema needs jsonschema")
    validator = jsonschema.Draft202012Validator(json.loads(shipped_schema("run")))
    result = {"path": "a.py", "start": 1, "end": 2}
    assert validator.is_valid({"schema": "cce.run/v1", "system": "mine"})
    assert validator.is_valid({"id": "q", "results": [result, {"path": "b.py", "score": 1}]})
    for bad in (
        {"id": "q"},
        {"id": "q", "results": [], "error": {"message": "x"}},
        {"id": "q", "results": [{"path": "a.py", "start": 1}]},
        {"id": "q", "results": [], "k": 0},
    ):
        assert not validator.is_valid(bad)


def test_every_reference_report_is_one_of_the_model(oracle: Oracle) -> None:
    paths = sorted((oracle.folder / "reports").glob("*.json"))
    reports = [path for path in paths if b'"cce.relevance.report/v2"' in path.read_bytes()]
    assert len(reports) >= 7
    for path in reports:
        ReportModel.model_validate_json(path.read_bytes())


def test_a_report_with_everything_in_it_is_one_of_the_model(root: Path) -> None:
    options = EvidenceOptions(metrics=("recall", "mrr"), resamples=200)
    plan = Plan(str(root / "eval" / "code.jsonl"), ("bm25", "hybrid"), is_comparison=True, evidence=options)
    report = ReportModel.model_validate_json(render_json(evaluate(plan, unwatched).report))
    assert report.evidence is not None
    assert report.evidence.compare is not None
    assert report.evidence.slices
    assert report.compare is not None
    assert report.backends[0].tokens is not None


def test_the_command_prints_the_shipped_schema(run_cce: Run) -> None:
    for name in FORMATS:
        assert run_cce("schema", name).stdout.decode() == shipped_schema(name)


def test_an_unknown_schema_is_named_with_the_nearest_one(run_cce: Run) -> None:
    done = run_cce("schema", "reprot")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"unknown schema 'reprot'; did you mean 'report'? (known: fixtures, report, gate, " in done.stderr
