"""A gate over systems that are not ours: consent, a change that is blocked, and what a reviewer is told."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import Run

pytestmark = pytest.mark.process

PROGRAM = """\
import json, pathlib, sys
sys.path.insert(0, {source!r})
from cce.retriever_stub import serve

def search(query, k):
    if query in pathlib.Path("fails.txt").read_text().splitlines():
        raise ConnectionRefusedError("Connection refused")
    return json.loads(pathlib.Path("answers.json").read_text()).get(query, [])

serve(search, name="mine", version="1.0")
"""
SYSTEMS = """\
schema = "cce.systems/v1"

[system.mine]
command = [{python}, "search.py"]
"""
POLICY = """\
schema = "cce.gate/v1"
fixtures = "set.jsonl"
backend = "mine"
baseline = "baseline.json"
systems = "systems.toml"

[drop]
recall = 0.2
"""
CASES = [{"id": name, "query": f"find {name}", "expected": [f"{name}.py"]} for name in ("a", "b", "c")]


class Project(NamedTuple):
    """A folder with a corpus, a set, a policy and a program that answers as a file says."""

    folder: Path
    run_cce: Run

    def answer(self, *found: str) -> None:
        answers = {f"find {name}": [f"{name}.py"] if name in found else [] for name in ("a", "b", "c")}
        (self.folder / "answers.json").write_text(json.dumps(answers))

    def gate(self, *arguments: str) -> tuple[int, str, str]:
        done = self.run_cce("gate", "gate.toml", *arguments, cwd=self.folder)
        return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def project(tmp_path: Path, root: Path, run_cce: Run) -> Project:
    (tmp_path / "src").mkdir()
    for case in CASES:
        (tmp_path / "src" / f"{case['id']}.py").write_text(f"{case['id']} = 1\n")
    header = {"schema": "cce.relevance/v1", "corpus": "src"}
    lines = "".join(json.dumps(each) + "\n" for each in (header, *CASES))
    (tmp_path / "set.jsonl").write_text(lines)
    (tmp_path / "search.py").write_text(PROGRAM.format(source=str(root / "src")))
    (tmp_path / "systems.toml").write_text(SYSTEMS.format(python=json.dumps(sys.executable)))
    (tmp_path / "gate.toml").write_text(POLICY)
    (tmp_path / "fails.txt").write_text("")
    made = Project(tmp_path, run_cce)
    made.answer("a", "b", "c")
    return made


def test_a_policy_starts_no_program_without_a_word_of_the_user(project: Project) -> None:
    (project.folder / "search.py").write_text("open('started', 'w')\n")
    code, out, err = project.gate("--accept")
    assert (code, out) == (2, "")
    assert err == (
        "error: system 'mine' runs a program (systems.toml): add --run-systems if you trust it, "
        "or --run mine=FILE\n"
    )
    assert not (project.folder / "started").exists()


def test_a_change_of_an_outside_system_is_blocked(project: Project) -> None:
    assert project.gate("--accept", "--run-systems")[0] == 0
    assert project.gate("--run-systems")[:2] == (0, "GATE: GO\n")
    project.answer("a")
    code, out, _ = project.gate("--run-systems")
    assert code == 1
    assert out.startswith("GATE: BLOCK\n  block:  recall fell by 0.666667 from 1.000000 to 0.333333")


def test_a_recorded_run_stands_in_for_the_program(project: Project) -> None:
    assert project.gate("--accept", "--run-systems", "--record", "mine=mine.jsonl")[0] == 0
    (project.folder / "search.py").unlink()
    code, out, err = project.gate("--run", "mine=mine.jsonl")
    assert (code, out, err) == (0, "GATE: GO\n", "")
    (project.folder / "src" / "a.py").write_text("a = 2\n")
    code, out, _ = project.gate("--run", "mine=mine.jsonl")
    assert code == 0
    assert "review: system mine is a run that was recorded over another corpus than this one" in out
    assert project.gate("--run", "mine=mine.jsonl", "--strict")[0] == 1


def test_a_failed_case_ends_the_gate_or_is_a_reason_to_review(project: Project) -> None:
    assert project.gate("--accept", "--run-systems")[0] == 0
    (project.folder / "fails.txt").write_text("find b\n")
    code, out, err = project.gate("--run-systems")
    assert (code, out) == (2, "")
    assert err.startswith("error: system 'mine': case b: ")
    assert "Connection refused" in err
    policy = project.folder / "gate.toml"
    policy.write_text(POLICY.replace("recall = 0.2", "recall = 0.5"))
    code, out, _ = project.gate("--run-systems", "--keep-going")
    assert code == 0
    assert "GATE: REVIEW" in out
    assert "system mine failed for 1 case, which score as empty; b: " in out


def test_the_baseline_keeps_the_table_of_the_system_and_a_change_of_it_is_told(project: Project) -> None:
    assert project.gate("--accept", "--run-systems")[0] == 0
    table = json.loads((project.folder / "baseline.json").read_text())["made_by"]["system"]
    assert table["command"][1:] == ["search.py"]
    assert "/" not in table["command"][0]
    systems = project.folder / "systems.toml"
    systems.write_text(systems.read_text() + "collapse = true\n")
    _, out, _ = project.gate("--run-systems")
    assert "was measured with another table of the system: a difference may come from that" in out
