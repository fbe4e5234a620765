"""The versions of a file in git's log: a path in, commits and contents out. Nothing is fetched or changed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple

from cce.errors import UsageError
from cce.quoting import on_one_line
from cce.usecases.git import OFFLINE
from cce.work_tree import path_in_work_tree

# A name may look like a pattern.
_ENVIRONMENT = {**OFFLINE, "GIT_LITERAL_PATHSPECS": "1"}
_MARK = "cce:version"
_LOG = (
    *("-c", "log.showSignature=false", "log", "--follow", "-c", "--name-status", "-z"),
    *("--no-color", "--no-ext-diff", "--no-textconv", f"--format=tformat:%x00{_MARK}%x00%H%x00%cI%x00%s%x00"),
)


class Version(NamedTuple):
    """A file as a commit has it; `content` is None where the commit deletes it."""

    commit: str
    date: str
    subject: str
    content: bytes | None


class _LogEntry(NamedTuple):
    commit: str
    date: str
    subject: str
    path: str


def versions_of(path: str) -> Iterator[Version]:
    """Every version of `path` in the log of the current commit, oldest first, through renames.

    Raises UsageError where there is no git, no work tree or no commit with the file.
    """
    inner = path_in_work_tree(path)
    shown = on_one_line(path)
    if inner is None:
        raise UsageError(f"{shown}: is in no git work tree, so it has no history: commit it to one")
    folder = _existing_folder(path)
    log = _git(folder, *_LOG, "--", os.path.abspath(path))
    entries = [] if log is None else _entries(log.decode("utf-8", "surrogateescape"), inner)
    if not entries:
        raise UsageError(f"{shown}: no commit has it, so it has no history: commit it first")
    yield from _contents(folder, entries)


def is_shallow(path: str) -> bool:
    """Whether the clone that holds `path` lacks the older part of its history."""
    found = _git(_existing_folder(path), "rev-parse", "--is-shallow-repository")
    return found is not None and found.strip() == b"true"


def _existing_folder(path: str) -> str:
    """The folder of `path`, or one above: a commit may have folders that are gone."""
    folder = os.path.dirname(os.path.abspath(path))
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def _entries(log: str, inner: str) -> list[_LogEntry]:
    """The commits of the log, oldest first, each with the path that it has the file under.

    Each commit prints the mark, three fields and then, between NULs, a status and one path, or two for a
    rename. Of merges only those are there (`-c`) whose file is that of no parent.
    """
    newest_first: list[_LogEntry] = []
    for chunk in log.split(f"\0{_MARK}\0")[1:]:
        commit, date, subject, *names = chunk.split("\0")
        paths = [name for name in names if name.strip("\n")]
        # With a rename the second path is the new one, and older commits have the first.
        path = paths[-1] if len(paths) > 1 else inner
        newest_first.append(_LogEntry(commit, date, subject, path))
        inner = paths[1] if len(paths) > 1 else inner
    return newest_first[::-1]


def _contents(folder: str, entries: Sequence[_LogEntry]) -> Iterator[Version]:
    """The entries with their contents, which one process of git gives one by one."""
    command = ("git", "-C", folder, "cat-file", "--batch")
    with subprocess.Popen(  # noqa: S603 - no shell, and no input becomes an option
        command, env={**os.environ, **_ENVIRONMENT}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None  # noqa: S101 - asked for above
        assert process.stdout is not None  # noqa: S101
        for entry in entries:
            yield Version(*entry[:3], _blob(process.stdin, process.stdout, entry))


def _blob(questions: IO[bytes], answers: IO[bytes], entry: _LogEntry) -> bytes | None:
    if "\n" in entry.path:
        raise UsageError(f"{on_one_line(entry.path)}: git is asked for one path per line: rename it")
    questions.write(f"{entry.commit}:{entry.path}\n".encode("utf-8", "surrogateescape"))
    questions.flush()
    header = answers.readline().split()
    if len(header) != 3 or header[1] != b"blob":  # `NAME missing`
        return None
    content = answers.read(int(header[2]))
    answers.read(1)  # the line end behind it
    return content


def _git(folder: str, *arguments: str) -> bytes | None:
    """What git prints, None if it fails; raises UsageError where it cannot be run."""
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and a path comes after `--`
            ("git", "-C", folder, *arguments),  # noqa: S607 - as the user's own git
            env={**os.environ, **_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as exc:
        raise UsageError(f"git cannot be run ({exc.strerror}): a history needs it, install it") from exc
    return done.stdout if done.returncode == 0 else None
