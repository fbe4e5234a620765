"""The GitHub action: well-formed, consistent in itself, and its steps do locally what they promise."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT

FOLDER = ROOT / ".github" / "actions" / "relevance"
WORKFLOW = ROOT / ".github" / "workflows" / "relevance.yml"
SCRIPTS = ("install.sh", "measure.sh", "comment.sh")
OF_GITHUB = re.compile(r"GITHUB_[A-Z_]+|RUNNER_TEMP")

Step = dict[str, Any]

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the action is not part of this distribution")

needs_bash = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("bash") is None, reason="no bash of the POSIX sort here"
)


def parsed(path: Path) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="reading YAML needs PyYAML")
    value: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return value


@pytest.fixture
def action() -> dict[str, Any]:
    return parsed(FOLDER / "action.yml")


@pytest.fixture
def steps(action: dict[str, Any]) -> dict[str, Step]:
    """The steps by name."""
    return {step["name"]: step for step in action["runs"]["steps"]}


# What is written.


@pytest.mark.parametrize(
    ("path", "schema"),
    [(FOLDER / "action.yml", "github-actions"), (WORKFLOW, "github-workflows")],
    ids=["action", "workflow"],
)
@pytest.mark.process
def test_the_file_follows_the_published_schema(path: Path, schema: str) -> None:
    check = pytest.importorskip("check_jsonschema", reason="the schemas come with check-jsonschema")
    jsonschema = pytest.importorskip("jsonschema", reason="check-jsonschema needs it as well")
    folder = Path(check.__file__).parent / "builtin_schemas" / "vendor"
    validator = jsonschema.Draft7Validator(json.loads((folder / f"{schema}.json").read_text("utf-8")))
    assert [error.message for error in validator.iter_errors(_with_on(parsed(path)))] == []


def _with_on(document: dict[Any, Any]) -> dict[Any, Any]:
    """YAML 1.1 reads the key `on` as true."""
    return {("on" if key is True else key): value for key, value in document.items()}


def test_every_input_is_used_and_every_used_one_declared(action: dict[str, Any]) -> None:
    used = set(re.findall(r"inputs\.([a-z-]+)", (FOLDER / "action.yml").read_text("utf-8")))
    assert used == set(action["inputs"])


def test_every_output_of_a_step_is_written_by_its_script(
    action: dict[str, Any], steps: dict[str, Step]
) -> None:
    text = (FOLDER / "action.yml").read_text("utf-8")
    by_id = {step["id"]: step for step in steps.values() if "id" in step}
    for step_id, output in set(re.findall(r"steps\.([a-z]+)\.outputs\.([a-z-]+)", text)):
        if "run" in by_id[step_id]:
            assert f'echo "{output}=' in script_of(by_id[step_id]).read_text("utf-8")


def script_of(step: Step) -> Path:
    name = re.fullmatch(r'bash "\$GITHUB_ACTION_PATH/([a-z]+\.sh)"', step["run"])
    assert name is not None
    return FOLDER / name[1]


def test_every_script_reads_only_what_its_step_gives_it(steps: dict[str, Step]) -> None:
    scripts = {script_of(step).name: step for step in steps.values() if "bash" in step.get("run", "")}
    assert sorted(scripts) == sorted(SCRIPTS)
    for name, step in scripts.items():
        read = set(re.findall(r"\$\{?([A-Z][A-Z_]+)", (FOLDER / name).read_text("utf-8")))
        assert {variable for variable in read if not OF_GITHUB.fullmatch(variable)} == set(step["env"]), name


def test_no_step_pastes_an_expression_into_a_shell(steps: dict[str, Step]) -> None:
    assert [name for name, step in steps.items() if "${{" in step.get("run", "")] == []


def test_the_workflow_gives_the_action_what_it_knows_and_what_is_there(action: dict[str, Any]) -> None:
    workflow = parsed(WORKFLOW)
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}
    artifacts = []
    for job in workflow["jobs"].values():
        rows = job.get("strategy", {}).get("matrix", {}).get("include", [{}])
        uses = [step for step in job["steps"] if step["uses"].startswith("./")]
        for step in uses:
            assert (ROOT / step["uses"] / "action.yml").is_file()
            assert set(step["with"]) <= set(action["inputs"])
            for row in rows:
                given = {key: _filled(value, row) for key, value in step["with"].items()}
                artifacts.append(given["artifact"])
                assert (ROOT / (given.get("policy") or given["fixtures"])).is_file()
    assert len(set(artifacts)) == len(artifacts) == 3


def _filled(value: str, row: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{ matrix\.([a-z]+) \}\}", lambda found: row[found[1]], value)


# What the steps do.


class Runner:
    """A machine of GitHub's, as far as the steps look at it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "programs"
        self.programs.mkdir()
        self.temp = folder / "temp"
        self.temp.mkdir()
        self.output = folder / "output"
        self.summary = folder / "summary"

    def run(self, step: Step, **given: str) -> subprocess.CompletedProcess[str]:
        assert set(given) == set(step["env"])
        self.output.write_bytes(b"")
        self.summary.write_bytes(b"")
        environment = {
            **{name: value for name, value in os.environ.items() if not OF_GITHUB.fullmatch(name)},
            **given,
            "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_ACTION_PATH": str(FOLDER),
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_REPOSITORY": "somebody/something",
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_RUN_ID": "42",
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def program(self, name: str, text: str) -> None:
        path = self.programs / name
        path.write_text(f"#!{sys.executable}\n{text}", "utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    @property
    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.output.read_text("utf-8").splitlines())

    @property
    def reports(self) -> set[str]:
        return {path.name for path in (self.temp / "cce-relevance-reports").iterdir()}


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


ALL_REPORTS = {"comment.md", "junit.xml", "report.html", "report.json", "report.txt"}
GATE = {
    "PYTHON": sys.executable,
    "POLICY": "eval/gate.toml",
    "FIXTURES": "",
    "COMPARE": "",
    "STRICT": "false",
}


@needs_bash
@pytest.mark.process
def test_a_gate_that_goes_is_shown_everywhere(runner: Runner, steps: dict[str, Step]) -> None:
    result = runner.run(steps["Measure"], **{**GATE, "STRICT": "true"})
    assert (result.returncode, result.stderr) == (0, "")
    folder = str(runner.temp / "cce-relevance-reports")
    assert runner.outputs == {"verdict": "GO", "exit-code": "0", "reports": folder}
    assert runner.reports == ALL_REPORTS
    assert "GATE: GO\n" in result.stdout
    assert "::error" not in result.stdout
    comment = (runner.temp / "cce-relevance-reports" / "comment.md").read_text("utf-8")
    assert runner.summary.read_text("utf-8") == comment


@pytest.fixture
def changed(tmp_path: Path) -> str:
    """A policy like our own over a baseline in which every case was found first."""
    for name in ("code.jsonl", "code.baseline.json"):
        text = (ROOT / "eval" / name).read_text("utf-8")
        (tmp_path / name).write_text(
            text.replace("../test_fixtures", (ROOT / "test_fixtures").as_posix()), "utf-8"
        )
    baseline = json.loads((tmp_path / "code.baseline.json").read_text("utf-8"))
    for row in baseline["backends"][0]["per_query"]:
        row |= {"mrr": "1.000000", "recall": "1.000000", "first_relevant_rank": 1}
    baseline["backends"][0] |= {"mrr": "1.000000", "recall": "1.000000"}
    (tmp_path / "code.baseline.json").write_text(json.dumps(baseline), "utf-8")
    shutil.copy(ROOT / "eval" / "gate.toml", tmp_path / "gate.toml")
    return str(tmp_path / "gate.toml")


@needs_bash
@pytest.mark.process
def test_a_gate_that_blocks_is_shown_and_only_the_last_step_fails(
    runner: Runner, steps: dict[str, Step], changed: str
) -> None:
    result = runner.run(steps["Measure"], **{**GATE, "POLICY": changed})
    assert result.returncode == 0
    assert (runner.outputs["verdict"], runner.outputs["exit-code"]) == ("BLOCK", "1")
    assert runner.reports == ALL_REPORTS
    assert "::error title=" in result.stdout
    assert "line=" in result.stdout
    assert "BLOCK" in runner.summary.read_text("utf-8")
    verdict = runner.run(steps["Verdict"], EXIT_CODE=runner.outputs["exit-code"])
    assert verdict.returncode == 1


@needs_bash
@pytest.mark.parametrize("compare", ["", "bm25,hybrid"])
@pytest.mark.process
def test_a_set_is_reported_and_never_refused(runner: Runner, steps: dict[str, Step], compare: str) -> None:
    given = {**GATE, "POLICY": "", "FIXTURES": "eval/docs.jsonl", "COMPARE": compare}
    result = runner.run(steps["Measure"], **given)
    assert (result.returncode, result.stderr) == (0, "")
    assert (runner.outputs["verdict"], runner.outputs["exit-code"]) == ("MEASURED", "0")
    assert runner.reports == ALL_REPORTS
    saved = json.loads((runner.temp / "cce-relevance-reports" / "report.json").read_bytes())
    assert ("evidence" in saved) == bool(compare)
    assert runner.run(steps["Verdict"], EXIT_CODE="0").returncode == 0


@needs_bash
@pytest.mark.process
def test_what_cannot_be_measured_is_told_as_an_error_and_in_the_summary(
    runner: Runner, steps: dict[str, Step]
) -> None:
    result = runner.run(steps["Measure"], **{**GATE, "POLICY": "eval/100%.toml"})
    assert result.returncode == 0
    assert (runner.outputs["verdict"], runner.outputs["exit-code"]) == ("INVALID", "2")
    assert "::error title=cce relevance::error: eval/100%25.toml: cannot read the policy" in result.stdout
    assert "\n    error: eval/100%.toml: cannot read the policy" in runner.summary.read_text("utf-8")
    assert runner.reports == {"comment.md"}
    assert runner.run(steps["Verdict"], EXIT_CODE="2").returncode == 2


@needs_bash
@pytest.mark.parametrize(
    "given",
    [{"POLICY": ""}, {"FIXTURES": "eval/code.jsonl"}, {"COMPARE": "a,b"}, {"POLICY": "", "COMPARE": "a,b"}],
)
@pytest.mark.process
def test_inputs_that_do_not_go_together_are_refused(
    runner: Runner, steps: dict[str, Step], given: dict[str, str]
) -> None:
    result = runner.run(steps["Measure"], **{**GATE, **given})
    assert result.returncode == 2
    assert result.stdout.startswith("::error title=cce relevance::give the input policy, or")


@needs_bash
@pytest.mark.process
def test_reports_of_an_earlier_use_are_gone(runner: Runner, steps: dict[str, Step]) -> None:
    (runner.temp / "cce-relevance-reports").mkdir()
    (runner.temp / "cce-relevance-reports" / "old").write_text("", "utf-8")
    runner.run(steps["Measure"], **GATE)
    assert runner.reports == ALL_REPORTS


@needs_bash
@pytest.mark.process
def test_cce_is_installed_from_the_action_s_own_revision(runner: Runner, steps: dict[str, Step]) -> None:
    # In place of Python: writes down what it was asked, and makes itself the Python of the environment.
    recorder = """
import os, shutil, sys
with open(os.environ["RUNNER_TEMP"] + "/asked", "a") as stream:
    stream.write(" ".join(sys.argv[1:]) + "\\n")
if sys.argv[1:3] == ["-m", "venv"]:
    os.makedirs(sys.argv[3] + "/bin")
    shutil.copy(__file__, sys.argv[3] + "/bin/python")
"""
    runner.program("recorder", recorder)
    result = runner.run(steps["Install cce"], PYTHON=str(runner.programs / "recorder"))
    assert (result.returncode, result.stderr) == (0, "")
    venv = runner.temp / "cce-relevance-venv"
    asked = (runner.temp / "asked").read_text("utf-8").splitlines()
    assert asked[0] == f"-m venv {venv}"
    assert asked[1].startswith("-m pip install ")
    assert (Path(asked[1].split()[-1]).resolve() / "pyproject.toml").is_file()
    assert runner.outputs == {"python": f"{venv}/bin/python"}


FAKE_GH = """
import json, os, re, sys
folder = os.environ["RUNNER_TEMP"]
place = folder + "/comments.json"
comments = json.load(open(place)) if os.path.exists(place) else []
words = sys.argv[1:]
assert words[0] == "api", words
denied = os.environ.get("GH_TOKEN")
method = words[words.index("--method") + 1] if "--method" in words else "GET"
if denied == f"no {method}":
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
url = next(word for word in words if word.startswith("repos/"))
if method == "GET":
    assert url == "repos/somebody/something/issues/7/comments?per_page=100", url
    marker = re.search(r'startswith\\("(.*)"\\)', words[words.index("--jq") + 1])[1]
    for comment in comments:
        if comment["body"].startswith(marker):
            print(comment["id"])
else:
    body = words[words.index("--field") + 1]
    text = open(body.removeprefix("body=@"), encoding="utf-8").read()
    if method == "POST":
        assert url == "repos/somebody/something/issues/7/comments", url
        comments.append({"id": 1000 + len(comments), "body": text})
    else:
        (comment,) = [each for each in comments if url.endswith(f"/issues/comments/{each['id']}")]
        comment["body"] = text
    json.dump(comments, open(place, "w"))
"""

Say = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def say(runner: Runner, steps: dict[str, Step]) -> Say:
    """Run the comment step with this report."""
    runner.program("gh", FAKE_GH)
    reports = runner.folder / "reports"
    reports.mkdir()

    def run(report: str, **given: str) -> subprocess.CompletedProcess[str]:
        (reports / "comment.md").write_text(report, "utf-8")
        usual = {"GH_TOKEN": "t", "PULL_REQUEST": "7", "REPORTS": str(reports), "ASKED": "eval/gate.toml  "}
        return runner.run(steps["Comment"], **{**usual, **given})

    return run


def bodies(runner: Runner) -> list[str]:
    place = runner.temp / "comments.json"
    return [each["body"] for each in json.loads(place.read_text("utf-8"))] if place.exists() else []


@needs_bash
@pytest.mark.process
def test_one_comment_is_made_and_then_changed_in_place(runner: Runner, say: Say) -> None:
    (runner.temp / "comments.json").write_text(json.dumps([{"id": 9, "body": "Nice!"}]), "utf-8")
    assert say("## GATE: BLOCK\n").returncode == 0
    assert say("## GATE: GO\n").returncode == 0
    other, ours = bodies(runner)
    assert other == "Nice!"
    marker, *lines = ours.splitlines()
    assert re.fullmatch(r"<!-- cce-relevance:[0-9]+ -->", marker)
    assert lines == [
        "## GATE: GO",
        "",
        "[All reports of this run](https://github.example/somebody/something/actions/runs/42)",
    ]


@needs_bash
@pytest.mark.process
def test_two_gates_keep_two_comments(runner: Runner, say: Say) -> None:
    say("code\n")
    say("docs\n", ASKED="eval/gate-docs.toml  ")
    say("code again\n")
    assert [body.splitlines()[1] for body in bodies(runner)] == ["code again", "docs"]


@needs_bash
@pytest.mark.parametrize(
    ("given", "notice"),
    [
        ({"GH_TOKEN": ""}, "no token to comment with"),
        ({"PULL_REQUEST": ""}, "no pull request to comment on"),
        ({"GH_TOKEN": "no GET"}, "the comments cannot be read with this token"),
        ({"GH_TOKEN": "no POST"}, "no comment can be made with this token"),
    ],
)
@pytest.mark.process
def test_without_the_right_to_write_the_summary_has_to_do(
    runner: Runner, say: Say, given: dict[str, str], notice: str
) -> None:
    result = say("## GATE: GO\n", **given)
    assert result.returncode == 0
    assert result.stdout == f"::notice title=cce relevance::{notice}; the report is in the step summary\n"
    assert bodies(runner) == []


@needs_bash
@pytest.mark.process
def test_a_comment_that_may_not_be_changed_stays(runner: Runner, say: Say) -> None:
    say("first\n")
    result = say("second\n", GH_TOKEN="no PATCH")
    assert (result.returncode, "cannot be changed" in result.stdout) == (0, True)
    assert bodies(runner)[0].splitlines()[1] == "first"


@needs_bash
@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.process
def test_a_script_is_sound_for_bash(name: str) -> None:
    checked = subprocess.run(["bash", "-n", str(FOLDER / name)], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
    text = (FOLDER / name).read_text("utf-8")
    assert text.startswith("#!/usr/bin/env bash\n")
    assert "\nset -euo pipefail\n" in text
