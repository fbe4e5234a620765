"""The pytest plug-in in a project of somebody else: what it collects, what fails, what it leaves alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

pytestmark = pytest.mark.process

POLICY = 'schema = "cce.gate/v1"\nfixtures = "set.jsonl"\nbackend = "bm25"\nbaseline = "baseline.json"\n'
TEST = "def test_of_the_project():\n    pass\n"


class Project:
    """A folder with a corpus of two functions, a set of two cases, and a policy with its baseline."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "corpus").mkdir()
        (folder / "corpus" / "a.py").write_text(
            "def late_fee():\n    return 1\n\n\ndef pin():\n    return 2\n"
        )
        cases = [
            {"id": "fee", "query": "late_fee", "expected": ["a.py@1-2"], "k": 1},
            {"id": "pin", "query": "pin", "expected": ["a.py@5-6"], "k": 1},
        ]
        lines = [{"schema": "cce.relevance/v1", "corpus": "corpus"}, *cases]
        (folder / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (folder / "gate.toml").write_text(POLICY)
        (folder / "tests").mkdir()
        (folder / "tests" / "test_own.py").write_text(TEST)
        (folder / "pyproject.toml").write_text('[project]\nname = "other"\n')
        self.cce("gate", "gate.toml", "--accept")

    def configure(self, text: str) -> None:
        (self.folder / "pytest.ini").write_text(f"[pytest]\n{text}\n")

    def cce(self, *arguments: str) -> None:
        subprocess.run([sys.executable, "-m", "cce", *arguments], cwd=self.folder, check=True, timeout=60)

    def pytest(self, *arguments: str, **environment: str) -> tuple[int, str]:
        """The exit code and what was printed."""
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no", *arguments],
            cwd=self.folder,
            env={**os.environ, "COLUMNS": "200", **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.stderr == "" or done.returncode == 4, done.stderr
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_policy_of_the_ini_key_is_a_test_beside_the_others(project: Project) -> None:
    project.configure("cce_policies = gate.toml")
    code, out = project.pytest("-v")
    assert code == 0
    assert "gate.toml::gate PASSED" in out
    assert "2 passed" in out


def test_a_policy_outside_of_testpaths_runs_with_all_tests_and_not_with_some(project: Project) -> None:
    project.configure("cce_policies = gate.toml\ntestpaths = tests")
    assert "2 passed" in project.pytest()[1]
    assert "1 passed" in project.pytest("tests")[1]
    assert "1 passed" in project.pytest("gate.toml")[1]


def test_a_policy_within_testpaths_runs_once(project: Project) -> None:
    project.configure("cce_policies = gate.toml\ntestpaths = . tests")
    assert "2 passed" in project.pytest()[1]


def test_a_policy_of_the_command_line_needs_no_ini_key(project: Project) -> None:
    assert "1 passed" in project.pytest("gate.toml")[1]


def test_nothing_else_is_collected(project: Project) -> None:
    """Neither policies that nobody named nor other TOML files that somebody did."""
    assert "1 passed" in project.pytest()[1]
    code, out = project.pytest("pyproject.toml")
    assert code == 4
    assert "pyproject.toml" in out


def test_a_refused_policy_fails_with_its_reasons_and_no_traceback(project: Project) -> None:
    project.configure("cce_policies = gate.toml")
    (project.folder / "gate.toml").write_text(POLICY + "[floor]\nrecall = 0.9\n[drop]\nmrr = 0.1\n")
    file = project.folder / "corpus" / "a.py"
    file.write_text(file.read_text().replace("pin", "secret"))  # the second query finds nothing any more
    code, out = project.pytest("gate.toml")
    assert code == 1
    assert "gate.toml: BLOCK\nblock: recall 0.500000 is below its floor 0.900000" in out
    assert "block: mrr fell by 0.500000 from 1.000000 to 0.500000, limit 0.100000" in out
    assert "1 failed" in out
    assert "Traceback" not in out
    assert "pytest_cce.py" not in out


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("schema = \n", "gate.toml:1"),
        (POLICY + "flor = 1\n", "flor"),
        (POLICY.replace("bm25", "bm52"), "gate.toml: backend: unknown backend 'bm52'; did you mean 'bm25'?"),
        (POLICY.replace("baseline.json", "gone.json"), "gone.json: there is no baseline"),
    ],
)
def test_a_policy_that_cannot_be_measured_is_an_error_with_the_message(
    project: Project, text: str, fault: str
) -> None:
    project.configure("cce_policies = gate.toml")
    (project.folder / "gate.toml").write_text(text)
    code, out = project.pytest()
    assert code == 1
    assert fault in out
    assert "1 passed, 1 error" in out
    assert "Traceback" not in out
    assert "pytest_cce.py" not in out


