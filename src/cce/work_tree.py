"""Git work trees: which one holds a file, and whether a path leaves it. Git itself is never run."""

from __future__ import annotations

import os

_GIT = ".git"  # a folder in a clone, a file in a worktree or a submodule


def path_in_work_tree(path: str) -> str | None:
    """`path` as git names it, relative to the work tree that holds it, with `/`; None outside of any."""
    absolute = os.path.abspath(path)
    root = _root_above(os.path.dirname(absolute))
    return None if root is None else os.path.relpath(absolute, root).replace(os.sep, "/")


def is_outside(path: str, file: str) -> bool:
    """Whether `path`, its links followed, leaves the git work tree that holds `file`; False if none does.

    `.git` counts as outside: a checkout in CI keeps its token there.
    """
    root = _root_above(os.path.realpath(os.path.dirname(file)))
    if root is None:
        return False
    inner = os.path.realpath(path)
    if inner != root and not inner.startswith(root.rstrip(os.sep) + os.sep):
        return True
    return _GIT in inner[len(root) :].split(os.sep)


def _root_above(folder: str) -> str | None:
    """The nearest folder from `folder` up that has an entry `.git`."""
    while not os.path.lexists(os.path.join(folder, _GIT)):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder
