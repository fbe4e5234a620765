"""The process behind `cce` and `python -m cce`: how it starts, and how a signal ends it.

A signal ends the process in its handler. A raised KeyboardInterrupt would not always end it quietly: in a
finalizer it is printed and lost; while a class is made or an extension is imported it becomes another error.
The handler unwinds no stack, so clean-up goes through `atexit`: unfinished files, temporary folders, worker
processes.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` dresses its numbers up as enumerations first, and can be interrupted meanwhile
import atexit
import gc
import os
import sys

# Python's default is a collection per 700 new objects, 7 % of the time of a small run. A command makes few
# cycles, and 100,000 objects are a few megabytes.
_OBJECTS_PER_COLLECTION = 100_000
_SIGNALS = {"SIGINT": b"interrupted\n", "SIGTERM": b"terminated\n", "SIGHUP": b"hung up\n"}
_NOT_MEASURED = 2  # as in cce.cli.exits, which is not loaded here
_SHELL_OFFSET = 128  # a shell reports 128 + the number of the signal


def run() -> int:
    """Run the command that was typed; returns the exit code."""
    try:
        _end_on_signals()
    except KeyboardInterrupt:  # the signal came before its handler was set
        os._exit(_SHELL_OFFSET + _signal.SIGINT)
    gc.set_threshold(_OBJECTS_PER_COLLECTION, *gc.get_threshold()[1:])

    try:
        from cce.cli.main import main  # after the threshold is set, which its imports need most

        code = main()
    except (ImportError, MemoryError) as exc:  # main() reports its own; this is before or after it
        os.write(
            2, f"error: cce cannot run ({exc!r}): free some memory, or reinstall cce-relevance\n".encode()
        )
        code = _NOT_MEASURED
    for number in _heeded():  # the result is written; Python's exit takes milliseconds more
        _signal.signal(number, _signal.SIG_IGN)
    return code


def _end_on_signals() -> None:
    """Set the handlers of the signals that end a process; only the main thread may."""
    owner = os.getpid()
    words = {getattr(_signal, name, None): word for name, word in _SIGNALS.items()}

    def end(number: int, _: object) -> None:
        try:
            for other in _heeded():  # a second signal ends the process without the clean-up
                _signal.signal(other, lambda number, _: os._exit(_SHELL_OFFSET + number))
            if os.getpid() == owner:  # what is registered belongs to the parent of a forked process
                sys.unraisablehook = lambda _: None
                atexit._run_exitfuncs()
                if sys.stderr is not None:  # else the number may be that of any other file
                    os.write(2, words[number])
        finally:
            os._exit(_SHELL_OFFSET + number)

    for number in _heeded():
        _signal.signal(number, end)


def _heeded() -> list[int]:
    """The signals to handle, without those that are ignored from the start, as nohup ignores SIGHUP."""
    numbers = [getattr(_signal, name) for name in _SIGNALS if hasattr(_signal, name)]
    return [number for number in numbers if _signal.getsignal(number) != _signal.SIG_IGN]


if __name__ == "__main__":
    sys.exit(run())
