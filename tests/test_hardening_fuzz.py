"""A sample of the fuzz harness: whatever stands in an input, the command answers or says what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="the harness forks")
@pytest.mark.process
def test_damaged_inputs_end_no_command_in_a_way_it_does_not_promise(root: Path) -> None:
    command = [sys.executable, "eval/hardening/fuzz.py", "--tries", "70", "--seed", "1"]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=600, check=False)
    assert result.stdout.startswith("70 tries ("), result.stdout + result.stderr
    assert result.stdout.endswith(", 0 faults\n")
