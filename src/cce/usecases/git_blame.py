"""How old lines are: a file in, the commit time of each of its lines out. Nothing is fetched or changed."""

from __future__ import annotations

import os
from collections.abc import Sequence

from cce.usecases.git import run_git

_UNCOMMITTED = b"0" * 40


def last_commit_time(folder: str) -> int | None:
    """When the current commit was made, in seconds since 1970; None outside of git and without a commit."""
    found = run_git(folder, "log", "-1", "--format=%ct")
    return int(found) if found is not None and found.strip().isdigit() else None


def line_times(folder: str, path: str) -> Sequence[int | None] | None:
    """When each line of the file `path` below `folder` was last committed, in seconds since 1970.

    None for a line that is in no commit yet, and None for a file that git does not follow. One process.
    """
    found = run_git(folder, "blame", "--porcelain", "--", os.path.join(*path.split("/")))
    return None if found is None else _parse(found)


def _parse(porcelain: bytes) -> list[int | None]:
    """Each line starts with `HASH old new`; what is known of a commit follows its first line only."""
    times: dict[bytes, int | None] = {_UNCOMMITTED: None}
    owners: list[bytes] = []
    is_head = True
    for line in porcelain.split(b"\n"):
        if line.startswith(b"\t"):
            is_head = True
        elif is_head and line:
            owners.append(line.partition(b" ")[0])
            is_head = False
        elif line.startswith(b"committer-time "):
            times.setdefault(owners[-1], int(line.split(b" ")[1]))
    return [times.get(owner) for owner in owners]
