"""`--report FORMAT=PATH`: every report whole or not at all, and no fault harms another one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from cce.cli.exits import OutputError
from cce.cli.main import main
from cce.cli.report_files import ReportFile, parse_report_files, require_apart, write_reports
from cce.errors import UsageError
from cce.report.catalog import RENDERERS, WITH_DRILLDOWN
from conftest import Run
from trees import link, needs_fifo, open_directory, unprivileged_with

__all__ = ["open_directory"]  # a fixture

FORMATS = ("text", "json", "markdown")
STANDARD_TEXT = ReportFile("text", "-")

Ask = Callable[..., "tuple[int, str, str]"]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """`cce` beside a set of one case: exit code, standard output, standard error."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("def load():\n    return 1\n", "utf-8")
    lines = [
        {"schema": "cce.relevance/v1", "corpus": "src"},
        {"id": "load", "query": "load", "expected": ["app.py"], "k": 1},
    ]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# What is asked for.


def test_text_goes_to_standard_output_unless_another_format_does() -> None:
    assert parse_report_files([], FORMATS) == (STANDARD_TEXT,)
    assert parse_report_files(["json=-"], FORMATS) == (ReportFile("json", "-"),)
    assert parse_report_files([], FORMATS, as_json=True) == (ReportFile("json", "-"),)


