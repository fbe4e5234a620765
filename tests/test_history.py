from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cce.cli.main import main
from cce.domain.history import BaselineHistory, BaselineVersion, LabelChanges
from cce.domain.report import Report
from cce.domain.scores import METRICS
from cce.report.html.history import render_history_html
from cce.report.json.report_v2 import render_json
from cce.report.text.history import render_history_text, sparkline
from score_rows import Row, score_of

Capture = pytest.CaptureFixture[bytes]
FIRST = LabelChanges(changed=0, added=0, removed=0)


def version(mean: float, labels: LabelChanges | None = FIRST, subject: str = "a change") -> BaselineVersion:
    return BaselineVersion(
        "ab" * 20, "2026-01-02T03:04:05Z", subject, 7, dict.fromkeys(METRICS, mean), labels
    )


BROKEN = BaselineVersion("cd" * 20, "2026-01-02T03:04:05Z", "half a file", 0, {}, None, "no whole JSON")


def test_a_bar_is_as_high_as_its_mean_between_the_lowest_and_the_highest() -> None:
    assert sparkline("mrr", [version(0.1, None), version(0.8), version(0.45)]) == "▁█▄"
    assert sparkline("mrr", [version(0.5, None), version(0.5)]) == "▅▅"


@pytest.mark.parametrize("labels", [LabelChanges(1, 0, 0), LabelChanges(0, 1, 0), LabelChanges(None, 0, 2)])
def test_a_version_with_other_labels_or_cases_starts_a_new_line(labels: LabelChanges) -> None:
    assert sparkline("mrr", [version(0.1, None), version(0.8, labels)]) == "▁|█"
    page = render_history_html(
        BaselineHistory("b.json", "hybrid", METRICS, (version(0.1, None), version(0.5), version(0.8, labels)))
    )
    # Two versions joined, and a break before the third, in each of four plots.
    assert (page.count('class="trend"'), page.count('class="break"')) == (4, 4)
    assert page.count('class="version"') == 12


def test_unknown_labels_end_no_line() -> None:
    assert sparkline("mrr", [version(0.1, None), version(0.8, LabelChanges(None, 0, 0))]) == "▁█"


def test_a_version_that_cannot_be_read_has_no_figures_and_says_why() -> None:
    history = BaselineHistory("b.json", "hybrid", METRICS, (version(0.1, None), BROKEN, version(0.2)))
    text = render_history_text(history)
    assert "▁?█" in text
    assert "  cdcdcdcdcd  2026-01-02    n/a             n/a" in text
    assert text.endswith("a change\n")
    assert "half a file (no whole JSON)" in text


def test_the_sparkline_of_a_long_history_shows_the_newest_and_says_so() -> None:
    versions = tuple(version(number / 100, FIRST if number else None) for number in range(100))
    text = render_history_text(BaselineHistory("b.json", "hybrid", METRICS, versions))
    assert "no comparison, without the 40 older versions)" in text
    assert "  MRR     0.400000  0.990000  0.990000    ▁" in text
    assert text.count("ababababab") == 100


def test_a_shallow_clone_is_said() -> None:
    history = BaselineHistory("b.json", "hybrid", METRICS, (version(0.5, None),), is_cut=True)
    said = "his clone is shallow: older versions may be missing, git fetch --unshallow brings them"
    assert said in render_history_text(history)
    assert said in render_history_html(history)


def test_what_a_commit_says_cannot_leave_its_place() -> None:
    odd = version(0.5, None, subject="<script>alert(1)</script>\x1b[31m")
    history = BaselineHistory("<b>.json", "hybrid", METRICS, (odd,))
    assert "<script" not in render_history_html(history)
    assert "\x1b" not in render_history_html(history) + render_history_text(history)


Save = Callable[..., None]


@pytest.fixture
def work_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository as the working directory."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    git("init", "-q", "-b", "main")
    return tmp_path


