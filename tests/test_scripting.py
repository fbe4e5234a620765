"""`cce.evaluate`, `cce.compare` and `cce.gate`: what the commands do, for notebooks and scripts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import cce
from cce.cli.main import main
from cce.errors import CorpusError, FixtureError, ReportError, UnknownNameError, UsageError
from trees import plant

HEADER = {"schema": "cce.relevance/v1", "corpus": "src"}
CASES = [
    {"id": "load", "query": "load config", "expected": ["config.py"], "k": 2},
    {"id": "lines", "query": "save orders", "expected": ["orders.py@1-2"], "k": 3},
]
POLICY = 'schema = "cce.gate/v1"\nfixtures = "set.jsonl"\nbackend = "bm25"\nbaseline = "baseline.json"\n'

Printed = Callable[..., str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A set, a policy and a corpus, in the current directory."""
    plant(
        tmp_path,
        {
            "src/config.py": "def load_config(path):\n    return path  # load config\n",
            "src/orders.py": "def save_orders(orders):\n    return orders  # save orders\n",
            "set.jsonl": "".join(json.dumps(line) + "\n" for line in [HEADER, *CASES]),
            "gate.toml": POLICY,
        },
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    """What a command prints on standard output."""

    def run(*arguments: str) -> str:
        capsys.readouterr()
        main(arguments)
        return capsys.readouterr().out

    return run


def test_an_evaluation_is_the_json_of_the_command(project: Path, printed: Printed) -> None:
    result = cce.evaluate("set.jsonl")
    text = printed("relevance", "set.jsonl", "--json")
    assert result.to_json() == text
    assert result.to_dict() == json.loads(text)
    assert [score.backend for score in result.report.backends] == ["bm25", "vector", "hybrid"]


def test_options_mean_what_they_mean_in_the_command(project: Path, printed: Printed) -> None:
    options = cce.EvidenceOptions(metrics=("mrr", "ndcg"), seed=7, resamples=300)
    result = cce.evaluate(
        project / "set.jsonl", compare=["bm25", "hybrid"], directory="src", evidence=options, redact="strict"
    )
    assert result.to_json() == printed(
        *("relevance", str(project / "set.jsonl"), "--dir", "src", "--compare", "bm25,hybrid", "--json"),
        *("--evidence", "--metrics", "mrr,ndcg", "--seed", "7", "--resamples", "300", "--redact", "strict"),
    )


def test_a_store_stands_for_its_directory(project: Path, printed: Printed) -> None:
    printed("index", "src")
    result = cce.evaluate("set.jsonl", backends="bm25, vector", store=project / "src/.cce/index.json")
    assert result.report.corpus == str(project / "src/.cce/index.json")
    assert [row["mrr"] for row in result.rows] == [1.0, 1.0, 1.0, 1.0]


def test_rows_are_flat_and_have_the_same_keys(project: Path) -> None:
    rows = cce.evaluate("set.jsonl", backends=["bm25", "vector"]).rows
    assert [(row["backend"], row["id"], row["k"]) for row in rows] == [
        ("bm25", "load", 2),
        ("bm25", "lines", 3),
        ("vector", "load", 2),
        ("vector", "lines", 3),
    ]
    assert len({tuple(row) for row in rows}) == 1
    # "config" is one of two results: one of k = 2 is relevant; the case has no lines to overlap with
    assert rows[0]["precision_at_k"] == 0.5
    assert rows[0]["token_iou"] is None


def test_a_comparison_is_the_json_of_the_command(project: Path, printed: Printed) -> None:
    (project / "old.json").write_text(cce.evaluate("set.jsonl").to_json())
    (project / "new.json").write_text(cce.evaluate("set.jsonl", backends="bm25").to_json())
    result = cce.compare("old.json", project / "new.json", evidence=cce.EvidenceOptions())
    assert result.to_json() == printed(
        "compare", "old.json", str(project / "new.json"), "--json", "--evidence"
    )
    assert {row["backend"] for row in result.rows} == {"old:bm25", "new:bm25"}
    two = cce.compare("old.json", "old.json", backends=("bm25", "hybrid"), only_shared=True)
    assert two.to_json() == printed(
        "compare", "old.json", "old.json", "--backend", "bm25,hybrid", "--common", "--json"
    )


def test_a_gate_is_the_json_of_the_command(project: Path, printed: Printed) -> None:
    printed("gate", "gate.toml", "--accept")
    result = cce.gate("gate.toml")
    assert result.to_json() == printed("gate", "gate.toml", "--json")
    assert (result.verdict, result.is_refused, result.reasons) == ("GO", False, ())
    assert len(result.rows) == 2 * len(CASES)


def test_a_broken_floor_refuses(project: Path, printed: Printed) -> None:
    printed("gate", "gate.toml", "--accept")
    (project / "gate.toml").write_text(POLICY + "[floor]\nprecision_at_k = 0.9\n")
    result = cce.gate(project / "gate.toml")
    assert (result.verdict, result.is_refused) == ("BLOCK", True)
    assert len(result.reasons) == 1
    assert "precision_at_k" in result.reasons[0]


def test_a_strict_gate_refuses_a_review(project: Path, printed: Printed) -> None:
    printed("gate", "gate.toml", "--accept")
    (project / "set.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in [HEADER, *CASES, {**CASES[0], "id": "new"}])
    )
    assert not cce.gate("gate.toml").is_refused
    strict = cce.gate("gate.toml", strict=True)
    assert (strict.verdict, strict.is_refused) == ("REVIEW", True)
    assert strict.to_dict() == json.loads(printed("gate", "gate.toml", "--strict", "--json"))


def test_warnings_are_notices_and_nothing_is_printed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "set.jsonl").write_text(
        json.dumps(HEADER) + "\n" + json.dumps({"id": "x", "query": "load", "expected": ["gone.py"]}) + "\n"
    )
    notices = cce.evaluate("set.jsonl", backends="bm25").notices
    assert capsys.readouterr() == ("", "")
    main(["relevance", "set.jsonl", "--backend", "bm25"])
    assert capsys.readouterr().err == "".join(f"warning: {notice}\n" for notice in notices)
    assert any("gone.py" in notice for notice in notices)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: cce.evaluate("no.jsonl"), FixtureError, "no.jsonl: cannot read the fixture set"),
        (lambda: cce.evaluate("set.jsonl", directory="nowhere"), CorpusError, "nowhere: "),
        (lambda: cce.evaluate("set.jsonl", backends="hybird"), UnknownNameError, "did you mean 'hybrid'"),
        (lambda: cce.evaluate("set.jsonl", backends=[]), UsageError, "backends names no backend"),
        (lambda: cce.evaluate("set.jsonl", compare="bm25"), UsageError, "two different backends, got bm25"),
        (lambda: cce.evaluate("set.jsonl", backends="bm25", compare="bm25,vector"), UsageError, "exclude"),
        (lambda: cce.evaluate("set.jsonl", directory="src", store="x"), UsageError, "exclude each other"),
        (lambda: cce.evaluate("set.jsonl", redact="some"), UsageError, "write standard or strict"),
        (
            lambda: cce.evaluate("set.jsonl", evidence=cce.EvidenceOptions(metrics=("mmr",))),
            UnknownNameError,
            "did you mean 'mrr'",
        ),
        (lambda: cce.evaluate("set.jsonl", evidence=cce.EvidenceOptions(alpha=2.0)), UsageError, "alpha"),
        (lambda: cce.compare("set.jsonl", "set.jsonl"), ReportError, "set.jsonl: "),
        (lambda: cce.compare("a", "b", backends="x,y,z"), UsageError, "one for old and one for new, got 3"),
        (lambda: cce.gate("set.jsonl"), cce.CceError, "set.jsonl:"),
        (lambda: cce.gate("gate.toml"), cce.CceError, "there is no baseline"),
    ],
)
def test_a_fault_is_a_cce_error_in_one_line(
    project: Path, call: Callable[[], object], error: type[cce.CceError], message: str
) -> None:
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_package_lists_its_doors_and_knows_no_other_name() -> None:
    assert set(cce.__all__) <= set(dir(cce))
    assert all(getattr(cce, name) is not None for name in cce.__all__)
    with pytest.raises(AttributeError, match="module 'cce' has no attribute 'evalute'"):
        _ = cce.evalute  # type: ignore[attr-defined]


@pytest.mark.process
def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import cce; print(sorted(set(sys.modules) - before))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert shown.stdout == b"['cce']\n"


@pytest.mark.process
def test_a_plain_evaluation_loads_no_command_line_and_no_heavy_library(project: Path) -> None:
    code = (
        "import sys, cce\n"
        "assert cce.evaluate('set.jsonl', backends='bm25').rows[0]['mrr'] == 1.0\n"
        "print(sorted({'click', 'numpy', 'pydantic', 'scipy', 'jinja2', 'msgspec'} & set(sys.modules)))\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert shown.stdout == b"[]\n"
