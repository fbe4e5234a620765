"""Git work trees: which one holds a file, and whether a path leaves it. Git itself is never asked."""

from __future__ import annotations

import os

_GIT = ".git"  # a folder, or a file in a worktree or a submodule


def is_outside(path: str, file: str) -> bool:
    """Whether `path`, its links followed, leaves the git work tree that holds `file`; False if none does.

    What git keeps for itself is no part of a work tree: a checkout in CI has its token there.
    """
    root = _work_tree(os.path.dirname(file))
    if root is None:
        return False
    inner = os.path.realpath(path)
    if inner != root and not inner.startswith(root.rstrip(os.sep) + os.sep):
        return True
    return _GIT in inner[len(root) :].split(os.sep)


def _work_tree(folder: str) -> str | None:
    """The nearest folder from `folder` up that has an entry `.git`, its links followed."""
    here = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(here, _GIT)):
        above = os.path.dirname(here)
        if above == here:
            return None
        here = above
    return here
