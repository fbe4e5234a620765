"""Experiments, ablations and sweeps through the installed command: tables, JSON, and typing errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cce.measurement.reports.experiment_model import ExperimentModel
from conftest import Run

pytestmark = pytest.mark.process

SYSTEMS = """schema = "cce.systems/v1"
[system.mine]
backend = "bm25"
rerank = "overlap"
price = { query = 4, pair = 1.5 }
[ablate]
changes = ["rerank=none", "depth=1"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name, text in (("a", "alpha pin\n"), ("b", "beta gamma\n"), ("c", "gamma alpha\n")):
        (tmp_path / "docs" / f"{name}.txt").write_text(text)
    lines = [
        {"schema": "cce.relevance/v1", "corpus": "docs"},
        {"id": "one", "query": "alpha pin", "expected": ["a.txt"], "tags": ["easy"]},
        {"id": "two", "query": "gamma beta", "expected": ["b.txt"]},
    ]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "systems.toml").write_text(SYSTEMS)
    return tmp_path


def test_an_ablation_has_a_row_for_the_base_and_each_change_of_the_file(run_cce: Run, folder: Path) -> None:
    done = run_cce("ablate", "set.jsonl", "--systems", "systems.toml", "--json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    table = json.loads(done.stdout)
    assert (table["schema"], table["verb"], table["baseline"]) == ("cce.experiment/v1", "ablate", "mine")
    assert [row["system"] for row in table["rows"]] == ["mine", "rerank=none", "depth=1"]
    # Two documents hold a word of each query: 4 + 1.5 x 2, no pair, and 4 + 1.5 x 1.
    costs = [(row["costs"]["pairs"], row["costs"]["estimate"]) for row in table["rows"]]
    assert costs == [("2.000000", "7.000000"), ("0.000000", "4.000000"), ("1.000000", "5.500000")]
    assert table["rows"][0]["compare"] == {}
    assert table["rows"][1]["compare"]["mrr"]["adjusted_p"] == "1.000000"
    assert table["choice"] is None


def test_tables_are_what_the_schema_says(run_cce: Run, folder: Path) -> None:
    arguments = ("set.jsonl", "--systems", "systems.toml", "--json")
    for options in (
        ("experiment", *arguments, "--backend", "bm25,mine", "--min-effect", "0.1"),
        ("ablate", *arguments),
        ("sweep", *arguments, "--vary", "depth=1,2", "--min-effect", "0.1", "--tune", "easy"),
    ):
        done = run_cce(*options, cwd=folder)
        table = ExperimentModel.model_validate_json(done.stdout)
        assert table.verb == options[0]


def test_a_sweep_marks_the_cheapest_row_and_shows_it_on_the_other_cases(run_cce: Run, folder: Path) -> None:
    arguments = ("sweep", "set.jsonl", "--systems", "systems.toml", "--vary", "depth=1,2", "--metrics", "mrr")
    # Of one equal case with the made-up one that loses everything, no limit below 1 is shown.
    done = run_cce(*arguments, "--min-effect", "1", "--tune", "easy", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert "  depth=1 *  1.000000" in text
    assert (
        "* depth=1 is the best row in MRR; no cheaper one is shown to lose less than 1.000000 to it" in text
    )
    assert "chosen on 1 case (easy); on the other 1, depth=1 has MRR 1.000000" in text


def test_an_experiment_is_a_table_for_a_pull_request(run_cce: Run, folder: Path) -> None:
    options = ("--backend", "bm25,mine", "--systems", "systems.toml", "--metrics", "mrr")
    done = run_cce("experiment", "set.jsonl", *options, "--report", "markdown=table.md", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().startswith("CCE experiment — 2 systems on one set (cce.relevance/v1)\n")
    table = (folder / "table.md").read_text()
    assert table.startswith("**experiment**: 2 systems on 2 queries\n\n| system | MRR | MRR 95% CI |")
    assert "| <code>mine</code> | 1.000 |" in table


def test_a_policy_judges_each_row_as_the_gate_does(run_cce: Run, folder: Path) -> None:
    policy = (
        'schema = "cce.gate/v1"\nfixtures = "set.jsonl"\nsystems = "systems.toml"\nbackend = "{}"\n'
        'baseline = "baseline.json"\nbaseline_backend = "bm25"\n[floor]\n"recall@1" = 0.9\n'
    )
    (folder / "gate.toml").write_text(policy.format("bm25"))
    assert run_cce("gate", "gate.toml", "--accept", cwd=folder).returncode == 0
    (folder / "one.run").write_text("one Q0 c.txt 1 2 t\ntwo Q0 a.txt 1 2 t\n")
    (folder / "systems.toml").write_text(SYSTEMS + '[system.one]\nrun = "one.run"\n')
    options = (
        "--systems",
        "systems.toml",
        "--backend",
        "bm25,mine,one",
        "--metrics",
        "mrr",
        "--gate",
        "gate.toml",
    )
    done = run_cce("experiment", "set.jsonl", *options, "--json", cwd=folder)
    outcomes = {row["system"]: row["gate"] for row in json.loads(done.stdout)["rows"]}
    assert outcomes["one"] == "BLOCK"
    for name, outcome in outcomes.items():
        (folder / "gate.toml").write_text(policy.format(name))
        asked = run_cce("gate", "gate.toml", cwd=folder).stdout.decode()
        assert asked.startswith(f"GATE: {outcome}\n")


def test_one_system_is_a_table_too(run_cce: Run, folder: Path) -> None:
    done = run_cce("experiment", "set.jsonl", "--backend", "bm25", "--min-effect", "0.1", cwd=folder)
    assert done.returncode == 0
    assert "* bm25 is the best row in MRR" in done.stdout.decode()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("experiment", "--by", "recal"), "error: --by recal: unknown metric 'recal'; did you mean"),
        (("experiment", "--baseline", "bm52"), "error: unknown backend 'bm52'; did you mean 'bm25'?"),
        (
            ("experiment", "--metrics", "irrelevant_hits@5"),
            "error: --by irrelevant_hits@5: it has a mean only",
        ),
        (("experiment", "--report", "junit=x.xml"), "error: --report junit=x.xml: unknown format 'junit'"),
        (("experiment", "--report", "text=set.jsonl"), "error: --report text=set.jsonl: "),
        (("experiment", "--gate", "gone.toml"), "error: gone.toml: cannot read the policy"),
        (("ablate", "--base", "bm25"), "error: nothing to change: add --change KEY=VALUE"),
        (("ablate", "--base", "bm25", "--change", "depth=3"), "error: depth=3.depth: goes with a reranker"),
        (("sweep", "--base", "bm25"), "error: Missing option '--vary'"),
        (("sweep", "--vary", "final=1", "--tune", "0.5"), "error: --tune chooses a row, which needs a limit"),
    ],
)
def test_a_typing_error_is_one_line(
    run_cce: Run, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    verb, *options = arguments
    done = run_cce(verb, "set.jsonl", *options, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(message)


def test_an_empty_set_is_told(run_cce: Run, folder: Path) -> None:
    (folder / "empty.jsonl").write_text("")
    done = run_cce("experiment", "empty.jsonl", "--dir", "docs", cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith("error: empty.jsonl:1: ")
