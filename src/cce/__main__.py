"""The process behind `cce` and `python -m cce`: how it starts, and how a signal ends it.

A signal ends the process from its handler. A KeyboardInterrupt that is raised would not be quiet at every
moment: in a finalizer it is printed and lost, while a class is made or an extension is imported it turns
into another error. Nothing is unwound then, so whoever has something to clean up registers it with
`atexit`: unfinished files, temporary folders, worker processes.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` dresses its numbers up as enumerations first, and can be interrupted meanwhile
import atexit
import gc
import os
import sys

# By itself Python looks for unreachable cycles whenever there are 700 new objects: a fifteenth of a small
# run. A command makes few cycles, and so many objects are some megabytes at most.
_OBJECTS_A_LOOK = 100_000
_SIGNALS = {"SIGINT": b"interrupted\n", "SIGTERM": b"terminated\n", "SIGHUP": b"hung up\n"}
_NOT_MEASURED = 2  # as in cce.cli.exits, which is not loaded here
_SHELL_OFFSET = 128  # a shell reports 128 + the number of the signal


def run() -> int:
    """Run the command that was typed; returns the exit code."""
    try:
        _end_on_signals()
    except KeyboardInterrupt:  # it was faster than its handler
        os._exit(_SHELL_OFFSET + _signal.SIGINT)
    gc.set_threshold(_OBJECTS_A_LOOK, *gc.get_threshold()[1:])

    try:
        from cce.cli.main import main  # imported late, so that its imports profit as well

        code = main()
    except (ImportError, MemoryError) as exc:  # what comes before or after all that can say it better
        os.write(
            2, f"error: cce cannot run ({exc!r}): free some memory, or reinstall cce-relevance\n".encode()
        )
        code = _NOT_MEASURED
    for number in _heard():  # the result is out, and the interpreter's own end takes milliseconds
        _signal.signal(number, _signal.SIG_IGN)
    return code


def _end_on_signals() -> None:
    """From here on, each signal that asks for an end is obeyed quietly; needs the main thread."""
    owner = os.getpid()
    words = {getattr(_signal, name, None): word for name, word in _SIGNALS.items()}

    def end(number: int, _: object) -> None:
        try:
            for each in _heard():  # whoever cannot wait for the clean-up sends a second one
                _signal.signal(each, lambda number, _: os._exit(_SHELL_OFFSET + number))
            if os.getpid() == owner:  # a forked process owns nothing of what is registered
                sys.unraisablehook = lambda _: None
                atexit._run_exitfuncs()
                if sys.stderr is not None:  # else the number may be that of any other file
                    os.write(2, words[number])
        finally:
            os._exit(_SHELL_OFFSET + number)

    for number in _heard():
        _signal.signal(number, end)


def _heard() -> list[int]:
    """The signals to obey: whoever was started deaf to one, as by nohup, stays so."""
    numbers = [getattr(_signal, name) for name in _SIGNALS if hasattr(_signal, name)]
    return [number for number in numbers if _signal.getsignal(number) != _signal.SIG_IGN]


if __name__ == "__main__":
    sys.exit(run())
