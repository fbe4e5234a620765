"""Where a git work tree begins: found by its `.git` entry, no git is started and nothing in it is read."""

from __future__ import annotations

import os


def path_in_work_tree(path: str) -> str | None:
    """`path` as git names it, relative to the work tree that holds it, with `/`; None outside of any."""
    absolute = os.path.abspath(path)
    folder = os.path.dirname(absolute)
    # A folder in a clone, a file in a worktree or a submodule: either one marks the root.
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return os.path.relpath(absolute, folder).replace(os.sep, "/")
