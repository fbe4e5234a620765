"""Workers end with the process that started them, whatever ended it, and nothing of a run stays."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

posix_only = pytest.mark.skipif(os.name != "posix", reason="sends signals")
linux_only = pytest.mark.skipif(
    sys.platform != "linux", reason="a patched function reaches forked workers only"
)

# Several processes index four files, each a batch; `trouble` is what happens in a worker.
_SCRIPT = """
import ctypes, os, sys, time
from cce.retrieval.indexing import workers
from cce.retrieval.corpus.source_files import walk

def trouble(path, text):
    if os.getpid() == parent:
        time.sleep(60)
    sys.stderr.write("ready\\n")
    sys.stderr.flush()
    {trouble}

parent = os.getpid()
workers._MIN_BYTES, workers._BATCH_BYTES, workers._n_processors = 0, 1, lambda: {n}
real, workers.chunk_file = workers.chunk_file, trouble
workers.process_files(sys.argv[1], walk(sys.argv[1]).paths, False, lambda _: None)
"""


def start(corpus: Path, trouble: str, n: int = 2) -> subprocess.Popen[bytes]:
    for number in range(4):
        (corpus / f"m{number}.py").write_text("def f():\n    return 1\n")
    return subprocess.Popen(
        [sys.executable, "-c", _SCRIPT.format(trouble=trouble, n=n), str(corpus)],
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait_for_end(process: subprocess.Popen[bytes]) -> bytes:
    """What is said until the last process that holds standard error is gone; fails after 30 seconds."""
    assert process.stderr is not None
    said, limit = b"", time.monotonic() + 30
    with process.stderr as pipe:
        while select.select([pipe], [], [], max(0.0, limit - time.monotonic()))[0]:
            piece = os.read(pipe.fileno(), 1 << 16)
            if not piece:
                return said
            said += piece
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail("a worker outlives the process that started it")


@linux_only
@pytest.mark.parametrize(
    "trouble",
    [
        "time.sleep(60)",
        "ctypes.PyDLL(None).sleep(60)",  # holds the interpreter's lock, as parsing does
        "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()); time.sleep(60)",
    ],
    ids=["waiting", "in C code", "deaf"],
)
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_a_worker_ends_with_its_parent_whatever_it_does(tmp_path: Path, trouble: str, name: str) -> None:
    with start(tmp_path, trouble) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"ready\n"
        process.send_signal(getattr(signal, name))
        assert wait_for_end(process) == b""


@linux_only
def test_workers_blocked_on_a_full_pipe_end_with_their_parent(tmp_path: Path) -> None:
    # An answer of some megabytes, which no pipe holds, and a sibling that was started later.
    large = 'text = b"".join(b"x%d " % n for n in range(200_000)); return real("a.txt", text)'
    with start(tmp_path, large, n=3) as process:
        assert process.stderr is not None
        assert [process.stderr.readline() for _ in range(3)] == [b"ready\n"] * 3
        time.sleep(2)  # so that both write
        process.kill()
        assert wait_for_end(process) == b""


@linux_only
def test_a_fault_of_the_run_leaves_no_worker_that_is_still_at_work(tmp_path: Path) -> None:
    script = _SCRIPT.format(trouble="time.sleep(60)", n=2)
    script = script.replace("parent:\n        time.sleep(60)", 'parent:\n        raise ValueError("x")')
    (tmp_path / "m.py").write_text("def f():\n    return 1\n")
    (tmp_path / "n.py").write_text("def f():\n    return 1\n")
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert b"ValueError: x" in wait_for_end(process)
        assert process.wait() == 1


@posix_only
@pytest.mark.parametrize(
    ("script", "options"),
    [("kills.py", []), ("kills.py", ["--spawn"]), ("systems.py", [])],
    ids=["as here", "spawned", "programs that rank"],
)
def test_five_kills_leave_nothing(root: Path, script: str, options: list[str]) -> None:
    command = [sys.executable, str(root / "eval" / "hardening" / script), "5", *options]
    result = subprocess.run(command, capture_output=True, timeout=300, check=False)
    assert result.stderr == b""
    counts = json.loads(result.stdout)
    assert counts.pop("tries") == 5
    assert set(counts.values()) == {0}
