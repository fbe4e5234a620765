"""Run all scripts of this folder, one after the other, and print a table of their tries and faults.

    python eval/hardening/run_all.py [--quick]

What a script says besides its counts goes to standard error. The exit code is 1 if any script found a
fault or ended without counts.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).resolve().parent
# Lines such as `links: 20 tries, 0 faults`, one per kind of try, and in fuzz.py, with exit codes in between,
# `140 tries (35 exit 0, 105 exit 2), 0 faults`. kills.py and interrupts.py print one JSON object instead.
_COUNTS = re.compile(r"^(?:\w+: )?(\d+) tries\b.*?, (\d+) faults\b", re.MULTILINE)
_NO_FAULTS = ("tries", "ended early")


class Script(NamedTuple):
    """One script: its arguments for a whole run, and those for a quick one."""

    name: str
    whole: tuple[str, ...] = ()
    quick: tuple[str, ...] = ()


class Outcome(NamedTuple):
    """What a script counted; `n_faults` is 1 at least if it ended otherwise than its counts say."""

    n_tries: int
    n_faults: int
    seconds: float


SCRIPTS = (
    Script("outputs.py"),
    Script("fuzz.py", ("--tries", "2800"), ("--tries", "140")),
    Script("kills.py", ("50",), ("10",)),
    Script("interrupts.py", ("200",), ("24",)),
    Script("systems.py", ("50",), ("10",)),
    Script("redaction.py", (), ("--bytes", "20000")),
    Script("small_files.py", (), ("--kilobytes", "15")),
)


def counts_of(printed: str, exit_code: int) -> tuple[int, int]:
    """(tries, faults) that a script printed; one fault if it printed none or its exit code disagrees."""
    lines = [(int(tries), int(faults)) for tries, faults in _COUNTS.findall(printed)]
    lines += [_counts_in(json.loads(line)) for line in printed.splitlines() if line.startswith("{")]
    n_tries, n_faults = (sum(column) for column in zip(*lines, strict=True)) if lines else (0, 0)
    is_sound = bool(lines) and exit_code == (n_faults > 0)
    return n_tries, n_faults if is_sound else max(1, n_faults)


def _counts_in(record: dict[str, int]) -> tuple[int, int]:
    return record["tries"], sum(n for name, n in record.items() if name not in _NO_FAULTS)


def run(script: Script, *, is_quick: bool) -> Outcome:
    """Run one script in a process of its own."""
    arguments = script.quick if is_quick else script.whole
    started = time.monotonic()
    ended = subprocess.run(
        [sys.executable, str(_FOLDER / script.name), *arguments],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    sys.stderr.write(ended.stdout)
    sys.stderr.flush()
    return Outcome(*counts_of(ended.stdout, ended.returncode), time.monotonic() - started)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer tries and smaller files")
    options = parser.parse_args()
    print(f"{'script':<15}{'tries':>7}{'faults':>8}{'seconds':>9}")
    n_faults = 0
    for script in SCRIPTS:
        outcome = run(script, is_quick=options.quick)
        n_faults += outcome.n_faults
        print(
            f"{script.name:<15}{outcome.n_tries:>7}{outcome.n_faults:>8}{outcome.seconds:>9.0f}", flush=True
        )
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
