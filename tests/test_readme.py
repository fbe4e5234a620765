"""What the README shows is what the command prints."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from conftest import ROOT, Run

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sessions() -> list[tuple[str, str]]:
    """Every command that is shown with its output: (command, output)."""
    shown = []
    for page in (ROOT / "README.md", ROOT / "eval" / "README.md"):
        for block in _BLOCK.findall(page.read_text("utf-8")):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                shown.append((command, output))
    return shown


def as_pattern(output: str) -> str:
    """A regular expression for `output`, in which a line of three dots stands for any lines."""
    lines = output.splitlines(keepends=True)
    return "".join(r"(?:.*\n)*?" if line == "...\n" else re.escape(line) for line in lines)


def test_the_readme_shows_commands_with_their_output() -> None:
    assert len(sessions()) >= 2


@pytest.mark.parametrize(("command", "output"), sessions(), ids=[command for command, _ in sessions()])
def test_a_shown_session_is_true(command: str, output: str, run_cce: Run, root: Path) -> None:
    program, *arguments = shlex.split(command)
    assert program == "cce"
    result = run_cce(*arguments, cwd=root)
    assert re.fullmatch(as_pattern(output), result.stdout.decode()), result.stdout.decode()


@pytest.mark.parametrize("command", ["relevance", "conformance"])
def test_every_option_of_the_readme_is_in_the_help(command: str, run_cce: Run, root: Path) -> None:
    text = (root / "README.md").read_text("utf-8")
    section = re.search(rf"^## Options of `cce {command}`\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    options = set(re.findall(r"^\| `(--[a-z-]+)", section[1], re.MULTILINE)) if section else set()
    help_text = run_cce(command, "--help").stdout.decode()
    assert {option for option in options if option not in help_text} == set()


_SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(r"(?<![0-9&>])>{1,2}\s*([^\s>&]+)")


def test_no_shown_redirection_overwrites_a_file_that_is_there(root: Path) -> None:
    blocks = [
        block
        for page in (root / "README.md", root / "eval" / "README.md")
        for block in _SHELL.findall(page.read_text("utf-8"))
    ]
    targets = {target for block in blocks for target in _TARGET.findall(block)}
    assert "eval/my.gate.toml" in targets
    assert {target for target in targets if (root / target).exists()} == set()


def test_the_gate_from_zero_works_and_leaves_the_shipped_one_alone(
    run_cce: Run, root: Path, tmp_path: Path
) -> None:
    shutil.copytree(root / "eval", tmp_path / "eval")
    shutil.copytree(root / "test_fixtures", tmp_path / "test_fixtures")
    before = {path: path.read_bytes() for path in (tmp_path / "eval").iterdir() if path.is_file()}
    text = (root / "README.md").read_text("utf-8")
    block = next(block for block in _SHELL.findall(text) if "<<'TOML'" in block)
    policy = re.search(r"^cat >(\S+) <<'TOML'\n(.*?)^TOML$", block, re.MULTILINE | re.DOTALL)
    assert policy is not None
    (tmp_path / policy[1]).write_text(policy[2], "utf-8")
    commands = re.findall(r"^cce (gate [^&#]*)", block, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        result = run_cce(*shlex.split(command), cwd=tmp_path)
        assert (result.returncode, result.stdout.decode().partition("\n")[0]) == (0, "GATE: GO")
    assert {path: path.read_bytes() for path in before} == before
