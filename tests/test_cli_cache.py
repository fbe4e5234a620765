"""The cache as users meet it: warm reports, --no-cache, `cce cache info` and `cce cache clear`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("def load(path):\n    return open(path)\n")
    lines = [{"schema": "cce.relevance/v1", "corpus": "src"}, {"query": "load", "expected": ["app.py"]}]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def corpora(run_cce: Run, folder: Path) -> int:
    facts = json.loads(run_cce("cache", "info", "--json", CCE_CACHE_DIR=str(folder)).stdout)
    assert facts["folder"] == str(folder)
    return int(facts["corpora"])


def test_a_second_run_prints_the_same_from_the_cache(project: Path, run_cce: Run, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    arguments = ("relevance", "set.jsonl", "--json")
    without = run_cce(*arguments, "--no-cache", cwd=project, CCE_CACHE_DIR=str(folder))
    assert (without.returncode, folder.exists()) == (0, False)
    cold = run_cce(*arguments, cwd=project, CCE_CACHE_DIR=str(folder))
    assert corpora(run_cce, folder) == 1
    warm = run_cce(*arguments, cwd=project, CCE_CACHE_DIR=str(folder))
    assert cold.stdout == warm.stdout == without.stdout
    assert warm.stderr == b""


@pytest.mark.parametrize(
    "arguments",
    [["search", "load"], ["conformance", "src", "-o", "-"], ["index", "src", "--store", "s.json"]],
)
def test_every_command_that_indexes_can_leave_the_cache_alone(
    project: Path, run_cce: Run, arguments: list[str]
) -> None:
    folder = project / "cache"
    assert run_cce(*arguments, "--no-cache", cwd=project, CCE_CACHE_DIR=str(folder)).returncode == 0
    assert not folder.exists()


def test_clearing_says_what_went(project: Path, run_cce: Run, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    run_cce("relevance", "set.jsonl", cwd=project, CCE_CACHE_DIR=str(folder))
    shown = run_cce("cache", "info", CCE_CACHE_DIR=str(folder)).stdout.decode()
    assert shown.splitlines()[:2] == [f"folder   : {folder}", "corpora  : 1"]
    assert " kB of at most " in shown.splitlines()[2]
    assert shown.splitlines()[4].split() == ["size", "last", "used", "(UTC)", "corpus"]
    assert shown.splitlines()[5].endswith(f"  {project / 'src'}")
    cleared = run_cce("cache", "clear", CCE_CACHE_DIR=str(folder)).stdout.decode()
    assert cleared.startswith("removed 1 corpus (")
    assert cleared.endswith(f" kB) from {folder}\n")
    assert corpora(run_cce, folder) == 0


def test_a_full_cache_says_what_it_drops_and_no_report_holds_it(project: Path, run_cce: Run) -> None:
    (project / "lib").mkdir()
    (project / "lib" / "app.py").write_text("def save(path):\n    return path\n")
    variables = {"CCE_CACHE_DIR": str(project / "cache"), "CCE_CACHE_BYTES": "1"}
    run_cce("search", "load", "--dir", "src", cwd=project, **variables)
    full = run_cce("relevance", "set.jsonl", "--dir", "lib", "--json", cwd=project, **variables)
    dropped = f"cache: it is full, so the index of {project / 'src'} was dropped"
    assert dropped in full.stderr.decode().splitlines()
    fresh = run_cce("relevance", "set.jsonl", "--dir", "lib", "--json", "--no-cache", cwd=project)
    assert full.stdout == fresh.stdout
    facts = json.loads(run_cce("cache", "info", "--json", **variables).stdout)
    assert [entry["corpus"] for entry in facts["entries"]] == [str(project / "lib")]
    assert facts["max_bytes"] == 1


def test_clearing_a_cache_that_is_not_there_is_fine(run_cce: Run, tmp_path: Path) -> None:
    result = run_cce("cache", "clear", CCE_CACHE_DIR=str(tmp_path / "none"))
    assert result.stdout.decode() == f"removed 0 corpora (0.0 kB) from {tmp_path / 'none'}\n"
