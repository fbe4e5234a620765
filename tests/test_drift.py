"""The benchmark of labels over releases, on a pair of releases small enough to count by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "eval" / "benchmarks" / "drift.py"
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not SCRIPT.is_file(), reason="the benchmarks are not part of this distribution"),
]

CLOSE = "    def close(self):\n        self.file.flush()\n        self.file.close()\n"
OLD = (
    f"class A:\n{CLOSE}\n\nclass B:\n{CLOSE}\n\ndef load(path):\n    return open(path)\n\n\n"
    "def gone():\n    pass\n\n\ndef twice():\n    pass\n\n\ndef twice():\n    pass\n"
)
NEW = (
    f"class B:\n{CLOSE}\n\nclass A:\n{CLOSE.replace('flush', 'sync')}\n\nX = 1\n\n\n"
    "def load(path):\n    return open(path)\n"
)


def test_five_labels_and_a_name_that_stands_twice_are_counted(tmp_path: Path) -> None:
    for name, text in (("old", OLD), ("new", NEW)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(text)
    command = [sys.executable, str(SCRIPT), str(tmp_path / "old"), str(tmp_path / "new")]
    out = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    header, _, row, total = ([cell.strip() for cell in line.split("|")[1:-1]] for line in out.splitlines())
    counts = {column: int(cell) for column, cell in zip(header[1:], row[1:], strict=True)}
    # A and A.close were edited in place; B, B.close and load were moved; gone is gone.
    assert {column: n for column, n in counts.items() if n} == {
        "labels": 6,
        "rewritten": 3,
        "edited": 2,
        "exact": 2,
        "gone": 1,
        "twice": 2,
    }
    assert total[1:] == row[1:]
