"""What a shell is told while somebody types: files where a file goes, folders where a folder goes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Run


def told(run_cce: Run, line: str) -> list[str]:
    """The answers for the last word of `line`: `plain,WORD`, `file,WORD` or `dir,WORD`."""
    words = line.split(" ")
    environment = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_CCE_COMPLETE": "bash_complete"}
    result = run_cce(**environment)
    assert (result.returncode, result.stderr) == (0, b"")
    return result.stdout.decode().splitlines()


@pytest.mark.parametrize(
    "line",
    [
        *(
            "cce relevance ev",
            "cce compare old",
            "cce compare old.json ne",
            "cce gate eval/",
            "cce explain s",
        ),
        *("cce bench s", "cce fixtures lint s", "cce fixtures pin s", "cce fixtures reanchor s"),
        *("cce fixtures label s", "cce relevance s.jsonl --store .cce/", "cce stats --store x"),
        *("cce fixtures draft --from lo", "cce fixtures draft -o n", "cce fixtures lint s --report r"),
        *(
            "cce conformance . -o c",
            "cce search q --store s",
            "cce index --store s",
            "cce explain s i --store x",
        ),
    ],
)
def test_where_a_file_goes_the_shell_completes_files(run_cce: Run, line: str) -> None:
    assert told(run_cce, line) == [f"file,{line.rpartition(' ')[2]}"]


@pytest.mark.parametrize(
    "line", ["cce index sr", "cce conformance sr", "cce relevance s --dir sr", "cce search q --dir sr"]
)
def test_where_a_folder_goes_the_shell_completes_folders(run_cce: Run, line: str) -> None:
    assert told(run_cce, line) == ["dir,sr"]


def test_a_report_is_a_format_and_then_a_file(run_cce: Run) -> None:
    assert told(run_cce, "cce relevance s --report ma") == ["plain,markdown="]
    assert told(run_cce, "cce gate p --report html=out/r") == ["file,out/r"]


def test_commands_and_options_are_completed_as_ever(run_cce: Run) -> None:
    assert told(run_cce, "cce rel") == ["plain,relevance"]
    assert told(run_cce, "cce fixtures l") == ["plain,label", "plain,lint"]
    assert told(run_cce, "cce relevance s --ba") == ["plain,--backend"]


def test_a_line_with_a_mistake_gets_no_message_into_the_terminal(run_cce: Run) -> None:
    for line in ("cce nonsense x", "cce relevance s --dir= x", "cce compare a b c", "cce relevance a\udcff"):
        told(run_cce, line)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.process
def test_bash_takes_the_script_and_the_words(tmp_path: Path) -> None:
    # Before bash 4.4 click refuses. The function calls the program that is completed.
    program = tmp_path / "cce"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m cce \"$@\"\n")
    program.chmod(0o755)
    script = """
        eval "$(_CCE_COMPLETE=bash_source cce)" || exit 7
        compopt() { echo compopt "$@"; }
        COMP_WORDS=(cce fixtures lint ev) COMP_CWORD=3; _cce_completion cce; echo "${COMPREPLY[*]}"
        COMP_WORDS=(cce fixtures li) COMP_CWORD=2; _cce_completion cce; echo "${COMPREPLY[*]}"
    """
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    result = subprocess.run(
        ["bash", "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode == 7 or "complete: nosort" in result.stderr:
        pytest.skip("this bash is too old")
    assert result.stdout == "compopt -o default\n\nlint\n"
