"""Second stages through the installed command: over programs, objects and saved runs, and in reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Run

pytestmark = pytest.mark.process

PROGRAM = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "hello":
        print(json.dumps({"op": "hello", "protocol": "cce.retriever/v1", "name": "three", "version": "1",
                          "capabilities": []}), flush=True)
        continue
    (query,) = request["queries"]
    found = [{"path": name} for name in ("c.txt", "b.txt", "a.txt")][: query["k"]]
    print(json.dumps({"id": request["id"], "results": [{"id": query["id"], "results": found}]}), flush=True)
"""

SYSTEMS = """
schema = "cce.systems/v1"

[system.program]
command = ["python", "program.py"]

[system.sorted]
backend = "program"
rerank = "overlap"

[system.shallow]
backend = "sorted"
depth = 2
final = 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name, text in (("a", "alpha pin\n"), ("b", "beta gamma\n"), ("c", "gamma alpha\n")):
        (tmp_path / "docs" / f"{name}.txt").write_text(text)
    lines = [
        {"schema": "cce.relevance/v1", "corpus": "docs"},
        {"id": "one", "query": "alpha pin", "expected": ["a.txt"], "k": 1},
    ]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "systems.toml").write_text(SYSTEMS)
    return tmp_path


def mrr(stdout: bytes) -> dict[str, str]:
    return {backend["backend"]: backend["mrr"] for backend in json.loads(stdout)["backends"]}


def test_a_program_is_asked_for_as_many_as_the_reranker_scores(run_cce: Run, folder: Path) -> None:
    done = run_cce("relevance", "set.jsonl", "--systems", "systems.toml", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    # It returns c, b, a. Only a holds both words; of the first two, c holds one and b none.
    assert mrr(done.stdout) == {"program": "0.000000", "sorted": "1.000000", "shallow": "0.000000"}
    report = json.loads(done.stdout)
    assert [report["costs"][name]["pairs"] for name in ("program", "sorted", "shallow")] == [
        *("0.000000", "3.000000", "2.000000")
    ]
    table = report["systems"]["shallow"]
    assert {key: table[key] for key in ("rerank", "rerank_options", "depth", "final", "blend")} == {
        "rerank": "overlap",
        "rerank_options": {},
        "depth": 2,
        "final": 1,
        "blend": False,
    }


def test_costs_without_a_price_have_no_estimate(run_cce: Run, folder: Path) -> None:
    done = run_cce("relevance", "set.jsonl", "--systems", "systems.toml", "--backend", "sorted", cwd=folder)
    assert (
        "  costs, means per query\n"
        "  backend          pairs        tokens\n"
        "  sorted        3.000000      2.000000\n"
    ) in done.stdout.decode()


def test_a_recorded_program_replays_under_its_reranker(run_cce: Run, folder: Path) -> None:
    arguments = ("relevance", "set.jsonl", "--systems", "systems.toml", "--backend", "sorted", "--json")
    live = run_cce(*arguments, "--record", "sorted=run.jsonl", cwd=folder)
    assert live.returncode == 0, live.stderr.decode()
    (line,) = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()[1:]]
    # The first stage is what the program answered: all that the reranker was to score.
    assert (line["k"], [result["path"] for result in line["results"]]) == (20, ["c.txt", "b.txt", "a.txt"])
    replayed = run_cce(*arguments, "--run", "program=run.jsonl", cwd=folder)
    assert replayed.returncode == 0, replayed.stderr.decode()
    assert mrr(replayed.stdout) == mrr(live.stdout) == {"sorted": "1.000000"}


def test_a_saved_run_under_a_reranker_needs_the_corpus(run_cce: Run, folder: Path) -> None:
    (folder / "mine.run").write_text("one Q0 c.txt 1 3 t\none Q0 b.txt 2 2 t\none Q0 a.txt 3 1 t\n")
    table = '[system.mine]\nrun = "mine.run"\nrerank = "overlap"\n'
    (folder / "runs.toml").write_text(f'schema = "cce.systems/v1"\n{table}')
    arguments = ("relevance", "set.jsonl", "--systems", "runs.toml")
    done = run_cce(*arguments, "--json", cwd=folder)
    assert mrr(done.stdout) == {"mine": "1.000000"}
    refused = run_cce(*arguments, "--no-corpus", cwd=folder)
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert refused.stderr == (b"error: --no-corpus is for saved runs: 'mine' needs a corpus, leave it out\n")


def test_explain_shows_both_stages(run_cce: Run, folder: Path) -> None:
    arguments = ("explain", "set.jsonl", "one", "--systems", "systems.toml", "--backend", "sorted")
    text = run_cce(*arguments, cwd=folder).stdout.decode()
    assert "first-stage rank 3, raw score 1.000000" in text
    (backend,) = json.loads(run_cce(*arguments, "--json", cwd=folder).stdout)["backends"]
    assert backend["results"][0]["parts"] == {
        "first_rank": 3,
        "raw_score": "1.000000",
        "beyond_max_words": [],
    }


def test_a_gate_judges_a_reranked_system(run_cce: Run, folder: Path) -> None:
    (folder / "gate.toml").write_text(
        'schema = "cce.gate/v1"\nfixtures = "set.jsonl"\nsystems = "systems.toml"\nbackend = "shallow"\n'
        'baseline = "baseline.json"\n'
        "floor = { mrr = 0.5 }\n"
    )
    accepted = run_cce("gate", "gate.toml", "--run-systems", "--accept", cwd=folder)
    assert accepted.returncode == 1
    done = run_cce("gate", "gate.toml", "--run-systems", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.decode().startswith("GATE: BLOCK\n")


def test_search_and_bench_ask_a_reranked_system(run_cce: Run, folder: Path) -> None:
    options = ("--systems", "systems.toml", "--backend", "sorted", "--dir", "docs")
    found = run_cce("search", "alpha pin", "--top-k", "1", *options, cwd=folder)
    assert found.stdout.decode().splitlines()[0] == " 1. [1.000000] a.txt:1-2 (module/module)"
    timed = run_cce("bench", "set.jsonl", *options, "--repeat", "1", cwd=folder)
    assert timed.returncode == 0, timed.stderr.decode()
