"""One process that answers line by line: how it is started, spoken to, and ended with all that it started.

Threads carry bytes, so that neither a full pipe nor a silent process blocks the caller; all of them hand what
happens to one queue. Nothing here knows the protocol.

On POSIX a child is in a process group of its own, with a guard: a shell that ends the group as soon as
this process is gone, whatever ended it. A process that leaves its group is not ours to end. On Windows there
are no such groups: the process itself is ended, what it started is not.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from queue import SimpleQueue
from typing import IO, Literal, NamedTuple

from cce.quoting import on_one_line

GRACE_SECONDS = 5.0
"""How long a process may take to end once its standard input is closed."""

_TERMINATE_SECONDS = 1.0
_REAP_SECONDS = 2.0
_MOMENT_SECONDS = 0.1  # what it wrote before the line at fault is in the pipe already
_DRAIN_SECONDS = 0.5
_PIECE_BYTES = 1 << 16
_KEPT_ERRORS = 1 << 16

# The guard is deaf to what ends its group politely. `read` returns when the last write end of its standard
# input is closed, which only this process has; signal 9 to process 0 is for its own group.
_GUARD = ("/bin/sh", "-c", 'trap "" HUP INT TERM; read -r _; kill -9 0')


class Received(NamedTuple):
    """Something that came from a child at a moment of `time.monotonic`.

    kind  a whole `line`; a `long` one, cut, without an end within the limit; the `end`, with what came of
          the last line
    """

    child: Child
    kind: Literal["line", "long", "end"]
    text: bytes
    moment: float


class Child:
    """A process that was started; raises OSError if it cannot be."""

    def __init__(
        self,
        command: Sequence[str],
        folder: str,
        environment: Mapping[str, str],
        received: SimpleQueue[Received],
        max_line_bytes: int,
    ) -> None:
        """Start `command` in `folder`; what comes from it goes to `received`, one line per `expect`."""
        self._received = received
        self._max_line_bytes = max_line_bytes
        self._sent: SimpleQueue[bytes | None] = SimpleQueue()
        self._expected: SimpleQueue[bool] = SimpleQueue()
        self._errors = bytearray()
        self._is_over = False
        self._guard = _start_guard()
        try:
            self._process = _start(command, folder, environment, self._guard)
        except BaseException:
            self._end_guard()
            raise
        works = (self._write, self._read, self._drain)
        self._threads = [threading.Thread(target=work, daemon=True) for work in works]
        for thread in self._threads:
            thread.start()

    def ask(self, line: bytes) -> None:
        """Send a line, and let the next one in."""
        self._sent.put(line + b"\n")
        self._expected.put(True)

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone; what it started may still hold its pipes."""
        return self._process.poll() is not None

    def how_it_ended(self) -> str:
        """`exit code 3`, `SIGKILL`; the process that closed its output has a moment to end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_DRAIN_SECONDS)
        code = self._process.returncode
        if code is None:
            return "closed its standard output"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"was ended by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    def last_errors(self) -> bytes:
        """The end of what it said on standard error, once it had a moment to say it."""
        self._threads[-1].join(_DRAIN_SECONDS if self.has_ended else _MOMENT_SECONDS)
        return bytes(self._errors)

    def close_input(self) -> None:
        """Tell the process that nothing more will be asked."""
        self._sent.put(None)

    def wait_until(self, moment: float) -> None:
        """Wait for its end, at most until `moment`."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, moment - time.monotonic()))

    def terminate(self) -> None:
        """Ask the process, and what it started, to end."""
        self._signal("SIGTERM")

    def kill(self) -> None:
        """End the process and its group, whatever they are doing; may be called twice."""
        if self._is_over:
            return
        self.close_input()
        self._expected.put(False)
        self._signal("SIGKILL")
        self._end_guard()
        self.wait_until(time.monotonic() + _REAP_SECONDS)
        for thread in self._threads:  # one that a process outside of the group keeps waiting is left behind
            thread.join(_DRAIN_SECONDS)
        self._is_over = True

    def _signal(self, name: str) -> None:
        with contextlib.suppress(OSError):
            if os.name != "posix":
                self._process.kill() if name == "SIGKILL" else self._process.terminate()
            elif self._guard is not None:
                # The guard is our child and not reaped yet, so its number is that of no other group.
                os.killpg(self._guard.pid, getattr(signal, name))
            else:
                os.killpg(self._process.pid, getattr(signal, name))

    def _end_guard(self) -> None:
        guard = self._guard
        if guard is None or guard.stdin is None:
            return
        with contextlib.suppress(OSError):
            guard.stdin.close()
        with contextlib.suppress(OSError):
            guard.kill()  # in case it was ended before it could read
        with contextlib.suppress(subprocess.TimeoutExpired):
            guard.wait(_REAP_SECONDS)

    def _write(self) -> None:
        stream = _pipe(self._process.stdin)
        with contextlib.suppress(OSError), stream:  # whoever does not read shows by its silence
            while (line := self._sent.get()) is not None:
                left = memoryview(line)
                while left:
                    left = left[stream.write(left) or 0 :]

    def _read(self) -> None:
        buffer = bytearray()
        with _pipe(self._process.stdout) as stream:
            while self._expected.get():
                if not self._read_line(stream, buffer):
                    return

    def _read_line(self, stream: IO[bytes], buffer: bytearray) -> bool:
        """Report the next line, which may be in `buffer` already; whether there may be one more."""
        searched = 0
        while (end := buffer.find(b"\n", searched)) < 0 and len(buffer) <= self._max_line_bytes:
            searched = len(buffer)
            piece = stream.read(_PIECE_BYTES)
            if not piece:
                self._report("end", buffer)
                return False
            buffer += piece
        if end < 0 or end > self._max_line_bytes:
            self._report("long", buffer[:_PIECE_BYTES])
            return False
        self._report("line", buffer[:end])
        del buffer[: end + 1]
        return True

    def _report(self, kind: Literal["line", "long", "end"], text: bytearray) -> None:
        self._received.put(Received(self, kind, bytes(text), time.monotonic()))

    def _drain(self) -> None:
        with _pipe(self._process.stderr) as stream:
            while piece := stream.read(_PIECE_BYTES):
                self._errors = (self._errors + piece)[-_KEPT_ERRORS:]


def start_fault(exc: Exception) -> str:
    """Why a process could not be started."""
    return on_one_line(exc.strerror or str(exc) if isinstance(exc, OSError) else str(exc))


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("every stream of a child is a pipe")
    return stream


def _start(
    command: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    guard: subprocess.Popen[bytes] | None,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - the user allowed this command; there is no shell
        command,
        cwd=folder or None,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        # In a group of its own an interrupt of the terminal does not reach it: we end it.
        process_group=None if os.name != "posix" else 0 if guard is None else guard.pid,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )


def _start_guard() -> subprocess.Popen[bytes] | None:
    """The first process of a new group; None where there is no shell or no group."""
    if os.name != "posix":
        return None
    try:
        return subprocess.Popen(  # noqa: S603 - a constant
            _GUARD,
            cwd="/",
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
    except OSError:
        return None
