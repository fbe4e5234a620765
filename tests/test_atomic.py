"""A file is the whole old one or the whole new one, and nothing else stays in its folder."""

from __future__ import annotations

import errno
import os
import random
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cce.atomic import link_below, write_atomically, write_below

LEFTOVER = ".cce-0123456789abcdef.tmp"
posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files, modes or signals")


def names_in(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_a_new_file_holds_the_content_and_is_alone(tmp_path: Path) -> None:
    write_atomically(str(tmp_path / "a"), b"new")
    assert names_in(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"new"


def test_pieces_are_joined(tmp_path: Path) -> None:
    write_atomically(str(tmp_path / "a"), (piece for piece in (b"one", b"", b"two")))
    assert (tmp_path / "a").read_bytes() == b"onetwo"


def test_no_pieces_make_an_empty_file(tmp_path: Path) -> None:
    write_atomically(str(tmp_path / "a"), ())
    assert (tmp_path / "a").read_bytes() == b""


def test_an_old_file_is_replaced_by_a_shorter_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a long old text")
    write_atomically(str(tmp_path / "a"), b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_relative_path_is_written_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_atomically("a", b"new")
    assert names_in(tmp_path) == ["a"]


def test_pieces_that_fail_leave_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"x" * 3_000_000  # more than a buffer holds
        raise ValueError("no more")

    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(ValueError, match="no more"):
        write_atomically(str(tmp_path / "a"), pieces())
    assert names_in(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_below_a_folder_the_content_goes_to_the_file_and_nothing_else_stays(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / LEFTOVER).write_bytes(b"of a dead writer")
    for content in (b"a long new text", b"new"):
        write_below(str(tmp_path), ("in", "a"), content)
    assert names_in(tmp_path / "in") == ["a"]
    assert (tmp_path / "in" / "a").read_bytes() == b"new"


@posix_only
@pytest.mark.parametrize(("name", "target"), [("in", "out"), ("in/a", "../out/a"), ("in/a", "../out/new")])
def test_below_a_folder_no_link_is_followed(tmp_path: Path, name: str, target: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_bytes(b"old")
    if name != "in":
        (tmp_path / "in").mkdir()
    (tmp_path / name).symlink_to(target)
    assert link_below(str(tmp_path), ("in", "a")) == str(tmp_path / name)
    with pytest.raises(OSError, match="is a link"):
        write_below(str(tmp_path), ("in", "a"), b"new")
    assert names_in(tmp_path / "out") == ["a"]
    assert (tmp_path / "out" / "a").read_bytes() == b"old"


@posix_only
def test_a_link_that_comes_while_a_file_is_written_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()

    def pieces() -> Iterator[bytes]:
        (tmp_path / "in").rename(tmp_path / "moved")
        (tmp_path / "in").symlink_to("out")
        (tmp_path / "moved" / "a").symlink_to("../out/a")
        yield b"new"

    write_below(str(tmp_path), ("in", "a"), pieces())
    assert names_in(tmp_path / "out") == []
    assert names_in(tmp_path / "moved") == ["a"]
    assert not (tmp_path / "moved" / "a").is_symlink()
    assert (tmp_path / "moved" / "a").read_bytes() == b"new"


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_system_that_refuses_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, failing, refuse)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(str(tmp_path / "a"), b"new")
    assert names_in(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


@pytest.mark.parametrize("name", ["folder", "missing/", ""])
def test_what_can_only_be_a_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=r"directory|denied"):
        write_atomically(f"{tmp_path}/{name}", b"new")
    assert names_in(tmp_path) == ["folder"]


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomically(str(tmp_path / "missing" / "a"), b"new")
    assert names_in(tmp_path) == []


@posix_only
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_replaced_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(mode)
    write_atomically(str(tmp_path / "a"), b"new")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


@posix_only
def test_a_new_file_gets_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "usual").write_bytes(b"")
    write_atomically(str(tmp_path / "a"), b"new")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "usual").stat().st_mode


@posix_only
@pytest.mark.parametrize("is_dangling", [False, True])
def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path, is_dangling: bool) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "a", tmp_path / "link"
    if not is_dangling:
        target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(str(link), b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert names_in(tmp_path / "there") == ["a"]


def test_a_path_with_a_nul_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="null") as raised:
        write_atomically(str(tmp_path / "a\0b"), b"new")
    assert raised.value.errno == errno.EINVAL
    assert names_in(tmp_path) == []


@posix_only
def test_a_device_stays_a_device(tmp_path: Path) -> None:
    write_atomically("/dev/null", (b"one", b"two"))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@posix_only
def test_a_pipe_gets_every_piece(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write_atomically(str(pipe), (b"one", b"two" * 100_000))
    reader.join()
    assert received == [b"one" + b"two" * 100_000]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full disk to offer")
def test_a_full_device_is_an_error() -> None:
    with pytest.raises(OSError, match="No space left"):
        write_atomically("/dev/full", b"new")


@posix_only
def test_the_file_of_a_dead_writer_is_removed(tmp_path: Path) -> None:
    (tmp_path / LEFTOVER).write_bytes(b"half")
    write_atomically(str(tmp_path / "a"), b"new")
    assert names_in(tmp_path) == ["a"]


def test_the_file_of_a_living_writer_stays(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    def pieces() -> Iterator[bytes]:
        yield b"one"
        write_atomically(str(tmp_path / "b"), b"of another writer")
        seen.append(names_in(tmp_path))

    write_atomically(str(tmp_path / "a"), pieces())
    ((mine, *others),) = seen
    assert mine.startswith(".cce-")
    assert others == ["b"]
    assert names_in(tmp_path) == ["a", "b"]
    assert (tmp_path / "a").read_bytes() == b"one"


@posix_only
def test_a_writer_whose_new_file_was_taken_for_a_leftover_starts_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    lock = fcntl.flock
    removed: list[str] = []

    def lock_too_late(descriptor: int, operation: int) -> None:
        if not removed:
            (name,) = names_in(tmp_path)
            (tmp_path / name).unlink()
            removed.append(name)
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", lock_too_late)
    write_atomically(str(tmp_path / "a"), b"new")
    assert len(removed) == 1
    assert names_in(tmp_path) == ["a"]


@posix_only
def test_without_locks_files_are_written_and_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def refuse(*_: object, **__: object) -> None:
        raise OSError(37, "No locks available")

    (tmp_path / LEFTOVER).write_bytes(b"half")
    monkeypatch.setattr(fcntl, "flock", refuse)
    write_atomically(str(tmp_path / "a"), b"new")
    assert names_in(tmp_path) == [LEFTOVER, "a"]


@posix_only
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_plain_files_count_as_leftovers(tmp_path: Path, kind: str) -> None:
    other = tmp_path / LEFTOVER
    if kind == "link":
        (tmp_path / "kept").write_bytes(b"")
        other.symlink_to(tmp_path / "kept")
    elif kind == "pipe":
        os.mkfifo(other)
    else:
        other.mkdir()
    write_atomically(str(tmp_path / "a"), b"new")
    assert LEFTOVER in names_in(tmp_path)


@pytest.mark.parametrize(
    "name", [".cce-notes.tmp", ".cce-0123456789abcdef", "x" + LEFTOVER, LEFTOVER + "x", LEFTOVER.upper()]
)
def test_files_of_other_names_stay(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    write_atomically(str(tmp_path / "a"), b"new")
    assert sorted([name, "a"]) == names_in(tmp_path)


WRITER = """
import sys
from cce.atomic import link_below, write_atomically, write_below
while True:
    for letter in (b"a", b"b"):
        write_atomically(sys.argv[1], (letter * 100_000 for _ in range(10)))
        sys.stdout.write(".")
        sys.stdout.flush()
"""


@posix_only
@pytest.mark.process
def test_writers_killed_fifty_times_leave_a_whole_file_and_at_most_one_other(tmp_path: Path) -> None:
    target = tmp_path / "a"
    source = Path(__file__).resolve().parent.parent / "src"
    moments = random.Random(4)
    n_left = 0
    for _ in range(50):
        writer = subprocess.Popen(
            [sys.executable, "-S", "-c", WRITER, str(target)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(source)},
        )
        assert writer.stdout is not None
        with writer, writer.stdout as progress:
            assert progress.read(1) == b"."  # it has cleaned up and written once
            time.sleep(moments.random() * 0.02)
            writer.kill()
        content = target.read_bytes()
        assert content in (b"a" * 1_000_000, b"b" * 1_000_000)
        others = set(names_in(tmp_path)) - {"a"}
        assert len(others) <= 1
        n_left += len(others)
    assert n_left > 0  # else no kill came in the middle of a write, and nothing was shown
    write_atomically(str(target), b"new")
    assert names_in(tmp_path) == ["a"]