def test_reports_come_in_the_order_asked_and_a_format_may_come_twice(tmp_path: Path) -> None:
    a, b = str(tmp_path / "a"), str(tmp_path / "b=c")
    assert parse_report_files([f"json={a}", f"json={b}"], FORMATS) == (
        ReportFile("json", a),
        ReportFile("json", b),
        STANDARD_TEXT,
    )


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["json"], "--report takes FORMAT=PATH, as in html=report.html or json=-; got 'json'"),
        (["json="], "--report takes FORMAT=PATH"),
        (["=a.json"], "--report =a.json: unknown format ''"),
        (
            ["jsn=a"],
            "--report jsn=a: unknown format 'jsn'; did you mean 'json'? (known: text, json, markdown)",
        ),
        (["json=-", "text=-"], "standard output is named for two reports"),
        (["json=a", "text=a"], "a is named for two reports, it takes one"),
        (["json=a", "text=./a"], "./a is named for two reports"),
        (["json=folder"], "--report json=folder: is a directory, name a file in it"),
        (["json=new/"], "--report json=new/: is a directory, name a file in it"),
        (["json=nowhere/a"], "--report json=nowhere/a: its directory does not exist, make it first"),
        (["json=file/a"], "--report json=file/a: "),
        (["json=a\0b"], "--report json=a\\x00b: "),
    ],
)
def test_what_cannot_be_written_is_refused_first(
    typed: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("kept", "utf-8")
    with pytest.raises(UsageError) as caught:
        parse_report_files(typed, FORMATS)
    assert str(caught.value).startswith(message)
    assert files(tmp_path) == {"folder", "file"}


def test_two_links_to_one_file_are_one_place(tmp_path: Path) -> None:
    link(tmp_path / "real", tmp_path / "link")
    with pytest.raises(UsageError, match="named for two reports"):
        parse_report_files([f"json={tmp_path / 'real'}", f"text={tmp_path / 'link'}"], FORMATS)


def test_a_loop_of_links_is_no_place(tmp_path: Path) -> None:
    link(tmp_path / "b", tmp_path / "a")
    link(tmp_path / "a", tmp_path / "b")
    with pytest.raises(UsageError, match=r"--report json=.*, name another file"):
        parse_report_files([f"json={tmp_path / 'a'}"], FORMATS)


def test_a_write_protected_place_is_refused(open_directory: Path) -> None:
    (open_directory / "locked").mkdir()
    (open_directory / "old").write_text("kept", "utf-8")
    with unprivileged_with(open_directory, {"old": 0o444, "locked": 0o555}):
        with pytest.raises(UsageError, match="is write-protected, name another file"):
            parse_report_files([f"json={open_directory / 'old'}"], FORMATS)
        with pytest.raises(UsageError, match="its directory is write-protected, name another one"):
            parse_report_files([f"json={open_directory / 'locked' / 'new'}"], FORMATS)


def test_a_report_may_not_replace_what_is_read(tmp_path: Path) -> None:
    report = ReportFile("json", str(tmp_path / "." / "set.jsonl"))
    with pytest.raises(UsageError, match="would replace the fixture set, name another file"):
        require_apart([report], {"fixture set": str(tmp_path / "set.jsonl"), "store": None})
    require_apart([report, STANDARD_TEXT], {"fixture set": str(tmp_path / "other.jsonl"), "store": None})


# Writing.


def test_every_report_is_written_as_utf_8_with_line_feeds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_reports([(ReportFile("json", str(tmp_path / "a")), "é\n\udcff\n"), (STANDARD_TEXT, "shown\n")])
    assert (tmp_path / "a").read_bytes() == b"\xc3\xa9\n\\udcff\n"
    assert capsys.readouterr().out == "shown\n"


def test_a_place_that_fails_late_harms_no_other_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    targets = [str(tmp_path / "a"), str(tmp_path / "folder"), str(tmp_path / "b")]
    rendered = [(ReportFile("json", path), path) for path in targets]
    with pytest.raises(OutputError, match=r"folder: .*; free some space or name another place"):
        write_reports([*rendered, (STANDARD_TEXT, "shown\n")])
    assert (tmp_path / "a").read_text("utf-8") == targets[0]
    assert (tmp_path / "b").read_text("utf-8") == targets[2]
    assert files(tmp_path) == {"a", "b", "folder"}
    assert capsys.readouterr().out == "shown\n"


@needs_fifo
def test_a_device_is_written_to_and_not_replaced() -> None:
    assert parse_report_files(["json=/dev/null"], FORMATS)[0].path == "/dev/null"
    write_reports([(ReportFile("json", os.devnull), "gone")])
    assert not os.path.isfile(os.devnull)


# With the commands.


def test_every_format_is_written_by_relevance(ask: Ask, tmp_path: Path) -> None:
    asked = [word for name in RENDERERS for word in ("--report", f"{name}={name}.out")]
    code, out, err = ask("relevance", "set.jsonl", "--backend", "bm25", *asked)
    assert (code, err) == (0, "")
    for name in RENDERERS:
        text = (tmp_path / f"{name}.out").read_text("utf-8")
        assert text.endswith("\n")
        assert str(tmp_path) not in text
    assert out == (tmp_path / "text.out").read_text("utf-8")


def test_a_report_of_json_has_the_bytes_of_json(ask: Ask, tmp_path: Path) -> None:
    _, printed, _ = ask("relevance", "set.jsonl", "--json")
    code, out, _ = ask("relevance", "set.jsonl", "--report", "json=a.json")
    assert code == 0
    assert out.startswith("CCE relevance")
    assert (tmp_path / "a.json").read_bytes().decode() == printed


@pytest.mark.parametrize("reports", [("json=-", "text=-"), ("json=a", "text=a"), ("json=src",), ("jsn=a",)])
def test_a_refused_report_leaves_the_others_unharmed(
    ask: Ask, tmp_path: Path, reports: tuple[str, ...]
) -> None:
    (tmp_path / "old.md").write_text("kept", "utf-8")
    before = files(tmp_path)
    asked = [word for report in ("markdown=old.md", *reports) for word in ("--report", report)]
    code, out, err = ask("relevance", "set.jsonl", *asked)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert (tmp_path / "old.md").read_text("utf-8") == "kept"
    assert files(tmp_path) == before


def test_json_twice_on_standard_output_is_refused(ask: Ask) -> None:
    code, out, err = ask("relevance", "set.jsonl", "--json", "--report", "json=-")
    assert (code, out) == (2, "")
    assert "standard output is named for two reports" in err


def test_the_set_is_never_overwritten(ask: Ask, tmp_path: Path) -> None:
    before = (tmp_path / "set.jsonl").read_bytes()
    code, _, err = ask("relevance", "set.jsonl", "--report", "json=./set.jsonl")
    assert code == 2
    assert "would replace the fixture set" in err
    assert (tmp_path / "set.jsonl").read_bytes() == before


def test_compare_writes_reports_too_and_spares_its_inputs(ask: Ask, tmp_path: Path) -> None:
    ask("relevance", "set.jsonl", "--backend", "bm25", "--report", "json=old.json")
    code, out, err = ask(
        "compare", "old.json", "old.json", "--report", "markdown=c.md", "--report", "junit=c.xml"
    )
    assert (code, err) == (0, "")
    assert out.startswith("CCE compare")
    assert {"c.md", "c.xml"} <= files(tmp_path)
    code, _, err = ask("compare", "old.json", "old.json", "--report", "json=old.json")
    assert code == 2
    assert "would replace the" in err


def test_a_report_says_how_to_make_it_again_but_not_where_it_went(ask: Ask, tmp_path: Path) -> None:
    ask(
        "relevance", "set.jsonl", "--compare", "bm25,vector", "--evidence", "--alpha", "0.1",
        "--report", "markdown=c.md",
    )  # fmt: skip
    text = (tmp_path / "c.md").read_text("utf-8")
    assert "cce relevance set.jsonl --compare bm25,vector --evidence --alpha 0.1\n" in text


def test_the_drilldown_is_made_where_a_format_shows_it() -> None:
    assert {"markdown", "html", "junit"} == WITH_DRILLDOWN


@pytest.mark.skipif(sys.platform == "win32", reason="no closed pipes of that sort there")
@pytest.mark.process
def test_a_reader_that_was_never_there_is_a_clean_end(root: Path) -> None:
    arguments = [sys.executable, "-m", "cce", "relevance", "eval/docs.jsonl", "--json"]
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, cwd=root, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no /dev/full there")
def test_a_full_disk_is_told_and_the_other_report_is_whole(run_cce: Run, tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    target = tmp_path / "a.json"
    result = run_cce(
        "relevance", "eval/docs.jsonl", "--report", "text=/dev/full", "--report", f"json={target}"
    )
    assert result.returncode == 2
    assert b"error: /dev/full: No space left on device" in result.stderr
    assert json.loads(target.read_bytes())["queries"] == 12


def test_click_shows_the_option_in_the_help_of_each_command() -> None:
    from importlib import import_module

    for name in ("relevance", "compare", "gate"):
        command: click.Command = import_module(f"cce.cli.{name}").command
        assert "--report" in command.get_help(click.Context(command))
