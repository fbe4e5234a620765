"""Progress on a terminal, for work that takes over a second; nothing when standard error is piped."""

from __future__ import annotations

import atexit
import contextlib
import sys
import time

# In seconds. Within a second a user does not lose the thought (Nielsen 1993, "Response times"), so nothing is
# shown; within a tenth a change looks immediate.
_DELAY = 1.0
_INTERVAL = 0.1


class Progress:
    """Shows `indexing 120 of 2900 files`, and wipes it at the end."""

    def __init__(self) -> None:
        """The clock starts now."""
        self._is_watched = sys.stderr is not None and sys.stderr.isatty()
        self._next_time = time.monotonic() + _DELAY
        self._is_drawn = False

    def __call__(self, verb: str, n_done: int, n_all: int, noun: str) -> None:
        """Show how far the work is; cheap enough to be called for every file."""
        if self._is_watched and time.monotonic() >= self._next_time:
            self._next_time = time.monotonic() + _INTERVAL
            if not self._is_drawn:
                atexit.register(self._wipe)  # a signal ends the process without `__exit__`
            self._is_drawn = True
            self._draw(f"{verb} {n_done} of {n_all} {noun}")

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_drawn:
            atexit.unregister(self._wipe)
            self._wipe()

    def _wipe(self) -> None:
        self._draw("")

    def _draw(self, line: str) -> None:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()
