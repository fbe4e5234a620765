"""Small files that could stop the tool: each is measured by a run that must end in time and in memory.

    python eval/hardening/small_files.py [--kilobytes 150] [--cce PATH]

A fault is a run that takes more than twenty seconds or 500 MB, that crashes, or that refuses a file without
naming it. Prints one line per fault, then the counts. The exit code is 1 if there is a fault.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

PARSE_SECONDS = 5
MAX_SECONDS = 20
MAX_MEGABYTES = 500
_KILL_SECONDS = 30

_OPENERS = (
    "&->",
    "(",
    "{",
    "[",
    "<a ",
    "'{([",
    "`${",
    "if(x=>{",
    "a(&->",
    "#if\n",
    "def f(",
    "/*",
    '"',
    "\\\n",
)
_SUFFIXES = (".js", ".ts", ".rs", ".c", ".rb", ".py")
_NESTED = {
    ".js": ("x%d=>", "1", ""),
    ".ts": ("function x%d(){", "", "}"),
    ".rs": ("fn x%d(){", "", "}"),
    ".c": ("struct x%d{int y%d;", "int z;", "};"),
    ".rb": ("class X%d;", "", "end;"),
    ".py": ("(lambda x%d:", "1", ")"),
}


class Outcome(NamedTuple):
    """How a run ended: its exit code (None if it was killed), what it cost, and what it complained of."""

    code: int | None
    seconds: float
    megabytes: float
    complaint: str


def files(n_bytes: int) -> Iterator[tuple[str, bytes]]:
    """(name, content) of files of about so many bytes."""
    for suffix in _SUFFIXES:
        for opener in _OPENERS:
            yield f"a{suffix}", opener.encode() * (n_bytes // len(opener))
        yield f"nested{suffix}", nested(suffix, n_bytes)
    yield ".gitignore", b"/zz**/q*.py\n" * (n_bytes // 12)
    yield ".gitignore", b"*" * n_bytes + b"\n"
    yield ".gitignore", b"#" * (2 * 1024 * 1024)


def nested(suffix: str, n_bytes: int) -> bytes:
    """Functions or classes in each other, each with a name of its own."""
    opening, inner, closing = _NESTED[suffix]
    n_levels = n_bytes // (len(opening) + len(closing) + 3)
    opened = "".join(opening.replace("%d", str(n)) for n in range(n_levels))
    return (opened + inner + closing * n_levels).encode()


def run(cce: Sequence[str], folder: Path) -> Outcome:
    """`cce relevance` over the folder, watched."""
    command = [
        *cce,
        "relevance",
        str(folder.parent / "set.jsonl"),
        "--dir",
        str(folder),
        "--no-cache",
        "--json",
    ]
    environment = {**os.environ, "CCE_PARSE_SECONDS": str(PARSE_SECONDS)}
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    killer = threading.Timer(_KILL_SECONDS, process.kill)
    killer.start()
    assert process.stderr is not None
    with process.stderr as stderr:
        complaint = stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    killer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    code = process.returncode if process.returncode >= 0 else None
    unit = 1 if sys.platform == "darwin" else 1024
    return Outcome(code, time.monotonic() - started, usage.ru_maxrss * unit / 1e6, complaint)


def fault(outcome: Outcome, name: str) -> str | None:
    """What is wrong with a run over a folder that holds the file `name`; None if nothing is."""
    if outcome.code not in (0, 2):
        return f"ended with {outcome.code}"
    if outcome.code == 2 and name not in outcome.complaint:
        return f"does not name the file: {outcome.complaint.strip()[-100:]}"
    if outcome.seconds > MAX_SECONDS:
        return f"took {outcome.seconds:.1f} s"
    if outcome.megabytes > MAX_MEGABYTES:
        return f"took {outcome.megabytes:.0f} MB"
    return None


def main() -> int:
    """Try every file and print what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kilobytes", type=int, default=150)
    parser.add_argument("--cce", default=os.path.join(os.path.dirname(sys.executable), "cce"))
    options = parser.parse_args()
    n_tries = n_faults = n_refused = 0
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch, "set.jsonl").write_text('{"query": "x5 x70 z", "expected": ["b.py"]}\n')
        for name, content in files(options.kilobytes * 1000):
            folder = Path(scratch, f"corpus{n_tries}")
            folder.mkdir()
            (folder / name).write_bytes(content)
            (folder / "b.py").write_text("def x5(): return x70\n")
            outcome = run([options.cce], folder)
            n_tries += 1
            n_refused += outcome.code == 2
            found = fault(outcome, name)
            if found is not None:
                n_faults += 1
                print(f"{name} {content[:12]!r} {len(content)} bytes: {found}", flush=True)
    print(f"{n_tries} tries, {n_faults} faults ({n_refused} files refused by name)")
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
