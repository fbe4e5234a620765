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
SHIELD = FOLDER / "shield.sh"
# What a machine of GitHub's does not have from the one that tests.
OF_JOB = re.compile(r"GITHUB_|RUNNER_|PIP_|PYTHON")
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


@pytest.mark.parametrize("path", [FOLDER / "action.yml", *sorted(WORKFLOW.parent.glob("*.yml"))], ids=str)
def test_actions_of_others_are_pinned_by_a_hash_and_say_its_tag(path: Path) -> None:
    used = re.findall(r"uses: (?!\./)(.*)", path.read_text("utf-8"))
    assert used
    assert [each for each in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)] == []


def test_every_call_of_python_is_isolated_from_the_checkout() -> None:
    calls = [
        (name, line)
        for name in SCRIPTS
        for line in (FOLDER / name).read_text("utf-8").splitlines()
        if re.search(r'"\$(PYTHON|python)" ', line)
    ]
    assert len(calls) == 4
    assert [call for call in calls if not re.search(r'"\$(PYTHON|python)" -I ', call[1])] == []


def obeyed(log: str) -> list[str]:
    """The lines of a log that GitHub's runner would obey, as its source has it."""
    end, found = None, []
    for line in re.split("\r\n|\r|\n", log):
        if end is not None:
            end = None if line.strip() == f"::{end}::" else end
        elif line.lstrip().startswith("::stop-commands::"):
            end = line.strip().removeprefix("::stop-commands::")
        elif re.match(r"\s*::[a-z-]+( [^:]*)?::", line) or "##[" in line:
            found.append(line)
    assert end is None, "whatever stops commands lets them go on"
    return found


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
        self.checkout = ROOT
        self.job: Mapping[str, str] = {}

    def run(self, step: Step, **given: str) -> subprocess.CompletedProcess[str]:
        assert set(given) == set(step["env"])
        self.output.write_bytes(b"")
        self.summary.write_bytes(b"")
        environment = {
            **{name: value for name, value in os.environ.items() if not OF_JOB.match(name)},
            **self.job,
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
            cwd=self.checkout,
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
    "BASELINE_REF": "",
    "BASE": "",
    "RUN_SYSTEMS": "false",
    "EVENT": "pull_request",
    "REPOSITORY": "us/code",
    "HEAD_REPOSITORY": "us/code",
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


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a set in it, and modules that would take the place of Python's and of ours."""
    folder = tmp_path / "checkout"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("def read():\n    return 1\n", "utf-8")
    lines = [{"schema": "cce.relevance/v1", "corpus": "src"}, {"query": "read", "expected": ["a.py"]}]
    (folder / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    for name in ("types.py", "cce.py", "click.py", "sitecustomize.py", "json.py"):
        (folder / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(0)\n", "utf-8")
    return folder


@needs_bash
@pytest.mark.parametrize(
    "job", [{}, {"PYTHONPATH": "."}, {"PYTHONSAFEPATH": ""}, {"PYTHONHOME": "."}], ids=str
)
@pytest.mark.process
def test_no_module_of_the_checkout_runs(
    runner: Runner, steps: dict[str, Step], checkout: Path, job: dict[str, str]
) -> None:
    given = {**GATE, "POLICY": "", "FIXTURES": "set.jsonl"}
    runner.checkout, runner.job = checkout, job
    result = runner.run(steps["Measure"], **given)
    assert (result.returncode, result.stderr) == (0, "")
    assert runner.outputs["verdict"] == "MEASURED"
    assert not (checkout.parent / "ran").exists()
    saved = json.loads((runner.temp / "cce-relevance-reports" / "report.json").read_bytes())
    assert saved["corpus"] == "src", "as it was given, not where the runner keeps it"


COMMANDS = "::add-mask::a ##[error]b ::stop-commands::c"


@needs_bash
@pytest.mark.parametrize("field", ["id", "tags", "expected"])
@pytest.mark.process
def test_nothing_of_a_set_is_a_command_in_the_log(
    runner: Runner, steps: dict[str, Step], checkout: Path, field: str
) -> None:
    evil = {"query": "read", "expected": ["a.py", "gone.py"], "id": "x"}
    evil[field] = {"id": COMMANDS, "tags": [COMMANDS], "expected": ["a.py", COMMANDS]}[field]
    lines = [{"schema": "cce.relevance/v1", "corpus": "src"}, evil, {**evil, "query": "ead"}]
    (checkout / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    given = {**GATE, "POLICY": "", "FIXTURES": "set.jsonl", "COMPARE": "bm25,hybrid"}
    runner.checkout = checkout
    result = runner.run(steps["Measure"], **given)
    assert "##[error]b" in result.stdout
    *warnings, notice = obeyed(result.stdout)
    assert warnings, "what is doubtful is an annotation, too"
    assert all(line.startswith("::warning title=cce relevance::") for line in warnings)
    assert notice.startswith("::notice title=cce relevance::")


@needs_bash
@pytest.mark.parametrize("name", [COMMANDS, "x\n::add-mask::a\n", "--help", "\r::error::b"])
@pytest.mark.process
def test_a_path_is_no_command_in_the_log_and_no_option(
    runner: Runner, steps: dict[str, Step], checkout: Path, name: str
) -> None:
    runner.checkout = checkout
    result = runner.run(steps["Measure"], **{**GATE, "POLICY": name})
    assert (runner.outputs["verdict"], runner.outputs["exit-code"]) == ("INVALID", "2")
    (error,) = obeyed(result.stdout)
    assert error.startswith("::error title=cce relevance::error: ")
    assert set(runner.outputs) == {"verdict", "exit-code", "reports"}


@pytest.fixture
def pull_request(runner: Runner, tmp_path: Path) -> Path:
    """A checkout in which everything is lost since the base commit, and that was accepted as a baseline."""
    folder = tmp_path / "checkout"
    runner.checkout = folder
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("def load(path):\n    return path\n")
    case = '{"id": "load", "query": "load path", "expected": ["a.py@1-2"], "k": 1}'
    (folder / "set.jsonl").write_text(f'{{"schema": "cce.relevance/v1", "corpus": "src"}}\n{case}\n')
    policy = 'fixtures = "set.jsonl"\nbackend = "bm25"\nbaseline = "base.json"\n[drop]\nrecall = 0.5\n'
    (folder / "gate.toml").write_text(f'schema = "cce.gate/v1"\n{policy}')
    in_git(folder, "init", "-q")
    in_git(folder, "add", ".")
    in_git(folder, "commit", "-qm", "without a baseline")
    accept(folder)
    in_git(folder, "add", ".")
    in_git(folder, "commit", "-qm", "with a baseline")
    (folder / "src" / "a.py").write_text("def nothing():\n    return 0\n")
    accept(folder)
    return folder


PROGRAM = """\
import sys
open("started", "w").close()
sys.path.insert(0, {source!r})
from cce.retriever_stub import serve
serve(lambda query, k: ["a.py"], name="mine", version="1")
"""


@needs_bash
@pytest.mark.process
@pytest.mark.parametrize(
    ("given", "verdict", "reason"),
    [
        ({"RUN_SYSTEMS": "true"}, "GO", ""),
        ({}, "INVALID", "add --run-systems if you trust it"),
        ({"RUN_SYSTEMS": "true", "HEAD_REPOSITORY": "them/fork"}, "INVALID", "comes from another repository"),
        ({"RUN_SYSTEMS": "true", "HEAD_REPOSITORY": ""}, "INVALID", "comes from another repository"),
        ({"RUN_SYSTEMS": "true", "EVENT": "pull_request_target"}, "INVALID", "on pull_request_target"),
        ({"RUN_SYSTEMS": "true", "EVENT": "workflow_run"}, "INVALID", "on workflow_run"),
        ({"RUN_SYSTEMS": "true", "EVENT": "push", "HEAD_REPOSITORY": ""}, "GO", ""),
    ],
)
def test_a_program_runs_only_where_the_job_says_so_and_never_for_a_fork(
    runner: Runner,
    steps: dict[str, Step],
    pull_request: Path,
    given: dict[str, str],
    verdict: str,
    reason: str,
) -> None:
    (pull_request / "search.py").write_text(PROGRAM.format(source=str(ROOT / "src")))
    table = f"[system.mine]\ncommand = [{json.dumps(sys.executable)}, 'search.py']\n"
    (pull_request / "systems.toml").write_text(f'schema = "cce.systems/v1"\n{table}')
    policy = pull_request / "gate.toml"
    policy.write_text(
        'systems = "systems.toml"\n' + policy.read_text().replace('backend = "bm25"', 'backend = "mine"')
    )
    accept(pull_request, "--run-systems")
    (pull_request / "started").unlink()
    result = runner.run(steps["Measure"], **{**GATE, "POLICY": "gate.toml", "BASELINE_REF": "none", **given})
    assert runner.outputs["verdict"] == verdict
    assert reason in result.stdout
    assert (pull_request / "started").exists() == (verdict == "GO")


def accept(folder: Path, *arguments: str) -> None:
    command = (sys.executable, "-m", "cce", "gate", "gate.toml", "--accept", *arguments)
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def in_git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    done = subprocess.run(
        ("git", *identity, *arguments), cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@needs_bash
@pytest.mark.process
def test_the_baseline_of_the_base_decides_about_a_pull_request(
    runner: Runner, steps: dict[str, Step], pull_request: Path
) -> None:
    gate = {**GATE, "POLICY": "gate.toml"}
    base = in_git(pull_request, "rev-parse", "HEAD")
    for given, verdict in (
        ({}, "GO"),
        ({"BASE": base}, "BLOCK"),
        ({"BASE": base, "BASELINE_REF": "none"}, "GO"),
        ({"BASELINE_REF": "HEAD"}, "BLOCK"),
    ):
        runner.run(steps["Measure"], **{**gate, **given})
        assert runner.outputs["verdict"] == verdict, given


@needs_bash
@pytest.mark.process
def test_a_base_without_a_baseline_leaves_that_of_the_pull_request(
    runner: Runner, steps: dict[str, Step], pull_request: Path
) -> None:
    gate, first = {**GATE, "POLICY": "gate.toml"}, in_git(pull_request, "rev-parse", "HEAD~1")
    result = runner.run(steps["Measure"], **{**gate, "BASE": first})
    assert runner.outputs["verdict"] == "GO"
    assert "::warning title=cce relevance::the base of the pull request has no baseline yet" in result.stdout
    # A commit that somebody named has to have one.
    runner.run(steps["Measure"], **{**gate, "BASELINE_REF": first})
    assert runner.outputs["verdict"] == "INVALID"


@needs_bash
@pytest.mark.process
def test_a_base_that_is_not_here_is_told_with_the_way_out(
    runner: Runner, steps: dict[str, Step], pull_request: Path
) -> None:
    result = runner.run(steps["Measure"], **{**GATE, "POLICY": "gate.toml", "BASE": "1" * 40})
    assert runner.outputs["verdict"] == "INVALID"
    assert (
        "::warning title=cce relevance::the base of the pull request is not here: check out with"
        in result.stdout
    )


@needs_bash
@pytest.mark.process
def test_the_end_of_a_shield_differs_each_time(runner: Runner, steps: dict[str, Step]) -> None:
    logs = [runner.run(steps["Measure"], **GATE).stdout for _ in range(2)]
    ends = [end for log in logs for end in re.findall("::stop-commands::(.*)", log)]
    assert len(ends) == len(set(ends)) == 4
    assert all(re.fullmatch("cce-[0-9a-f]{32}", end) for end in ends)


PYTHON_THAT = """
import os, runpy, sys
words = sys.argv[1:]
if "-m" in words:
    {}
os.execv(sys.executable, [sys.executable, *words])
"""


@needs_bash
@pytest.mark.parametrize(
    ("deed", "said"),
    [
        ("sys.exit(1)", "cce ended with 1 but without whole reports"),
        ("sys.exit(0)", "cce ended with 0 but without whole reports"),
        ("raise ImportError('::add-mask::a')", "without whole reports: ImportError: ::add-mask::a"),
        ("os.kill(os.getpid(), 9)", "cce ended with 137 and said nothing"),
        ("sys.exit('a' * 5000)", "without whole reports: aaa"),
        # All reports are there and say GO, but the exit code says that the change is refused.
        (
            "import subprocess; subprocess.run([sys.executable, *words]); sys.exit(1)",
            "ended with 1 but without",
        ),
    ],
)
@pytest.mark.process
def test_an_exit_code_without_whole_reports_is_invalid(
    runner: Runner, steps: dict[str, Step], deed: str, said: str
) -> None:
    runner.program("python", PYTHON_THAT.format(deed))
    result = runner.run(steps["Measure"], **{**GATE, "PYTHON": str(runner.programs / "python")})
    assert result.returncode == 0
    assert runner.outputs["verdict"] == "INVALID"
    assert int(runner.outputs["exit-code"]) >= 2
    (error,) = obeyed(result.stdout)
    assert error.startswith("::error title=cce relevance::")
    assert said in error
    assert len(error) < 1_100
    assert said in runner.summary.read_text("utf-8")
    assert runner.reports == {"comment.md"}


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
with open(os.environ["RUNNER_TEMP"] + "/seen", "a") as stream:
    names = sorted(name for name in os.environ if name.startswith(("PYTHON", "PIP_")))
    print(os.getcwd(), *names, file=stream)
if sys.argv[2:4] == ["-m", "venv"]:
    os.makedirs(sys.argv[4] + "/bin")
    shutil.copy(__file__, sys.argv[4] + "/bin/python")
"""
    runner.program("recorder", recorder)
    job = {
        "PYTHONPATH": ".",
        "PYTHONSTARTUP": "x.py",
        "PIP_CONFIG_FILE": "pip.conf",
        "PIP_TARGET": ".",
        "PIP_INDEX_URL": "https://mirror.example/simple",
    }
    runner.job = job
    result = runner.run(steps["Install cce"], PYTHON=str(runner.programs / "recorder"))
    assert (result.returncode, result.stderr) == (0, "")
    # Outside of the checkout; of the job's settings only how the index is reached is left.
    seen = (runner.temp / "seen").read_text("utf-8").splitlines()
    assert seen == [f"{runner.temp} PIP_INDEX_URL PYTHON"] * 2
    venv = runner.temp / "cce-relevance-venv"
    asked = (runner.temp / "asked").read_text("utf-8").splitlines()
    assert asked[0] == f"-I -m venv {venv}"
    assert asked[1].startswith("-I -m pip install ")
    assert (Path(asked[1].split()[-1]).resolve() / "pyproject.toml").is_file()
    assert runner.outputs == {"python": f"{venv}/bin/python"}


@needs_bash
@pytest.mark.process
def test_what_a_failed_installation_says_is_no_command(runner: Runner, steps: dict[str, Step]) -> None:
    runner.program("broken", 'import sys\nprint("##[add-mask]a\\n::add-mask::b")\nsys.exit("::c::d %")\n')
    result = runner.run(steps["Install cce"], PYTHON=str(runner.programs / "broken"))
    assert result.returncode == 1
    assert obeyed(result.stdout) == [
        "::error title=cce relevance::no environment for cce can be made: ::c::d %25"
    ]
    assert "\n::add-mask::b\n" in result.stdout
    assert result.stderr == ""


FAKE_GH = """
import json, os, re, sys
folder = os.environ["RUNNER_TEMP"]
place = folder + "/comments.json"
comments = json.load(open(place)) if os.path.exists(place) else []
words = sys.argv[1:]
assert words[0] == "api", words
denied = os.environ.get("GH_TOKEN")
method = words[words.index("--method") + 1] if "--method" in words else "GET"
kind = os.environ.get("KIND_OF_TOKEN", "bot")
if words[1] == "graphql":
    assert words[words.index("--raw-field") + 1] == "query={viewer{login}}", words
    sys.exit("gh: no graphql") if kind in ("user", "none") else print("github-actions[bot]")
    sys.exit(0)
if words[1] == "user":
    sys.exit("gh: Resource not accessible by integration") if kind != "user" else print("octocat")
    sys.exit(0)
me = "octocat" if kind == "user" else "github-actions[bot]"
if denied == f"no {method}":
    sys.exit("gh: ::add-mask::Resource ##[error]not accessible by integration (HTTP 403)")
url = next(word for word in words if word.startswith("repos/"))
if method == "GET":
    assert url == "repos/somebody/something/issues/7/comments?per_page=100", url
    asked = words[words.index("--jq") + 1]
    marker = re.search(r'startswith\\("(.*)"\\)', asked)[1]
    login = re.search(r'user.login == "(.*?)"', asked)[1]
    assert login == me, login
    for comment in comments:
        if comment["body"].startswith(marker) and comment["user"]["login"] == login:
            print(comment["id"])
else:
    body = words[words.index("--field") + 1]
    text = open(body.removeprefix("body=@"), encoding="utf-8").read()
    if method == "POST":
        assert url == "repos/somebody/something/issues/7/comments", url
        comments.append({"id": 1000 + len(comments), "body": text, "user": {"login": me}})
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

    def run(report: str, kind: str = "bot", **given: str) -> subprocess.CompletedProcess[str]:
        (reports / "comment.md").write_text(report, "utf-8")
        usual = {"GH_TOKEN": "t", "PULL_REQUEST": "7", "REPORTS": str(reports), "ASKED": "eval/gate.toml  "}
        runner.job = {"KIND_OF_TOKEN": kind}
        return runner.run(steps["Comment"], **{**usual, **given})

    return run


def bodies(runner: Runner) -> list[str]:
    place = runner.temp / "comments.json"
    return [each["body"] for each in json.loads(place.read_text("utf-8"))] if place.exists() else []


@needs_bash
@pytest.mark.process
def test_one_comment_is_made_and_then_changed_in_place(runner: Runner, say: Say) -> None:
    (runner.temp / "comments.json").write_text(
        json.dumps([{"id": 9, "body": "Nice!", "user": {"login": "somebody"}}]), "utf-8"
    )
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
@pytest.mark.parametrize("kind", ["bot", "user", "none"])
@pytest.mark.process
def test_a_comment_of_somebody_else_that_begins_like_ours_is_left_alone(
    runner: Runner, say: Say, kind: str
) -> None:
    say("ours\n", kind)
    (ours,) = json.loads((runner.temp / "comments.json").read_text("utf-8"))
    theirs = {**ours, "id": 1, "user": {"login": "mallory"}}
    (runner.temp / "comments.json").write_text(json.dumps([theirs, ours]), "utf-8")
    say("ours again\n", kind)
    assert [body.splitlines()[1] for body in bodies(runner)] == ["ours", "ours again"]


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
    said = f"::notice title=cce relevance::{notice}; the report is in the step summary"
    assert obeyed(result.stdout) == [said]
    assert result.stderr == ""
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
    checked = subprocess.run(["bash", "-n", str(SHIELD)], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
