"""Kill `cce index` while it works, and count what stays: processes, temporary files, torn stores.

python eval/hardening/kills.py [TRIES] [--signals KILL,TERM,HUP,QUIT,INT] [--spawn]

Each try indexes a made corpus in a session of its own and sends one signal to the calling process alone, at a
moment spread over the time that an undisturbed run takes. Every process of the session holds the write end of
standard error, so its end of file says that all are gone. Exit code 1 if there is a fault.

orphans    tries after which a process of the session still lived 3 seconds later
noise      tries in which any process wrote a traceback or a warning
exits      tries that ended with another code than the signal asks for
leftovers  temporary files that stay although the signal could be handled (QUIT and KILL cannot: the next
           run removes those, which is checked once at the end)
torn       stores that do not load
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

_N_FILES = 240
_N_FUNCTIONS = 160
_PATIENCE = 3.0
_HANDLED = {"TERM": 143, "HUP": 129, "INT": 130}
# Spawned workers are what other systems than Linux have.
_SPAWN = """
import multiprocessing
from cce.retrieval.indexing import workers
if __name__ == "__main__":
    from cce.__main__ import run
    workers._context = lambda: multiprocessing.get_context("spawn")
    raise SystemExit(run())
"""


class Bench:
    """A made corpus with all that a run may write to beside it."""

    def __init__(self, folder: Path, is_spawning: bool) -> None:
        self.corpus, self.temporary, self.out = folder / "corpus", folder / "tmp", folder / "out"
        for each in (self.corpus, self.temporary, self.out):
            each.mkdir()
        for number in range(_N_FILES):
            text = "".join(
                f"def f{number}_{n}(x):\n    y = [x, {n}]\n    return y\n\n\n" for n in range(_N_FUNCTIONS)
            )
            (self.corpus / f"m{number:03}.py").write_text(text)
        self.store = self.out / "store.json"
        starter = folder / "starter.py"
        starter.write_text(_SPAWN)
        self.command = [sys.executable, *([str(starter)] if is_spawning else ["-m", "cce"])]

    def start(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "TMPDIR": str(self.temporary), "CCE_CACHE_DIR": str(self.out / "cache")}
        return subprocess.Popen(
            [*self.command, "index", str(self.corpus), "--store", str(self.store)],
            env=environment,
            cwd=self.out,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            # A shell may have started this script deaf to interrupts, and that is handed down.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def clear(self) -> None:
        """Index from scratch the next time."""
        self.store.unlink(missing_ok=True)
        for entry in (self.out / "cache").glob("*.segment"):
            entry.unlink()

    def leftovers(self) -> int:
        return sum(1 for _ in self.temporary.iterdir()) + sum(1 for _ in self.out.rglob(".cce-*.tmp"))

    def is_torn(self) -> bool:
        if not self.store.exists():
            return False
        command = [sys.executable, "-m", "cce", "stats", "--store", str(self.store)]
        return subprocess.run(command, capture_output=True, check=False).returncode != 0


def undisturbed_seconds(bench: Bench) -> float:
    started = time.monotonic()
    process = bench.start()
    _, errors = process.communicate()
    if process.returncode:
        sys.exit(errors.decode())
    return time.monotonic() - started


def kill_once(bench: Bench, name: str, delay: float, counts: Counter[str]) -> None:
    bench.clear()
    before = bench.leftovers()
    process = bench.start()
    time.sleep(delay)
    process.send_signal(getattr(signal, f"SIG{name}"))
    process.wait()
    said, is_gone = _read_to_end(process)
    if not is_gone:
        os.killpg(process.pid, signal.SIGKILL)  # the session that this try made
    counts["tries"] += 1
    counts["orphans"] += not is_gone
    if b"resource_tracker" in said and name not in _HANDLED:
        said = b""  # with spawned workers Python's own tracker says that it removed the semaphore
    if any(word in said for word in (b"Traceback", b"Warning", b"ignored")):
        counts["noise"] += 1
        print(f"SIG{name} after {delay:.3f} s: {said.decode(errors='replace')}", file=sys.stderr)
    counts["torn"] += bench.is_torn()
    if name in _HANDLED:
        counts["exits"] += process.returncode not in (_HANDLED[name], 0)
        counts["leftovers"] += max(0, bench.leftovers() - before)


def _read_to_end(process: subprocess.Popen[bytes]) -> tuple[bytes, bool]:
    """What was said on standard error, and whether nobody can say any more there."""
    assert process.stderr is not None
    said, limit = b"", time.monotonic() + _PATIENCE
    while (left := limit - time.monotonic()) > 0 and select.select([process.stderr], [], [], left)[0]:
        piece = os.read(process.stderr.fileno(), 1 << 16)
        if not piece:
            process.stderr.close()
            return said, True
        said += piece
    process.stderr.close()
    return said, False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tries", type=int, nargs="?", default=50)
    parser.add_argument("--signals", default="KILL,TERM,HUP,QUIT,INT")
    parser.add_argument("--spawn", action="store_true", help="spawned workers, as outside Linux")
    options = parser.parse_args()
    signals = options.signals.split(",")
    counts: Counter[str] = Counter(dict.fromkeys(("orphans", "noise", "exits", "leftovers", "torn"), 0))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.spawn)
        seconds = undisturbed_seconds(bench)
        for number in range(options.tries):
            delay = 0.1 + (seconds - 0.1) * (number + 0.5) / options.tries
            kill_once(bench, signals[number % len(signals)], delay, counts)
        bench.clear()
        undisturbed_seconds(bench)
        counts["leftovers"] += sum(1 for _ in bench.out.rglob(".cce-*.tmp"))
    print(json.dumps(counts))
    sys.exit(any(counts[name] for name in counts if name != "tries"))


if __name__ == "__main__":
    main()