def test_a_policy_that_is_not_there_stops_the_run(project: Project) -> None:
    project.configure("cce_policies = gone.toml")
    code, out = project.pytest()
    assert code == 4
    assert "ERROR: cce_policies: " in out
    assert "gone.toml: there is no such file" in out


def review(project: Project) -> None:
    """A set with a case more than the baseline, which nobody has looked at."""
    project.configure("cce_policies = gate.toml")
    case = {"id": "new", "query": "pin", "expected": ["a.py@5-6"], "k": 1}
    with (project.folder / "set.jsonl").open("a") as file:
        file.write(json.dumps(case) + "\n")


def test_a_policy_to_review_passes_and_says_so_at_the_end(project: Project) -> None:
    review(project)
    code, out = project.pytest()
    assert code == 0
    assert "2 passed" in out
    _, _, told = out.partition("cce: to review")
    assert "gate.toml: REVIEW\nreview: " in told
    assert "new" in told


def test_a_policy_to_review_fails_if_strict(project: Project) -> None:
    review(project)
    code, out = project.pytest("--cce-strict")
    assert code == 1
    assert "gate.toml: REVIEW\nreview: " in out
    assert "1 failed, 1 passed" in out


@pytest.mark.parametrize(
    ("arguments", "environment", "seen"),
    [
        ([], {}, "None"),
        (["--cce-run-systems"], {}, "1"),
        ([], {"CCE_RUN_SYSTEMS": "1"}, "1"),
        (["--cce-run-systems"], {"CCE_RUN_SYSTEMS": "0"}, "1"),
    ],
)
def test_programs_run_only_if_the_person_who_starts_pytest_says_so(
    project: Project, arguments: list[str], environment: dict[str, str], seen: str
) -> None:
    """What `cce` finds in its environment while it measures, and that it is as before afterwards."""
    (project.folder / "conftest.py").write_text(
        "import os, cce\n"
        "before, gate = os.environ.get('CCE_RUN_SYSTEMS'), cce.gate\n"
        "def watched(*args, **options):\n"
        "    print('consent:', os.environ.get('CCE_RUN_SYSTEMS'))\n"
        "    return gate(*args, **options)\n"
        "cce.gate = watched\n"
        "def pytest_unconfigure():\n"
        "    assert os.environ.get('CCE_RUN_SYSTEMS') == before\n"
    )
    code, out = project.pytest("-s", "gate.toml", *arguments, **environment)
    assert code == 0
    assert f"consent: {seen}\n" in out


def test_the_plug_in_can_be_left_out(project: Project) -> None:
    code, out = project.pytest("-p", "no:cce")
    assert code == 0
    assert "1 passed" in out


def test_a_run_of_another_project_imports_nothing_of_cce(project: Project) -> None:
    (project.folder / "tests" / "test_own.py").write_text(
        "import sys\n"
        "def test_of_the_project():\n"
        "    assert 'pytest_cce' in sys.modules\n"
        "    assert [name for name in sys.modules if name.split('.')[0] == 'cce'] == []\n"
    )
    code, out = project.pytest("--strict-config", "--strict-markers", "-W", "error")
    assert (code, "1 passed" in out) == (0, True)


def test_the_policies_of_this_repository_pass() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "eval/gate.toml", "eval/gate-docs.toml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
