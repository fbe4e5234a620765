"""`cce gate` as its users meet it: from the first baseline to a refused change, and every wrong turn."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from answers import refused
from cce.cli.main import main
from cce.domain.gate import Rule
from conftest import Run
from trees import open_directory, unprivileged_with

__all__ = ["open_directory"]  # a fixture

CASES: list[dict[str, Any]] = [
    {"id": "load", "query": "load config", "expected": ["config.py"], "k": 2, "critical": True},
    {"id": "save", "query": "save orders", "expected": ["orders.py"], "k": 2, "tags": ["slow"]},
    {"id": "gone", "query": "print letter", "expected": ["letter.py"], "k": 2, "tags": ["slow"]},
]
CORPUS = {
    "config.py": "def load_config(path):\n    return path  # load config\n",
    "orders.py": "def save_orders(orders):\n    return orders  # save orders\n",
    "letter.py": "def print_letter(letter):\n    return letter  # print letter\n",
}
POLICY = 'schema = "cce.gate/v1"\nfixtures = "set.jsonl"\nbackend = "bm25"\nbaseline = "baseline.json"\n'

Answer = "tuple[int, str, str]"
Ask = Callable[..., "tuple[int, str, str]"]


class Project:
    """A policy, a set and a corpus in a folder called eval."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "eval"
        (self.folder / "src").mkdir(parents=True)
        for name, text in CORPUS.items():
            self.write(f"src/{name}", text)
        self.write_set(*CASES)
        self.write("gate.toml", POLICY)

    @property
    def baseline(self) -> Path:
        return self.folder / "baseline.json"

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_bytes(text.encode())

    def write_set(self, *cases: dict[str, Any]) -> None:
        lines = [{"schema": "cce.relevance/v1", "corpus": "src"}, *cases]
        self.write("set.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    def policy(self, more: str, **other: str) -> None:
        text = POLICY
        for key, value in other.items():
            text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith(f"{key} ="))
            text += f"{key} = {value}\n"
        self.write("gate.toml", text + more)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """`cce gate eval/gate.toml ...`: exit code, standard output, standard error."""

    def run(*options: str, policy: str = "eval/gate.toml") -> tuple[int, str, str]:
        code = main(["gate", policy, *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def accepted(ask: Ask) -> None:
    assert ask("--accept")[0] == 0


# Outcomes and exit codes.


def test_what_was_accepted_goes(project: Project, ask: Ask) -> None:
    accepted(ask)
    assert ask() == (0, "GATE: GO\n", "")


def test_a_lost_critical_case_blocks(project: Project, ask: Ask) -> None:
    accepted(ask)
    project.write("src/config.py", "def nothing():\n    return 0\n")
    code, out, err = ask()
    assert (code, err) == (1, "")
    assert out == "GATE: BLOCK\n  block:  critical case load has no relevant result in its top 2\n"


def test_a_new_case_is_for_review_and_strict_refuses_it(project: Project, ask: Ask) -> None:
    accepted(ask)
    project.write_set(*CASES, {**CASES[0], "id": "new", "critical": False})
    told = "GATE: REVIEW\n  review: 1 case without a baseline (new)\n"
    assert ask() == (0, told, "")
    assert ask("--strict") == (1, told, "")


def test_levels_stand_in_one_column(project: Project, ask: Ask) -> None:
    accepted(ask)
    project.policy('[floor]\nrecall = 1\n[evidence]\nmetrics = ["mrr"]\n')
    project.write("src/letter.py", "def nothing():\n    return 0\n")
    assert ask()[1] == (
        "GATE: BLOCK\n"
        "  block:  recall 0.666667 is below its floor 1.000000, as is 1 case (gone)\n"
        "  review: mrr worse for 1 case (gone), better for 0 (sign test p = 1.000000)\n"
        "  review: 3 cases cannot tell about mrr: the least p they can give is 0.250000, alpha 0.050000\n"
    )


def test_a_floor_may_be_a_metric_that_needs_the_index(project: Project, ask: Ask) -> None:
    project.policy("[floor]\nndcg = 1\n")
    accepted(ask)
    project.write("src/letter.py", "def nothing():\n    return 0\n")
    # The anchored file is still indexed, so that the figure is 0 and not undefined.
    code, out, _ = ask()
    assert code == 1
    assert "ndcg 0.666667 is below its floor 1.000000, as is 1 case (gone)" in out


def test_a_slice_has_limits_of_its_own(project: Project, ask: Ask) -> None:
    project.policy("[slices.slow.drop]\nrecall = 0.4\n")
    accepted(ask)
    project.write("src/letter.py", "def nothing():\n    return 0\n")
    code, out, _ = ask()
    assert code == 1
    assert "slice slow: recall fell by 0.500000 from 1.000000 to 0.500000, limit 0.400000" in out


def test_another_backend_of_the_baseline_can_be_held_against(project: Project, ask: Ask) -> None:
    accepted(ask)
    project.policy("[drop]\nrecall = 0.2\n", backend='"vector"', baseline_backend='"bm25"')
    code, out, err = ask()
    assert (code, out, err) == (0, "GATE: GO\n", "")


# Accepting.


def test_the_first_baseline_is_a_report_that_compare_reads(project: Project, ask: Ask) -> None:
    code, out, err = ask("--accept")
    assert (code, err) == (0, "")
    assert out == (
        "GATE: GO\n"
        "  accepted: baseline.json is the first baseline of bm25\n"
        "    precision_at_k  0.500000\n"
        "    recall          1.000000\n"
        "    mrr             1.000000\n"
        "    f1              0.666667\n"
    )
    assert main(["compare", "eval/baseline.json", "eval/baseline.json"]) == 0


def test_accepting_says_what_moved_and_judges_by_what_was_accepted(project: Project, ask: Ask) -> None:
    project.policy("[drop]\nrecall = 0.25\n")
    accepted(ask)
    project.write("src/letter.py", "def nothing():\n    return 0\n")
    project.write_set(*CASES[:1], CASES[2], {**CASES[0], "id": "new"})
    assert ask()[0] == 1
    code, out, err = ask("--accept")
    assert (code, err) == (0, "")
    assert out == (
        "GATE: GO\n"
        "  accepted: baseline.json is the new baseline of bm25\n"
        "    precision_at_k  0.500000  →  0.333333  -0.166667\n"
        "    recall          1.000000  →  0.666667  -0.333333\n"
        "    mrr             1.000000  →  0.666667  -0.333333\n"
        "    f1              0.666667  →  0.444444  -0.222223\n"
        "    worse: 1 (gone)\n"
        "    added: 1 (new)\n"
        "    removed: 1 (save)\n"
    )
    assert ask() == (0, "GATE: GO\n", "")


def test_an_absolute_limit_cannot_be_accepted_away(project: Project, ask: Ask) -> None:
    project.policy("[floor]\nrecall = 1\n")
    project.write("src/letter.py", "def nothing():\n    return 0\n")
    code, out, _ = ask("--accept")
    assert code == 1
    assert out.startswith("GATE: BLOCK\n  block:  recall 0.666667 is below its floor 1.000000")
    assert project.baseline.exists()
    assert ask()[0] == 1


def test_accepting_nothing_new_changes_no_byte_from_wherever_it_is_done(
    project: Project, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted(ask)
    before = project.baseline.read_bytes()
    accepted(ask)
    assert project.baseline.read_bytes() == before
    monkeypatch.chdir(project.folder)
    assert ask("--accept", policy="gate.toml")[0] == 0
    assert project.baseline.read_bytes() == before
    assert str(project.root).encode() not in before


def test_accepting_measures_every_backend_of_the_baseline_anew(project: Project, ask: Ask) -> None:
    main(
        [
            "relevance",
            "eval/set.jsonl",
            "--backend",
            "hybrid,bm25,vector",
            "--report",
            "json=eval/baseline.json",
        ]
    )
    project.write_set(*CASES[:2])
    accepted(ask)
    saved = json.loads(project.baseline.read_bytes())
    assert [(row["backend"], len(row["per_query"])) for row in saved["backends"]] == [
        ("hybrid", 2),
        ("bm25", 2),
        ("vector", 2),
    ]


def test_a_baseline_that_cannot_be_read_is_not_replaced(project: Project, ask: Ask) -> None:
    project.baseline.write_text("{}", "utf-8")
    fault = refused(ask("--accept"))
    assert "eval/baseline.json: not a report" in fault
    assert fault.endswith(", or remove it and make a new one with cce gate eval/gate.toml --accept")
    assert project.baseline.read_text("utf-8") == "{}"


def test_a_baseline_that_cannot_be_written_is_told(
    open_directory: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    project = Project(open_directory)
    monkeypatch.chdir(open_directory)
    for path in (project.folder, project.folder / "src"):
        path.chmod(0o755)
    with unprivileged_with(open_directory, {"eval": 0o555}):
        assert "name a writable baseline in the policy" in refused(ask("--accept"))
    assert not project.baseline.exists()


# What is wrong.


def test_without_a_baseline_there_is_a_way_to_make_one(project: Project, ask: Ask) -> None:
    assert refused(ask()) == (
        "eval/baseline.json: there is no baseline, make one with cce gate eval/gate.toml --accept"
    )


@pytest.mark.parametrize(
    ("more", "other", "message"),
    [
        ("", {"backend": '"bm52"'}, "eval/gate.toml: backend: unknown backend 'bm52'; did you mean 'bm25'?"),
        ("", {"fixtures": '"sets.jsonl"'}, "eval/sets.jsonl: cannot read the fixture set"),
        ("", {"baseline_backend": '"hybird"'}, "eval/baseline.json: unknown backend 'hybird'"),
        ("", {"dir": '"nowhere"'}, "eval/nowhere: "),
        ("", {"store": '"nowhere"'}, "eval/nowhere: "),
        (
            "",
            {"critical": '["laod"]'},
            "eval/gate.toml: critical: unknown case id 'laod'; did you mean 'load'?",
        ),
        (
            "[slices.slwo.floor]\nmrr = 1",
            {},
            "eval/gate.toml: slices: unknown tag 'slwo'; did you mean 'slow'?",
        ),
        ("[floor]\nrecal = 1", {}, "eval/gate.toml: floor: unknown metric 'recal'; did you mean 'recall'?"),
        ("[floor]\ntoken_iou = 1", {}, "eval/gate.toml: floor.token_iou: undefined for every case there"),
    ],
)
def test_a_wrong_policy_is_one_line_with_the_way_out(
    project: Project, ask: Ask, more: str, other: dict[str, str], message: str
) -> None:
    accepted(ask)
    project.policy(more, **other)
    assert refused(ask()).startswith(message)


def test_a_baseline_of_another_set_is_foreign(project: Project, ask: Ask) -> None:
    accepted(ask)
    project.write_set(*({**case, "id": f"other-{case['id']}", "k": 9} for case in CASES))
    assert refused(ask()).startswith("eval/baseline.json: the baseline shares no case with the set")


def test_an_id_used_twice_is_refused(project: Project, ask: Ask) -> None:
    project.write_set(CASES[0], CASES[0])
    assert refused(ask("--accept")).startswith("eval/set.jsonl: 2 cases are called 'load'")


def test_a_missing_policy_is_told(project: Project, ask: Ask) -> None:
    assert refused(ask(policy="eval/gaet.toml")).startswith("eval/gaet.toml: cannot read the policy")


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ("json=eval/gate.toml", "would replace the policy"),
        ("json=eval/set.jsonl", "would replace the fixture set"),
        ("json=eval/src/../baseline.json", "would replace the baseline"),
        ("jsn=-", "unknown format 'jsn'; did you mean 'json'?"),
        ("json=eval", "is a directory"),
    ],
)
def test_a_wrong_report_is_refused_before_anything_is_written(
    project: Project, ask: Ask, report: str, message: str
) -> None:
    assert message in refused(ask("--accept", "--report", report))
    assert not project.baseline.exists()


# Notices.


def test_a_drop_finer_than_the_set_can_measure_is_noticed(project: Project, ask: Ask) -> None:
    # One of three cases that loses half of its figure lowers the mean by a sixth.
    project.policy("[drop]\nrecall = 0.166666\nmrr = 0.166667\n")
    accepted(ask)
    code, out, err = ask()
    assert (code, out) == (0, f"GATE: GO\n  {err}")
    assert err == (
        "warning: eval/gate.toml: drop.recall: 0.166666 is under 1 / (2 n) = 0.166667 for 3 cases: "
        "one that loses half breaks it\n"
    )


def test_a_baseline_whose_mean_is_not_that_of_its_cases_is_noticed(project: Project, ask: Ask) -> None:
    accepted(ask)
    saved = json.loads(project.baseline.read_bytes())
    saved["backends"][0]["recall"] = "0.500000"
    project.baseline.write_text(json.dumps(saved), "utf-8")
    code, out, err = ask()
    assert (code, out) == (0, f"GATE: GO\n  {err}")
    assert err.startswith(
        "warning: eval/baseline.json: backend 'bm25' has means that its cases do not have, "
        "recall 0.500000 (its cases give 1.000000): it was edited, "
    )
    assert ask("--accept")[2] == "", "what was edited is gone"


def test_another_embedder_is_noticed(project: Project, ask: Ask) -> None:
    accepted(ask)
    saved = json.loads(project.baseline.read_bytes())
    project.baseline.write_text(json.dumps({**saved, "embedder": "ollama"}), "utf-8")
    code, out, err = ask()
    assert (code, out) == (0, f"GATE: GO\n  {err}")
    assert "was measured with the embedder ollama, the candidate with hash" in err


# Reports.


def test_the_json_has_the_verdict_the_reasons_the_digest_and_the_policy(project: Project, ask: Ask) -> None:
    project.policy(
        'critical = ["save"]\n[floor]\nrecall = 0.9\n[evidence]\nmetrics = ["mrr"]\nresamples = 10\n'
    )
    accepted(ask)
    project.write("src/config.py", "def nothing():\n    return 0\n")
    code, out, err = ask("--json")
    assert (code, err) == (1, "")
    answer = json.loads(out)
    assert out == json.dumps(answer, indent=2, sort_keys=True) + "\n"
    assert (answer["schema"], answer["verdict"]) == ("cce.gate.report/v1", "BLOCK")
    assert (answer["refused"], answer["strict"]) == (True, False)
    assert answer["reasons"][0] == {
        "level": "block",
        "rule": "critical-missed",
        "metric": "hit",
        "tag": None,
        "seen": 0,
        "limit": 1,
        "case_ids": ["load"],
        "text": "critical case load has no relevant result in its top 2",
    }
    assert [(each["rule"], each["seen"], each["limit"]) for each in answer["reasons"][1:]] == [
        ("floor", "0.666667", "0.900000"),
        ("more-worse", 1, 0),
        ("cannot-tell", "0.250000", "0.050000"),
    ]
    digest = hashlib.sha256((project.folder / "set.jsonl").read_bytes()).hexdigest()
    assert answer["fixtures"] == {"path": "set.jsonl", "sha256": digest, "cases": 3}
    assert answer["policy"]["floor"] == {"recall": "0.900000"}
    assert answer["policy"]["critical"] == ["save"]
    assert (answer["baseline"]["recall"], answer["candidate"]["recall"]) == ("1.000000", "0.666667")
    assert "accepted" not in answer


def test_the_json_says_what_was_accepted(project: Project, ask: Ask) -> None:
    _, out, _ = ask("--accept", "--json")
    told = json.loads(out)["accepted"]
    assert told["means"]["recall"] == {"before": None, "after": "1.000000"}
    assert told["added"] == ["load", "save", "gone"]


def test_text_json_and_exit_code_agree(project: Project, ask: Ask) -> None:
    accepted(ask)
    for more, outcome, code in (
        ("", "GO", 0),
        ('[evidence]\nmetrics = ["mrr"]\n', "REVIEW", 0),
        ("[floor]\nprecision_at_k = 1\n", "BLOCK", 1),
    ):
        project.policy(more)
        text = ask()
        assert (text[0], text[1].splitlines()[0]) == (code, f"GATE: {outcome}")
        as_json = ask("--json")
        assert (as_json[0], json.loads(as_json[1])["verdict"]) == (code, outcome)


def test_every_format_is_written_and_names_no_machine(project: Project, ask: Ask) -> None:
    accepted(ask)
    project.write("src/config.py", "def nothing():\n    return 0\n")
    formats = ("text", "json", "markdown", "html", "junit", "github")
    asked = [word for name in formats for word in ("--report", f"{name}=gate.{name}")]
    first = ask(*asked)
    assert (first[0], first[2]) == (1, "")
    texts = {name: (project.root / f"gate.{name}").read_bytes() for name in formats}
    assert texts["text"].decode() == first[1]
    assert b"::error" in texts["github"]
    assert b"file=eval/set.jsonl,line=2" in texts["github"]
    for name, text in texts.items():
        assert str(project.root).encode() not in text, name
    ask(*asked)
    assert {name: (project.root / f"gate.{name}").read_bytes() for name in formats} == texts


def test_what_is_critical_by_the_policy_is_marked_as_such(project: Project, ask: Ask) -> None:
    project.policy('critical = ["save"]\n')
    accepted(ask)
    project.write("src/orders.py", "def nothing():\n    return 0\n")
    code, out, _ = ask("--report", "markdown=-")
    assert code == 1
    assert "<code>save</code> ★" in out


def test_a_policy_may_stand_in_another_folder(project: Project, ask: Ask) -> None:
    (project.root / "gates").mkdir()
    text = POLICY.replace('"set.jsonl"', '"../eval/set.jsonl"')
    (project.root / "gates" / "gate.toml").write_text(text, "utf-8")
    assert ask("--accept", policy="gates/gate.toml")[0] == 0
    assert (project.root / "gates" / "baseline.json").exists()
    project.write("src/config.py", "def nothing():\n    return 0\n")
    code, out, _ = ask("--report", "github=-", policy="gates/gate.toml")
    assert code == 1
    assert ",file=eval/set.jsonl,line=2::critical case load" in out


def test_a_bom_and_windows_line_ends_in_a_policy_are_fine(project: Project, ask: Ask) -> None:
    text = "\ufeff" + POLICY.replace("\n", "\r\n")
    project.write("gate.toml", text)
    accepted(ask)


def test_the_installed_command_refuses_with_exit_code_1(project: Project, ask: Ask, run_cce: Run) -> None:
    accepted(ask)
    project.write("src/config.py", "def nothing():\n    return 0\n")
    result = run_cce("gate", "eval/gate.toml", cwd=project.root)
    assert (result.returncode, result.stderr) == (1, b"")
    assert result.stdout.startswith(b"GATE: BLOCK\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no closed pipes of that sort there")
@pytest.mark.process
def test_a_reader_that_closes_early_changes_no_verdict(project: Project, ask: Ask) -> None:
    accepted(ask)
    assert exit_code_unread(project) == 0
    project.write("src/config.py", "def nothing():\n    return 0\n")
    assert exit_code_unread(project) == 1


def exit_code_unread(project: Project) -> int:
    arguments = [sys.executable, "-m", "cce", "gate", "eval/gate.toml", "--json"]
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, cwd=project.root, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        return process.wait(60)


def test_every_rule_has_a_name_for_machines() -> None:
    assert [rule.value for rule in Rule] == [
        "critical-missed",
        "critical-recall",
        "floor",
        "ceiling",
        "drop",
        "regressed",
        "more-worse",
        "critical-rank",
        "no-baseline",
        "renamed",
        "labels-changed",
        "cases-removed",
        "labels-stale",
        "labels-unmatched",
        "tags-changed",
        "not-critical",
        "failed-cases",
        "other-corpus",
        "cannot-tell",
    ]


# Our own gate.


def test_the_starter_sets_pass_their_own_gates(root: Path, run_cce: Run) -> None:
    for policy in ("eval/gate.toml", "eval/gate-docs.toml"):
        result = run_cce("gate", policy, "--strict", cwd=root)
        assert (result.returncode, result.stdout, result.stderr) == (0, b"GATE: GO\n", b""), policy
