"""The table over all hardening scripts: what a script printed and how it ended, as tries and faults."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("printed", "exit_code", "counts"),
    [
        ("links: 20 tries, 0 faults\ninputs: 157 tries, 3 faults\n", 1, (177, 3)),
        ("140 tries (35 exit 0, 105 exit 2), 2 faults (1 bug, 1 trace)\n", 1, (140, 2)),
        ("93 tries, 0 faults (12 files refused by name)\n", 0, (93, 0)),
        ('{"orphans": 0, "noise": 0, "torn": 1, "tries": 5}\n', 1, (5, 1)),
        ('{"ended early": 9, "noise": 0, "tries": 20}\n', 0, (20, 0)),
    ],
    ids=["two kinds", "exit codes between", "refused by name", "kills", "interrupts"],
)
def test_tries_and_faults_are_summed(
    root: Path, printed: str, exit_code: int, counts: tuple[int, int]
) -> None:
    assert _counts_of(root, printed, exit_code) == counts


@pytest.mark.parametrize(
    ("printed", "exit_code", "counts"),
    [
        ("", 0, (0, 1)),
        ("", 2, (0, 1)),
        ("5 tries, 0 faults\n", 1, (5, 1)),
        ("5 tries, 2 faults\n", 0, (5, 2)),
    ],
    ids=["no counts", "crashed", "faults without a count", "a count without exit code 1"],
)
def test_a_script_whose_end_contradicts_its_counts_is_a_fault(
    root: Path, printed: str, exit_code: int, counts: tuple[int, int]
) -> None:
    assert _counts_of(root, printed, exit_code) == counts


def test_every_script_of_the_folder_is_run(root: Path) -> None:
    folder = root / "eval" / "hardening"
    names = {path.name for path in folder.glob("*.py")} - {"run_all.py"}
    assert {script.name for script in _module(root)["SCRIPTS"]} == names


def _counts_of(root: Path, printed: str, exit_code: int) -> object:
    return _module(root)["counts_of"](printed, exit_code)


def _module(root: Path) -> dict[str, Any]:
    return runpy.run_path(str(root / "eval" / "hardening" / "run_all.py"))
