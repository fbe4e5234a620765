r"""What the shell learns: exit codes, and the one way to standard output and standard error.

Results are rendered whole and written once, as UTF-8 with `\n` line ends whatever the locale. A
reader that closes the pipe early is a clean end; a full disk is not.
"""

from __future__ import annotations

import contextlib
import os
import sys
from enum import IntEnum
from typing import IO, TextIO

from cce.errors import CceError
from cce.quoting import for_terminal, on_one_line


class ExitCode(IntEnum):
    """The promises of the command line."""

    MEASURED = 0
    REFUSED = 1
    NOT_MEASURED = 2
    BUG = 3
    INTERRUPTED = 130


class OutputError(CceError):
    """Standard output does not take what was measured."""


class ReaderLeft(Exception):  # noqa: N818 - nothing went wrong
    """Nobody reads standard output any more. No OSError, which click would turn into exit code 1."""


def require_utf8() -> None:
    """Start the process anew in Python's UTF-8 mode if the locale has names in another encoding.

    Paths, queries and ids then mean the same, and come out as the same bytes, in every locale. It cannot
    be changed in a running process, and costs one start of Python where the locale is an old one.
    """
    if os.name != "posix" or sys.getfilesystemencoding() == "utf-8" or os.environ.get("PYTHONUTF8") == "1":
        return  # the last one is set below: whatever came of it, once is enough
    environment = {**os.environ, "PYTHONUTF8": "1"}
    with contextlib.suppress(OSError):  # such as for an interpreter that does not know where it is
        os.execve(sys.executable or "", [sys.executable, *sys.orig_argv[1:]], environment)  # noqa: S606


def prepare_streams() -> None:
    """Make both text streams write the same bytes on every machine."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def write_result(text: str) -> None:
    """Write `text` to standard output; raises OutputError, or ReaderLeft where nobody reads.

    A terminal gets nothing that it would obey, also of formats whose bytes are a promise (JSON, a diff).
    """
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    _write(sys.stdout, for_terminal(text) if is_terminal else text)


def flush_results() -> None:
    """Hand over what a library printed to standard output; raises as `write_result` does."""
    if sys.stdout is not None:
        _write(sys.stdout, "")


def say(line: str) -> None:
    """One line on standard error, nothing in it obeyed; a closed standard error is nobody's fault."""
    with contextlib.suppress(OSError, AttributeError, ValueError):
        sys.stderr.write(for_terminal(line) + "\n")
        sys.stderr.flush()


def warn(notice: str) -> None:
    """A warning on standard error: one line, whatever the names in it hold."""
    say(f"warning: {on_one_line(notice)}")


def silence_stdout() -> None:
    """Keep the interpreter from flushing into a pipe or disk that refused."""
    with contextlib.suppress(OSError, AttributeError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def _write(stream: TextIO | IO[str] | None, text: str) -> None:
    if stream is None:
        raise OutputError("standard output is closed: redirect it to a file or a terminal")
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError as exc:
        raise ReaderLeft from exc
    except OSError as exc:
        raise OutputError(f"standard output: {exc.strerror}; free some space or name another place") from exc
