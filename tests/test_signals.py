"""A signal ends the process at any moment: its exit code, one word, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.skipif(os.name != "posix", reason="sends signals")]

# The whole process but for the command line itself, whose place `work` takes.
_SCRIPT = """
import atexit, os, signal, sys, tempfile, time
import cce.__main__, cce.cli.main
from cce.atomic import write_atomically

def send(*_):
    signal.raise_signal(signal.{name})

def work():
{work}
    return 0

cce.cli.main.main = work
sys.exit(cce.__main__.run())
"""
_FINALIZER = """
class Value:
    __del__ = send
Value()
time.sleep(60)
"""
_CLASS = """
class Name:
    __set_name__ = send
class Owner:
    name = Name()
"""
_SWALLOWED = """
try:
    send()
except BaseException:
    pass
time.sleep(60)
"""
_WRITING = """
def pieces():
    yield b"first"
    send()
    yield b"second"
write_atomically("old.txt", pieces())
"""
_TEMPORARY_FOLDER = """
with tempfile.TemporaryDirectory(dir=".") as folder:
    open(os.path.join(folder, "file"), "w").close()
    send()
"""


def run(folder: Path, work: str, name: str = "SIGINT", ignored: str | None = None) -> tuple[int, bytes]:
    script = _SCRIPT.format(name=name, work="".join(f"    {line}\n" for line in work.splitlines()))

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests was deaf to
        if ignored is not None:
            signal.signal(getattr(signal, ignored), signal.SIG_IGN)

    result = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        capture_output=True,
        timeout=50,
        check=False,
        preexec_fn=prepare,
    )
    return result.returncode, result.stderr


@pytest.mark.parametrize("work", [_FINALIZER, _CLASS, _SWALLOWED], ids=["finalizer", "class", "swallowed"])
def test_an_interrupt_is_never_lost_and_never_printed(tmp_path: Path, work: str) -> None:
    assert run(tmp_path, work) == (130, b"interrupted\n")


@pytest.mark.parametrize(
    ("name", "code", "word"),
    [("SIGINT", 130, b"interrupted\n"), ("SIGTERM", 143, b"terminated\n"), ("SIGHUP", 129, b"hung up\n")],
)
def test_each_signal_has_its_exit_code_and_leaves_no_half_file(
    tmp_path: Path, name: str, code: int, word: bytes
) -> None:
    (tmp_path / "old.txt").write_text("old")
    assert run(tmp_path, _WRITING, name) == (code, word)
    assert [path.name for path in tmp_path.iterdir()] == ["old.txt"]
    assert (tmp_path / "old.txt").read_text() == "old"


def test_a_temporary_folder_is_removed(tmp_path: Path) -> None:
    assert run(tmp_path, _TEMPORARY_FOLDER, "SIGTERM") == (143, b"terminated\n")
    assert list(tmp_path.iterdir()) == []


def test_who_was_started_deaf_to_a_signal_stays_so(tmp_path: Path) -> None:
    assert run(tmp_path, "send()", "SIGHUP", ignored="SIGHUP") == (0, b"")
    assert run(tmp_path, "send()", "SIGINT", ignored="SIGINT") == (0, b"")


def test_a_signal_while_the_interpreter_ends_changes_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, "atexit.register(send)") == (0, b"")


def test_a_second_signal_need_not_wait_for_the_clean_up(tmp_path: Path) -> None:
    assert run(tmp_path, "atexit.register(lambda: (send(), time.sleep(60)))\nsend()") == (130, b"")


def test_a_forked_process_cleans_up_nothing_of_its_parent(tmp_path: Path) -> None:
    work = """
def clean_up():
    open("cleaned", "a").write("x")
atexit.register(clean_up)
if os.fork() == 0:
    send()
os.wait()
assert not os.path.exists("cleaned")
send()
"""
    assert run(tmp_path, work) == (130, b"interrupted\n")
    assert (tmp_path / "cleaned").read_text() == "x"


def test_what_cannot_be_loaded_is_one_line_and_exit_2(tmp_path: Path) -> None:
    code, said = run(tmp_path, "raise MemoryError")
    assert (code, said.count(b"\n")) == (2, 1)
    assert b"free some memory" in said


def test_twenty_interrupts_of_whole_commands_are_quiet(root: Path) -> None:
    command = [sys.executable, str(root / "eval" / "hardening" / "interrupts.py"), "20"]
    result = subprocess.run(command, capture_output=True, timeout=300, check=False)
    assert result.stderr == b""
    counts = json.loads(result.stdout)
    assert counts.pop("tries") == 20
    assert counts.pop("ended early") > 0
    assert counts == {"noise": 0, "exits": 0, "leftovers": 0}
