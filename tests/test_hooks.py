"""The hooks for pre-commit: their entry lines as pre-commit runs them, with files that pass and that fail."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT

yaml = pytest.importorskip("yaml", reason="reading YAML needs PyYAML")

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.name == "nt", reason="the entry lines are tried in a POSIX shell"),
]

HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
}
SETS = ("eval/code.jsonl", "eval/docs.jsonl")


@pytest.fixture
def path_with_cce(tmp_path: Path) -> str:
    """PATH of an environment where only the package is installed, as pre-commit makes one."""
    program = tmp_path / "bin" / "cce"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cce "$@"\n')
    program.chmod(0o755)
    return f"{program.parent}{os.pathsep}{os.environ['PATH']}"


def run(hook: str, path: str, *arguments: str, cwd: Path = ROOT) -> tuple[int, str]:
    """pre-commit splits the entry like a shell, and appends args and the names of changed files."""
    done = subprocess.run(
        [*shlex.split(HOOKS[hook]["entry"]), *arguments],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout


def broken_set(folder: Path) -> Path:
    """A set whose only anchor matches nothing, in a folder with a blank and a quote in its name."""
    place = folder / "it's a folder"
    (place / "corpus").mkdir(parents=True)
    (place / "corpus" / "a.py").write_text("def fee():\n    pass\n")
    path = place / "set.jsonl"
    path.write_text(
        '{"schema": "cce.relevance/v1", "corpus": "corpus"}\n'
        '{"id": "fee", "query": "fee", "expected": ["gone.py"], "k": 1}\n'
    )
    return path


def test_the_sets_of_this_repository_pass_in_one_call(path_with_cce: str) -> None:
    assert run("cce-lint", path_with_cce, *SETS)[0] == 0


def test_a_broken_set_fails_wherever_it_stands(path_with_cce: str, tmp_path: Path) -> None:
    broken = str(broken_set(tmp_path))
    for sets in ((broken,), (broken, *SETS), (*SETS, broken)):
        code, out = run("cce-lint", path_with_cce, *sets)
        assert code == 1
        assert "gone.py" in out


def test_a_set_that_cannot_be_read_fails_and_the_others_are_still_checked(
    path_with_cce: str, tmp_path: Path
) -> None:
    code, out = run("cce-lint", path_with_cce, str(broken_set(tmp_path)), str(tmp_path / "no such.jsonl"))
    assert code == 2
    assert "gone.py" in out
    assert "no such.jsonl" in out


def test_the_gate_passes_and_blocks(path_with_cce: str, tmp_path: Path) -> None:
    assert run("cce-gate", path_with_cce, "eval/gate.toml") == (0, "GATE: GO\n")
    policy = tmp_path / "gate.toml"
    text = (ROOT / "eval" / "gate.toml").read_text("utf-8")
    for name in ("code.jsonl", "code.baseline.json"):
        text = text.replace(f'"{name}"', f'"{ROOT / "eval" / name}"')
    policy.write_text(re.sub(r"(?<=^recall = )0\.70$", "0.99", text, flags=re.M))
    code, out = run("cce-gate", path_with_cce, str(policy))
    assert code == 1
    assert out.startswith("GATE: BLOCK\n  block:  recall 0.")


def test_a_gate_without_a_policy_says_what_is_missing(path_with_cce: str) -> None:
    code, out = run("cce-gate", path_with_cce)
    assert code == 2
    assert "POLICY.toml" in out


def test_the_hooks_run_when_they_should() -> None:
    """Lint at each commit of a set; the gate once before a push, whatever changed."""
    lint, gate = HOOKS["cce-lint"], HOOKS["cce-gate"]
    assert [bool(re.search(lint["files"], name)) for name in ("eval/code.jsonl", "a.json")] == [True, False]
    assert "stages" not in lint
    assert gate["stages"] == ["pre-push"]
    assert (gate["always_run"], gate["pass_filenames"]) == (True, False)
    assert {hook["language"] for hook in HOOKS.values()} == {"python"}
