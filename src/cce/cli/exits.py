r"""Exit codes, and the only functions that write to standard output and standard error.

Results are rendered whole and written once, as UTF-8 with `\n` line ends whatever the locale. A
reader that closes the pipe early is a clean end; a full disk is not.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Collection, Iterable
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
    """The reader of standard output closed it. Not an OSError, which click would turn into exit code 1."""


def require_utf8() -> None:
    """Restart the process in Python's UTF-8 mode (PEP 540) if the locale has another encoding for names.

    Paths, queries and ids then have the same meaning and bytes in every locale. The mode of a running process
    cannot be changed; the restart costs one start of Python.
    """
    if os.name != "posix" or sys.getfilesystemencoding() == "utf-8" or os.environ.get("PYTHONUTF8") == "1":
        return  # PYTHONUTF8 is set below: one restart is enough, whatever came of it
    environment = {**os.environ, "PYTHONUTF8": "1"}
    with contextlib.suppress(OSError):  # such as for an interpreter that does not know where it is
        os.execve(sys.executable or "", [sys.executable, *sys.orig_argv[1:]], environment)  # noqa: S606


def prepare_streams() -> None:
    """Make both text streams write the same bytes on every machine."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def write_result(text: str) -> None:
    """Write `text` to standard output; raises OutputError, or ReaderLeft if its reader closed it.

    On a terminal control characters are escaped, also in formats whose bytes are a promise (JSON, a diff).
    """
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    _write(sys.stdout, for_terminal(text) if is_terminal else text)


def flush_results() -> None:
    """Flush what a library printed to standard output; raises as `write_result` does."""
    if sys.stdout is not None:
        _write(sys.stdout, "")


def say(line: str) -> None:
    """Write one line to standard error, control characters escaped; a closed standard error is no fault."""
    with contextlib.suppress(OSError, AttributeError, ValueError):
        sys.stderr.write(for_terminal(line) + "\n")
        sys.stderr.flush()


def warn(notice: str) -> None:
    """Write a warning to standard error: one line, even if a name in it holds a line end."""
    say(f"warning: {on_one_line(notice)}")


def warn_beside(notices: Iterable[str], shown: Collection[str]) -> None:
    """Write warnings, without those that the text on standard output shows on the same screen.

    shown  the notices that are part of a text on standard output; none where no text goes there
    """
    is_one_screen = all(stream is not None and stream.isatty() for stream in (sys.stdout, sys.stderr))
    for notice in notices:
        if not (is_one_screen and notice in shown):
            warn(notice)


def silence_stdout() -> None:
    """Redirect standard output to nothing, so that Python's last flush cannot fail again."""
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
