"""What the README shows is what the command prints."""

from __future__ import annotations

import re
import shlex
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
