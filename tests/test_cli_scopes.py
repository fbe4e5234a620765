"""Scopes through the installed command: before and after the ranking, of a system and of a case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Run
from trees import plant

SYSTEMS = """\
schema = "cce.systems/v1"
[system.all]
backend = "bm25"
[system.before]
backend = "bm25"
scope = "current"
[system.after]
backend = "bm25"
scope = "current"
filter = "after"
[system.nothing]
backend = "hybrid"
scope = "nothing"
[scope.current]
exclude = ["archive/**", "*.generated.*", "a["]
[scope.nothing]
include = []
"""

# Three old copies are shorter and so stand above the new text.
OLD = {f"src/archive/{n}.txt": "check the pin" for n in range(3)}
NEW = {"src/lib/new.txt": "check the pin of a card, and much more that is written here"}
CASES = (
    {"schema": "cce.relevance/v1", "corpus": "src"},
    {"id": "moved", "query": "check the pin", "expected": ["lib/new.txt", "archive/0.txt"], "k": 3},
    {"id": "gone", "query": "check the pin", "expected": ["archive/gone.txt"], "k": 3},
)

pytestmark = pytest.mark.process


@pytest.fixture
def project(tmp_path: Path) -> Path:
    lines = "\n".join(map(json.dumps, CASES))
    return plant(tmp_path, {**OLD, **NEW, "set.jsonl": lines, "systems.toml": SYSTEMS})


def measured(project: Path, run_cce: Run, *options: str) -> tuple[dict[str, list[str]], str]:
    """Recall and MRR of each case, by system, and the warnings."""
    result = run_cce("relevance", "set.jsonl", "--systems", "systems.toml", "--json", *options, cwd=project)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    figures = {
        backend["backend"]: [f"{case['recall']} {case['mrr']}" for case in backend["per_query"]]
        for backend in report["backends"]
    }
    return figures, result.stderr.decode()


def test_a_filter_before_the_ranking_finds_what_one_after_it_drops(project: Path, run_cce: Run) -> None:
    figures, warnings = measured(project, run_cce)
    assert figures == {
        "all": ["0.500000 0.333333", "0.000000 0.000000"],  # archive/0.txt, whose id is the third
        "before": ["1.000000 1.000000", "0.000000 0.000000"],
        "after": ["0.000000 0.000000", "0.000000 0.000000"],
        "nothing": ["0.000000 0.000000", "0.000000 0.000000"],
    }
    lines = [line.removeprefix("warning: ") for line in warnings.splitlines()]
    assert len(lines) == len(set(lines)), "each once"
    assert "scope 'current': patterns that match no file of the corpus: '*.generated.*'" in lines
    assert "scope 'current': patterns with a '[' that nothing closes, which match nothing: 'a['" in lines
    left_out = "in P@k, recall, MRR and F1, and {} left out of all other metrics"
    assert f"before: 1 case has no anchor in the scope: gone; scores 0 {left_out.format('is')}" in lines
    both = f"nothing: 2 cases have no anchor in the scope: moved, gone; score 0 {left_out.format('are')}"
    assert both in lines


def test_a_case_names_a_scope_of_its_own(project: Path, run_cce: Run) -> None:
    scoped = "\n".join(json.dumps(case | {"scope": "current"} if "id" in case else case) for case in CASES)
    plant(project, {"set.jsonl": scoped})
    figures, _ = measured(project, run_cce, "--backend", "all,nothing,bm25")
    assert figures["all"] == figures["bm25"] == ["1.000000 1.000000", "0.000000 0.000000"]
    assert figures["nothing"] == ["0.000000 0.000000"] * 2
    unnamed = run_cce("relevance", "set.jsonl", cwd=project)
    assert (unnamed.returncode, unnamed.stderr) == (
        2,
        b"error: set.jsonl:2: scope 'current': a systems file defines it, name one with --systems FILE\n",
    )


def test_metrics_of_the_evidence_leave_out_cases_without_an_anchor(project: Path, run_cce: Run) -> None:
    options = ("--compare", "all,before", "--evidence", "--metrics", "ndcg,hit,mrr")
    result = run_cce("relevance", "set.jsonl", "--systems", "systems.toml", "--json", *options, cwd=project)
    evidence = json.loads(result.stdout)["evidence"]
    n_by_metric = {
        each["backend"]: {name: figure["n"] for name, figure in each["metrics"].items()}
        for each in evidence["backends"]
    }
    assert n_by_metric == {"all": {"ndcg": 2, "hit": 2, "mrr": 2}, "before": {"ndcg": 1, "hit": 1, "mrr": 2}}


def test_an_anchor_outside_the_scope_is_explained_as_that(project: Path, run_cce: Run) -> None:
    options = ("--systems", "systems.toml", "--backend", "before,all")
    result = run_cce("explain", "set.jsonl", "moved", *options, cwd=project)
    assert result.returncode == 0, result.stderr
    before, _, everything = result.stdout.decode().partition("\nall")
    assert "the scope leaves no chunk that matches it" in before
    assert "the scope leaves" not in everything
