"""Interrupt whole commands at moments spread over their first 0.4 seconds, and count what is not quiet.

python eval/hardening/interrupts.py [TRIES] [--signals INT,TERM] [--seconds 0.4]

The clock starts where Python's own start ends: when `cce.__main__` is about to run. Commands take turns. Exit
code 1 if there is a fault.

noise      tries that said anything on standard error but one word (a try that was done first says nothing)
exits      tries with another exit code than 130 or 143, or than that of a whole run if it was done first
leftovers  temporary files of a run, and processes that live 30 seconds later
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_TOO_EARLY = 99  # the starter below was interrupted itself
_PATIENCE = 3.0
_CODES = {"INT": 130, "TERM": 143, "HUP": 129}
_WORDS = {b"", b"interrupted\n", b"terminated\n", b"hung up\n"}
_STARTER = """
import os, signal, sys
from cce.__main__ import run
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda *_: os._exit(99))
sys.argv[0] = "cce"
os.write(int(os.environ["READY"]), b"x")
sys.exit(run())
"""


def commands(folder: Path) -> list[list[str]]:
    """What takes turns: help, a small run, one that loads numpy, one with workers that writes a store."""
    corpus = folder / "corpus"
    corpus.mkdir()
    for number in range(60):
        body = "".join(f"def f{number}_{n}(x):\n    return [x, {n}]\n\n\n" for n in range(600))
        (corpus / f"m{number:02}.py").write_text(body)
    sample = str(_ROOT / "eval" / "code.jsonl")
    return [
        ["index", str(corpus), "--no-cache", "--store", str(folder / "out" / "store.json")],
        ["relevance", sample],
        ["relevance", sample, "--no-cache", "--compare", "bm25,hybrid", "--json"],
        ["index", str(_ROOT / "test_fixtures" / "samples"), "--store", str(folder / "out" / "small.json")],
        ["--help"],
        ["gate", "--help"],
    ]


def interrupt_once(command: list[str], name: str, delay: float, folder: Path, counts: Counter[str]) -> bool:
    """Count what becomes of it; False if it was too early and nothing is counted."""
    ready, ready_end = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", _STARTER, *command],
        env={
            **os.environ,
            "READY": str(ready_end),
            "TMPDIR": str(folder / "tmp"),
            "CCE_CACHE_DIR": str(folder / "out" / "cache"),
        },
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=[ready_end],
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    os.close(ready_end)
    os.read(ready, 1)
    os.close(ready)
    _sleep(delay)
    # As a terminal does: to every process there is.
    _send_to_all(process.pid, getattr(signal, f"SIG{name}"))
    said, is_gone = _read_to_end(process)
    if not is_gone:
        os.killpg(process.pid, signal.SIGKILL)  # the session that this try made
    code = process.wait()
    if code == _TOO_EARLY:
        return False
    counts["tries"] += 1
    counts["ended early"] += code == _CODES[name]
    is_quiet = said in _WORDS
    counts["noise"] += not is_quiet
    counts["exits"] += code not in (_CODES[name], 0)
    left = [*(folder / "tmp").iterdir(), *(folder / "out").rglob(".cce-*.tmp")]
    counts["leftovers"] += (not is_gone) + len(left)
    for path in left:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if not is_quiet or code not in (_CODES[name], 0):
        print(f"{command[0]} SIG{name} after {delay:.4f} s: exit {code}: {said.decode()}", file=sys.stderr)
    return True


def _sleep(seconds: float) -> None:
    limit = time.perf_counter() + seconds
    while (left := limit - time.perf_counter()) > 0:
        time.sleep(left if left > 0.001 else 0)


def _send_to_all(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def _read_to_end(process: subprocess.Popen[bytes]) -> tuple[bytes, bool]:
    """What was said on standard error, and whether nobody can say any more there."""
    assert process.stderr is not None
    said, limit = b"", time.monotonic() + 10 * _PATIENCE
    with process.stderr as pipe:
        while select.select([pipe], [], [], max(0.0, limit - time.monotonic()))[0]:
            piece = os.read(pipe.fileno(), 1 << 16)
            if not piece:
                return said, True
            said += piece
    return said, False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tries", type=int, nargs="?", default=200)
    parser.add_argument("--signals", default="INT,TERM")
    parser.add_argument("--seconds", type=float, default=0.4)
    options = parser.parse_args()
    signals = options.signals.split(",")
    counts: Counter[str] = Counter(dict.fromkeys(("ended early", "noise", "exits", "leftovers"), 0))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each in ("tmp", "out"):
            (folder / each).mkdir()
        turns = commands(folder)
        for number in range(options.tries):
            delay = options.seconds * number / options.tries
            turn = number // len(signals) % len(turns)
            while not interrupt_once(turns[turn], signals[number % len(signals)], delay, folder, counts):
                delay += 0.0005
    print(json.dumps(counts))
    sys.exit(any(counts[name] for name in ("noise", "exits", "leftovers")))


if __name__ == "__main__":
    main()
