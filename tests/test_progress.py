"""Progress: for terminals and for work that takes its time, and gone when the work is done."""

from __future__ import annotations

import io
import sys

import pytest

from cce.cli import progress as progress_module
from cce.cli.progress import Progress


class Screen(io.StringIO):
    """Standard error that may be a terminal."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress_module, "time", clock)
    return clock


def shown(monkeypatch: pytest.MonkeyPatch, clock: Clock, seconds: list[float], *, is_terminal: bool) -> str:
    """What stands on the screen after a step at each of `seconds`."""
    screen = Screen(is_terminal=is_terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress() as progress:
        for number, second in enumerate(seconds):
            clock.now = 100.0 + second
            progress("indexing", number, len(seconds), "files")
    return screen.getvalue()


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    assert shown(monkeypatch, clock, [0.0, 0.5, 0.99], is_terminal=True) == ""


def test_long_work_shows_how_far_it_is_and_wipes_it_at_the_end(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    assert shown(monkeypatch, clock, [0.0, 1.0, 1.05, 1.2], is_terminal=True) == (
        "\r\x1b[Kindexing 1 of 4 files\r\x1b[Kindexing 3 of 4 files\r\x1b[K"
    )


def test_a_pipe_sees_nothing_however_long_it_takes(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    assert shown(monkeypatch, clock, [0.0, 60.0], is_terminal=False) == ""


def test_a_closed_standard_error_is_no_reason_to_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with Progress() as progress:
        progress("indexing", 0, 1, "files")