def git(*arguments: str, day: int = 1) -> None:
    moment = f"2026-03-{day:02d}T12:00:00Z"
    environment = {**os.environ, "GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(("git", *identity, *arguments), env=environment, check=True, capture_output=True)


def commit(
    name: str, mrr: float, day: int, ids: str = "ab", labels: Mapping[str, str] | None = None, k: int = 10
) -> None:
    """Commit a baseline in which every case has this mrr."""
    rows = [Row(each, k, 0.5, 0.5, mrr, 0.5, 1, None) for each in ids]
    fields: dict[str, Any] = json.loads(
        render_json(Report("src", "hash", len(ids), (score_of("hybrid", rows),), None))
    )
    if labels is not None:
        fields["labels"] = {
            each: {"critical": False, "digest": digest, "tags": []} for each, digest in labels.items()
        }
    Path(name).write_text(json.dumps(fields))
    git("add", "-A")
    git("commit", "-q", "-m", f"mrr {mrr}", day=day)


def history(capture: Capture, *arguments: str) -> dict[str, Any]:
    assert main(["history", *arguments, "--json"]) == 0
    out, err = capture.readouterr()
    assert err == b""
    fields: dict[str, Any] = json.loads(out)
    return fields


def refused(capture: Capture, *arguments: str) -> str:
    assert main(["history", *arguments]) == 2
    out, err = capture.readouterr()
    assert out == b""
    return err.decode().removeprefix("error: ").rstrip("\n")


@pytest.mark.process
def test_every_version_is_there_oldest_first_with_what_changed(
    work_tree: Path, capsysbinary: Capture
) -> None:
    one, other = "0" * 16, "1" * 16
    commit("b.json", 0.25, 1)
    commit("b.json", 0.5, 2, labels={"a": one, "b": one})
    (work_tree / "unrelated.txt").write_text("x")
    git("add", "-A")
    git("commit", "-q", "-m", "nothing about it", day=3)
    commit("b.json", 0.75, 4, labels={"a": one, "b": other})
    commit("b.json", 1.0, 5, ids="ac", labels={"a": one, "c": "2" * 16})
    fields = history(capsysbinary, "b.json")
    versions = fields["versions"]
    assert [(each["subject"], each["date"][:10], each["means"]["mrr"]) for each in versions] == [
        ("mrr 0.25", "2026-03-01", "0.250000"),
        ("mrr 0.5", "2026-03-02", "0.500000"),
        ("mrr 0.75", "2026-03-04", "0.750000"),
        ("mrr 1.0", "2026-03-05", "1.000000"),
    ]
    assert [each["labels"] for each in versions] == [
        None,
        {"changed": None, "added": 0, "removed": 0},
        {"changed": 1, "added": 0, "removed": 0},
        {"changed": 0, "added": 1, "removed": 1},
    ]
    assert [each["starts_line"] for each in versions] == [True, False, True, True]
    assert (fields["backend"], fields["shallow"]) == ("hybrid", False)
    assert main(["history", "b.json"]) == 0
    text = capsysbinary.readouterr().out.decode()
    assert "  MRR     0.250000  1.000000  1.000000    ▁▃|▅|█\n" in text
    assert "2026-03-05      2  0, 1 new, 1 gone  0.500000  0.500000  1.000000  0.500000  mrr 1.0\n" in text


@pytest.mark.process
def test_a_renamed_baseline_keeps_its_history(work_tree: Path, capsysbinary: Capture) -> None:
    commit("old name.json", 0.25, 1)
    (work_tree / "eval").mkdir()
    git("mv", "old name.json", "eval/new ü.json")
    git("commit", "-q", "-m", "move it", day=2)
    commit("eval/new ü.json", 0.5, 3)
    versions = history(capsysbinary, "eval/new ü.json")["versions"]
    assert [each["means"]["mrr"] for each in versions] == ["0.250000", "0.250000", "0.500000"]


@pytest.mark.process
def test_a_case_under_another_id_is_the_same_case(work_tree: Path, capsysbinary: Capture) -> None:
    commit("b.json", 0.25, 1, labels={"a": "0" * 16, "b": "1" * 16})
    commit("b.json", 0.5, 2, ids="ac", labels={"a": "0" * 16, "c": "1" * 16})
    _, last = history(capsysbinary, "b.json")["versions"]
    assert (last["labels"], last["starts_line"]) == ({"changed": 0, "added": 0, "removed": 0}, False)


@pytest.mark.process
def test_a_merge_that_chose_its_own_baseline_is_a_version(work_tree: Path, capsysbinary: Capture) -> None:
    commit("b.json", 0.25, 1)
    git("checkout", "-q", "-b", "side")
    commit("b.json", 0.5, 2)
    git("checkout", "-q", "main")
    commit("b.json", 0.75, 3)
    with pytest.raises(subprocess.CalledProcessError):
        git("merge", "-q", "side", day=4)
    commit("b.json", 1.0, 4)
    means = [each["means"]["mrr"] for each in history(capsysbinary, "b.json")["versions"]]
    assert means == ["0.250000", "0.500000", "0.750000", "1.000000"]


@pytest.mark.process
def test_another_k_is_another_exam_and_a_broken_version_is_told(
    work_tree: Path, capsysbinary: Capture
) -> None:
    commit("b.json", 0.25, 1)
    Path("b.json").write_text("<<<<<<< HEAD\n")
    git("commit", "-q", "-a", "-m", "oops", day=2)
    git("rm", "-q", "b.json")
    git("commit", "-q", "-m", "away", day=3)
    commit("b.json", 0.25, 4, k=5)
    first, broken, last = history(capsysbinary, "b.json")["versions"]
    assert "no whole JSON document" in broken["fault"]
    assert "means" not in broken
    assert last["labels"] == {"changed": 2, "added": 0, "removed": 0}
    assert (first["starts_line"], last["starts_line"]) == (True, True)


@pytest.mark.process
def test_without_history_it_says_so(
    work_tree: Path, capsysbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("b.json").write_text("{}")
    assert (
        refused(capsysbinary, "b.json") == "b.json: no commit has it, so it has no history: commit it first"
    )
    git("add", "-A")
    git("commit", "-q", "-m", "no report", day=1)
    assert refused(capsysbinary, "b.json") == ("b.json: no version of it is a saved report: name a baseline")
    monkeypatch.setenv("PATH", str(work_tree / "nowhere"))
    assert refused(capsysbinary, "b.json") == (
        "git cannot be run (No such file or directory): a history needs it, install it"
    )


def test_outside_of_git_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("b.json").write_text("{}")
    assert refused(capsysbinary, "b.json") == (
        "b.json: is in no git work tree, so it has no history: commit it to one"
    )


@pytest.mark.process
def test_a_baseline_of_several_backends_needs_a_name(work_tree: Path, capsysbinary: Capture) -> None:
    rows = [Row("a", 10, 0.5, 0.5, 0.5, 0.5, 1, None)]
    scores = (score_of("bm25", rows), score_of("hybrid", rows))
    Path("b.json").write_text(render_json(Report("src", "hash", 1, scores, None)))
    git("add", "-A")
    git("commit", "-q", "-m", "two", day=1)
    assert refused(capsysbinary, "b.json") == "b.json: holds bm25, hybrid: choose one with --backend"
    assert "did you mean 'bm25'" in refused(capsysbinary, "b.json", "--backend", "bm52")
    assert history(capsysbinary, "b.json", "--backend", "bm25")["backend"] == "bm25"


@pytest.mark.process
def test_a_page_replaces_its_older_self_and_nothing_else(work_tree: Path, capsysbinary: Capture) -> None:
    commit("b.json", 0.25, 1)
    for _ in range(2):
        assert main(["history", "b.json", "--report", "html=page.html", "--report", "json=h.json"]) == 0
    assert b"CCE history" in capsysbinary.readouterr().out
    assert "Content-Security-Policy" in (work_tree / "page.html").read_text()
    assert json.loads((work_tree / "h.json").read_text())["schema"] == "cce.history/v1"
    assert "would replace the baseline" in refused(capsysbinary, "b.json", "--report", "text=b.json")
    assert "known: text, json, html" in refused(capsysbinary, "b.json", "--report", "markdown=x.md")
