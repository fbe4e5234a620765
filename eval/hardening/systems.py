"""Kill `cce relevance` while programs answer it, and count the processes that stay.

    python eval/hardening/systems.py [TRIES] [--signals KILL,TERM,HUP,QUIT,INT]

Each try asks three programs in a session of its own: one ends as it should, one is deaf to the end of
its input and to SIGTERM, one starts a process that is deaf too. One signal goes to the calling process alone,
at a moment spread over the time that an undisturbed run takes. Exit code 1 if there is a fault.

orphans  tries after which a process of the session still lived 3 seconds later
noise    tries in which anything wrote a traceback or a warning of Python
exits    tries that ended with another code than the signal asks for
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

_N_CASES = 24
_PATIENCE = 3.0
_HANDLED = {"TERM": 143, "HUP": 129, "INT": 130}
_PROGRAM = """
import json, signal, subprocess, sys, time

kind = sys.argv[1]
if kind == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if kind == "forks":
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    subprocess.Popen([sys.executable, "-c", deaf])
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "hello":
        answer = {"op": "hello", "protocol": "cce.retriever/v1", "capabilities": ["batch"], "max_batch": 4}
    else:
        time.sleep(0.05)
        found = [{"id": query["id"], "results": [{"path": "m.py"}]} for query in request["queries"]]
        answer = {"id": request["id"], "results": found}
    print(json.dumps(answer), flush=True)
if kind == "deaf":
    time.sleep(60)
"""


class Rig:
    """A corpus of one file, a set, and a systems file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "corpus").mkdir()
        (folder / "corpus" / "m.py").write_text("def f():\n    return 1\n")
        (folder / "program.py").write_text(_PROGRAM)
        cases = [{"id": f"c{n}", "query": "f", "expected": ["m.py"]} for n in range(_N_CASES)]
        header = {"schema": "cce.relevance/v1", "corpus": "corpus"}
        (folder / "set.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (header, *cases)))

    def describe(self, kinds: tuple[str, ...]) -> None:
        tables = [
            f"[system.{kind}]\ncommand = {json.dumps([sys.executable, 'program.py', kind])}\nprocesses = 2\n"
            for kind in kinds
        ]
        (self.folder / "systems.toml").write_text('schema = "cce.systems/v1"\n' + "".join(tables))

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "cce", "relevance", "set.jsonl", "--systems", "systems.toml"],
            cwd=self.folder,
            env={**os.environ, "CCE_CACHE_DIR": str(self.folder / "cache")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            # A shell may have started this script deaf to interrupts, and that is handed down.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )


def kill_once(rig: Rig, name: str, delay: float, counts: Counter[str]) -> None:
    process = rig.start()
    time.sleep(delay)
    process.send_signal(getattr(signal, f"SIG{name}"))
    _, said = process.communicate()
    left = _left_after(process.pid, _PATIENCE)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)  # of the session that this try made
    counts["tries"] += 1
    counts["orphans"] += bool(left)
    if any(word in said for word in (b"Traceback", b"Warning", b"ignored")):
        counts["noise"] += 1
        print(f"SIG{name} after {delay:.3f} s: {said.decode(errors='replace')}", file=sys.stderr)
    if name in _HANDLED:
        counts["exits"] += process.returncode not in (_HANDLED[name], 0)


def _left_after(session: int, seconds: float) -> list[int]:
    """The processes of a session that live at the end of `seconds`; returns earlier if none does."""
    limit = time.monotonic() + seconds
    while (left := _processes(session)) and time.monotonic() < limit:
        time.sleep(0.05)
    return left


def _processes(session: int) -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid=,state="], capture_output=True, check=True).stdout
    pids = [int(pid) for pid, state in map(bytes.split, listed.splitlines()) if state[:1] != b"Z"]
    return [pid for pid in pids if _session_of(pid) == session]


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tries", type=int, nargs="?", default=50)
    parser.add_argument("--signals", default="KILL,TERM,HUP,QUIT,INT")
    options = parser.parse_args()
    signals = options.signals.split(",")
    counts: Counter[str] = Counter(dict.fromkeys(("orphans", "noise", "exits"), 0))
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(Path(folder))
        rig.describe(("plain", "forks"))
        started = time.monotonic()
        process = rig.start()
        _, said = process.communicate()
        if process.returncode:
            sys.exit(said.decode())
        seconds = time.monotonic() - started
        rig.describe(("plain", "forks", "deaf"))
        for number in range(options.tries):
            # Python needs a moment until signals are handled; `interrupts.py` looks at that.
            delay = 0.1 + (seconds - 0.1) * (number + 0.5) / options.tries
            kill_once(rig, signals[number % len(signals)], delay, counts)
    print(json.dumps(counts))
    sys.exit(any(counts[name] for name in counts if name != "tries"))


if __name__ == "__main__":
    main()
