"""`cce gate init`, several policies at once, and baselines of another commit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from cce.cli.main import main
from cce.measurement.gate.policy import read_policy

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("config", "orders", "letter"):
        path = tmp_path / "eval" / "src" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"def load_{name}(path):\n    return path  # load {name}\n")
    write_set(tmp_path)
    return tmp_path


def write_set(folder: Path, corpus: str | None = "src", name: str = "code.jsonl", n: int = 3) -> None:
    header = {"schema": "cce.relevance/v1"} | ({} if corpus is None else {"corpus": corpus})
    cases = [
        {"id": name, "query": f"load {name}", "expected": [f"{name}.py"], "k": 3}
        for name in ("config", "orders", "letter")[:n]
    ]
    (folder / "eval" / name).write_text("".join(json.dumps(line) + "\n" for line in [header, *cases]))


def error_of(capsys: Capture) -> str:
    out, err = capsys.readouterr()
    assert out == ""
    return err


# Init.


def test_init_writes_a_policy_and_its_baseline_beside_the_set(project: Path, capsys: Capture) -> None:
    assert main(["gate", "init", "eval/code.jsonl"]) == 0
    assert capsys.readouterr().out.startswith(
        "GATE: REVIEW\n  review: 3 cases cannot tell about mrr: the least p they can give is 0.250000"
    )
    policy = read_policy("eval/code.gate.toml")
    assert (policy.backend, policy.fixtures, policy.baseline) == (
        "hybrid",
        "code.jsonl",
        "code.baseline.json",
    )
    assert policy.review_p == 0.2
    assert policy.limits.drop == {"recall": 0.167}  # 1 / (2 x 3), rounded up
    assert main(["gate", "eval/code.gate.toml"]) == 0
    assert capsys.readouterr().err == ""


def test_a_larger_set_gets_the_usual_drop(project: Path) -> None:
    lines = [{"query": f"load config {n}", "expected": ["config.py"]} for n in range(25)]
    header = {"schema": "cce.relevance/v1", "corpus": "src"}
    (project / "eval" / "many.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in [header, *lines])
    )
    assert main(["gate", "init", "eval/many.jsonl", "--backend", "bm25"]) == 0
    assert read_policy("eval/many.gate.toml").limits.drop == {"recall": 0.02}


def test_init_takes_a_backend_and_a_corpus(project: Path) -> None:
    write_set(project, corpus=None)
    assert main(["gate", "init", "eval/code.jsonl", "--backend", "bm25", "--dir", "eval/src"]) == 0
    policy = read_policy("eval/code.gate.toml")
    assert (policy.backend, policy.directory) == ("bm25", "src")
    assert main(["gate", "eval/code.gate.toml"]) == 0


@pytest.mark.parametrize("name", ["code.gate.toml", "code.baseline.json"])
def test_init_replaces_nothing(project: Path, capsys: Capture, name: str) -> None:
    (project / "eval" / name).write_text("mine")
    before = sorted(path.name for path in (project / "eval").iterdir())
    assert main(["gate", "init", "eval/code.jsonl"]) == 2
    assert error_of(capsys) == f"error: eval/{name}: is there already: remove it, or ask with cce gate\n"
    assert sorted(path.name for path in (project / "eval").iterdir()) == before
    assert (project / "eval" / name).read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["eval/nothing.jsonl"], "cannot read the fixture set"),
        (["eval/code.jsonl", "--backend", "hybird"], "did you mean 'hybrid'?"),
        (["eval/code.jsonl", "--dir", "nowhere"], "nowhere"),
        (["eval/code.jsonl", "--dir", ""], "--dir"),
        ([], "SET"),
    ],
)
def test_init_that_fails_writes_nothing(
    project: Path, capsys: Capture, options: list[str], message: str
) -> None:
    assert main(["gate", "init", *options]) == 2
    assert message in error_of(capsys)
    assert sorted(path.name for path in (project / "eval").iterdir()) == ["code.jsonl", "src"]


def test_a_policy_called_init_is_asked_by_its_path(project: Path) -> None:
    assert main(["gate", "init", "eval/code.jsonl", "--backend", "bm25"]) == 0
    text = (project / "eval" / "code.gate.toml").read_text()
    (project / "init").write_text(text.replace('"code', '"eval/code'))
    assert main(["gate", "./init"]) == 0


# Several policies.


@pytest.fixture
def two(project: Path, capsys: Capture) -> Path:
    """`a.gate.toml` goes; `b.gate.toml` blocks, since its floor is out of reach."""
    for name in ("a", "b"):
        write_set(project, name=f"{name}.jsonl")
        assert main(["gate", "init", f"eval/{name}.jsonl", "--backend", "bm25"]) == 0
        path = project / "eval" / f"{name}.gate.toml"
        path.write_text(path.read_text().partition("[evidence]")[0])
    with (project / "eval" / "b.gate.toml").open("a") as file:
        file.write("[floor]\nprecision_at_k = 1\n")
    capsys.readouterr()
    return project


A, B = "eval/a.gate.toml", "eval/b.gate.toml"


def test_several_policies_are_asked_and_the_worst_answer_counts(two: Path, capsys: Capture) -> None:
    assert main(["gate", A, B]) == 1
    assert capsys.readouterr().out == (
        "eval/a.gate.toml\nGATE: GO\n\n"
        "eval/b.gate.toml\nGATE: BLOCK\n"
        "  block:  precision_at_k 0.333333 is below its floor 1.000000, "
        "as are 3 cases (config, orders, letter)\n"
    )
    assert main(["gate", A, A]) == 0


def test_a_policy_that_cannot_be_asked_stops_no_other(two: Path, capsys: Capture) -> None:
    assert main(["gate", "eval/gone.toml", B]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("eval/b.gate.toml\nGATE: BLOCK\n")
    assert err.startswith("error: eval/gone.toml: cannot read the policy")


def test_reports_that_hold_one_policy_are_refused_for_several(two: Path, capsys: Capture) -> None:
    assert main(["gate", A, B, "--report", "html=report.html"]) == 2
    assert "--report html takes one policy, got 2" in error_of(capsys)
    assert main(["gate", A, B, "--report", "markdown=comment.md"]) == 1
    text = (two / "comment.md").read_text()
    assert text.count("GO") >= 1
    assert "BLOCK" in text


def test_several_policies_are_accepted(two: Path) -> None:
    for name in ("a", "b"):
        (two / "eval" / f"{name}.baseline.json").unlink()
    assert main(["gate", A, B, "--accept"]) == 1
    assert (two / "eval" / "a.baseline.json").exists()
    assert (two / "eval" / "b.baseline.json").exists()


# A baseline of another commit.


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ("git", *identity, *arguments), cwd=folder, capture_output=True, check=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(project: Path) -> Path:
    """Commit `main` has a baseline; here all three cases were lost, and that was accepted."""
    assert main(["gate", "init", "eval/code.jsonl", "--backend", "bm25"]) == 0
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "baseline")
    for path in (project / "eval" / "src").iterdir():
        path.write_text("def nothing():\n    return 0\n")
    assert main(["gate", "eval/code.gate.toml", "--accept"]) == 0
    return project


@pytest.mark.process
def test_accepting_in_a_branch_waves_nothing_through(repository: Path, capsys: Capture) -> None:
    capsys.readouterr()
    assert main(["gate", "eval/code.gate.toml"]) == 0
    assert main(["gate", "eval/code.gate.toml", "--baseline-ref", "main"]) == 1
    assert "recall fell by 1.000000" in capsys.readouterr().out


@pytest.mark.process
def test_the_report_says_which_commit_it_was_held_against(repository: Path, capsys: Capture) -> None:
    capsys.readouterr()
    main(["gate", "eval/code.gate.toml", "--baseline-ref", "HEAD", "--json"])
    assert json.loads(capsys.readouterr().out)["baseline_ref"] == "HEAD"


@pytest.mark.process
@pytest.mark.parametrize(
    ("ref", "message"),
    [
        (
            "origin/main",
            "error: 'origin/main' is no commit of this repository: fetch it, or name another one\n",
        ),
        ("--help", "error: '--help' is no commit of this repository: fetch it, or name another one\n"),
        ("HEAD:eval", "error: 'HEAD:eval' is no commit of this repository: fetch it, or name another one\n"),
        ("", "error: '' is no commit of this repository: fetch it, or name another one\n"),
    ],
)
def test_an_unknown_commit_is_named(repository: Path, capsys: Capture, ref: str, message: str) -> None:
    capsys.readouterr()
    assert main(["gate", "eval/code.gate.toml", f"--baseline-ref={ref}"]) == 2
    assert error_of(capsys) == message


@pytest.mark.process
def test_a_commit_without_the_baseline_is_told(repository: Path, capsys: Capture) -> None:
    git(repository, "rm", "-q", "--cached", "eval/code.baseline.json")
    git(repository, "commit", "-qm", "none")
    capsys.readouterr()
    assert main(["gate", "eval/code.gate.toml", "--baseline-ref", "HEAD"]) == 2
    assert error_of(capsys).startswith("error: HEAD:eval/code.baseline.json: that commit has no such file: ")
    assert main(["gate", "eval/code.gate.toml", "--baseline-ref", "HEAD~1"]) == 1


def test_outside_of_git_there_is_no_other_commit(project: Path, capsys: Capture) -> None:
    assert main(["gate", "init", "eval/code.jsonl", "--backend", "bm25"]) == 0
    capsys.readouterr()
    assert main(["gate", "eval/code.gate.toml", "--baseline-ref", "HEAD"]) == 2
    assert "is in no git work tree" in error_of(capsys)


def test_what_is_accepted_is_the_file_that_is_here(project: Path, capsys: Capture) -> None:
    assert main(["gate", "init", "eval/code.jsonl", "--backend", "bm25"]) == 0
    capsys.readouterr()
    assert main(["gate", "eval/code.gate.toml", "--accept", "--baseline-ref", "HEAD"]) == 2
    assert "--accept and --baseline-ref exclude each other" in error_of(capsys)
