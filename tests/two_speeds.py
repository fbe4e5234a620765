"""The two speeds of the tests: `pytest -m "not process"` answers within half a minute, `pytest` runs all.

A test has the mark `process` if it uses a fixture of PROCESS_FIXTURES, or says so itself. A test without
the mark fails as soon as it starts a process or opens a port, by whichever function.
"""

from __future__ import annotations

import multiprocessing.util
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings

FAST_HALF = "not process"

# The installed command, and a browser.
PROCESS_FIXTURES = frozenset({"run_cce", "chrome"})

# Alone, the fast half tries at most this many examples of each property: with all of them it takes
# one and a half times as long. Examples that a test names itself are always tried.
MAX_EXAMPLES_ALONE = 25

# Workers that multiprocessing spawns raise no audit event on POSIX; `TwoSpeeds` raises this one for them.
SPAWN = "two_speeds.spawn"

# https://docs.python.org/3/library/audit_events.html
PROCESS_EVENTS = frozenset(
    {
        SPAWN,
        "_winapi.CreateProcess",
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.system",
        "socket.bind",
        "subprocess.Popen",
    }
)


class TwoSpeeds:
    """A pytest plug-in that marks tests and keeps those without the mark from starting a process.

    It listens to the interpreter's audit events, so it need not know the functions that start one.
    An audit hook cannot be removed: there is one for the session, and it asks which test is running.
    """

    def __init__(self) -> None:
        """Make one per session."""
        self._unmarked: pytest.Item | None = None
        sys.addaudithook(self._refuse)
        spawn = multiprocessing.util.spawnv_passfds

        def audited_spawn(path: bytes, args: Sequence[Any], passfds: Sequence[int]) -> int:
            sys.audit(SPAWN, path)
            return spawn(path, args, passfds)

        multiprocessing.util.spawnv_passfds = audited_spawn

    @pytest.hookimpl(tryfirst=True)  # before pytest selects by -m
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Mark the tests that use a fixture of PROCESS_FIXTURES; limit examples in the fast half."""
        for item in items:
            if not PROCESS_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
                item.add_marker("process")
            elif config.option.markexpr == FAST_HALF and isinstance(item, pytest.Function):
                limit_examples(item.obj)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Guard one test, with the set-up and the end of its fixtures."""
        self._unmarked = None if item.get_closest_marker("process") else item
        try:
            return (yield)
        finally:
            self._unmarked = None

    def _refuse(self, event: str, arguments: tuple[object, ...]) -> None:
        """Fail before the process starts, by an exception that `except Exception` does not catch."""
        if self._unmarked is not None and event in PROCESS_EVENTS:
            pytest.fail(f"{self._unmarked.nodeid} is not marked `process`: {event} {arguments!r}")


def limit_examples(function: object) -> None:
    """Let a property try few examples; other functions stay as they are."""
    # Hypothesis's own pytest plug-in changes the settings of a test by this attribute too.
    attribute = "_hypothesis_internal_use_settings"
    if is_hypothesis_test(function):
        current: settings = getattr(function, attribute, None) or settings()
        limited = settings(current, max_examples=min(current.max_examples, MAX_EXAMPLES_ALONE))
        setattr(function, attribute, limited)
