"""What git holds at a commit: a path and a commit in, bytes out. Nothing is fetched, and nothing changes."""

from __future__ import annotations

import os
import subprocess

from cce.errors import ReportError, UsageError
from cce.quoting import on_one_line, quoted
from cce.work_tree import path_in_work_tree

# A partial clone would fetch what it lacks, and ask for a password.
OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
"""What the environment of git gets besides."""
_TIMEOUT = 60


def read_at(ref: str, path: str) -> bytes:
    """The content of the file `path` in the commit that `ref` names.

    Raises UsageError for an unknown commit, ReportError for a file that it does not have.
    """
    inner = path_in_work_tree(path)
    if inner is None:
        raise UsageError(f"{on_one_line(path)}: is in no git work tree, so in no commit: leave the ref out")
    folder = os.path.dirname(os.path.abspath(path))
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)  # the commit may have a folder that is gone
    commit = run_git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if commit is None:
        raise UsageError(f"{quoted(ref)} is no commit of this repository: fetch it, or name another one")
    content = run_git(folder, "cat-file", "blob", f"{commit.decode().strip()}:{inner}")
    if content is None:
        raise ReportError(
            f"{on_one_line(ref)}:{on_one_line(inner)}: that commit has no such file: "
            "accept a baseline there first, or hold against the file here"
        )
    return content


def run_git(folder: str, *arguments: str) -> bytes | None:
    """What git prints, None if it fails; raises UsageError where it cannot be run."""
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and a ref is never an option
            ("git", "-C", folder, *arguments),  # noqa: S607 - as the user's own git
            env={**os.environ, **OFFLINE},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT,
        )
    except OSError as exc:
        raise UsageError(f"git cannot be run ({exc.strerror}): install it, or leave the ref out") from exc
    except subprocess.TimeoutExpired as exc:
        raise UsageError(f"git does not answer within {_TIMEOUT} s: try again, or leave the ref out") from exc
    return done.stdout if done.returncode == 0 else None
