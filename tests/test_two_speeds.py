"""A test without the mark `process` starts no process, so the fast half stays fast."""

from __future__ import annotations

import multiprocessing
import os
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from two_speeds import MAX_EXAMPLES_ALONE, limit_examples

DO_NOTHING = [sys.executable, "-c", ""]


def do_nothing() -> None:
    """The work of a process that should never start."""


def open_a_port() -> None:
    with socket.socket() as port:
        port.bind(("127.0.0.1", 0))


STARTS: dict[str, Callable[[], object]] = {
    "subprocess": lambda: subprocess.run(DO_NOTHING, check=True),
    "system": lambda: os.system("exit"),
    "spawned worker": multiprocessing.get_context("spawn").Process(target=do_nothing).start,
    "port": open_a_port,
}
if hasattr(os, "fork"):
    STARTS |= {
        "fork": os.fork,
        "terminal": os.forkpty,
        "forked worker": multiprocessing.get_context("fork").Process(target=do_nothing).start,
    }


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_an_unmarked_test_that_starts_a_process_fails(start: Callable[[], object]) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"test_an_unmarked_test.* is not marked `process`: "):
        start()


@pytest.mark.process
def test_a_marked_test_may_start_a_process() -> None:
    assert subprocess.run(DO_NOTHING, check=True).returncode == 0


def test_whatever_runs_the_installed_command_is_marked(request: pytest.FixtureRequest) -> None:
    users = [item for item in request.session.items if "run_cce" in getattr(item, "fixturenames", ())]
    assert [item.nodeid for item in users if not item.get_closest_marker("process")] == []


def test_the_fast_half_tries_few_examples() -> None:
    n_tried = 0

    @settings(max_examples=20 * MAX_EXAMPLES_ALONE, deadline=None, database=None)
    @given(st.integers())
    def tried(_: int) -> None:
        nonlocal n_tried
        n_tried += 1

    limit_examples(tried)
    tried()
    assert n_tried == MAX_EXAMPLES_ALONE


def test_a_test_without_examples_is_left_alone() -> None:
    limit_examples(do_nothing)
    assert not hasattr(do_nothing, "_hypothesis_internal_use_settings")
