"""Where the store of a directory stands: `DIR/.cce/index.json`, ignored by git.

Nobody types that path, so no link below DIR is followed on it: a link that came with a clone would
choose which file of the user is replaced, or whose text is taken for that of DIR.
"""

from __future__ import annotations

import os

from cce.atomic import link_below, write_below
from cce.errors import StoreError
from cce.files import writing
from cce.quoting import on_one_line

_FOLDER = ".cce"
_NAME = "index.json"
STORE = (_FOLDER, _NAME)
"""The names that lead from a directory to its store."""


def store_beside(directory: str) -> str:
    """The path of the store of `directory`, whether or not it is there; raises StoreError for a link."""
    link = link_below(directory, STORE)
    if link is not None:
        raise StoreError(
            f"{on_one_line(link)}: is a link, and a default store is not used through one; "
            "remove it, or name the store with --store FILE"
        )
    return os.path.join(directory, *STORE)


def directory_of(store: str) -> str | None:
    """The directory whose store stands at `store` by default; None for a store elsewhere."""
    folder, name = os.path.split(store)
    parent, base = os.path.split(folder)
    return (parent or ".") if (base, name) == STORE else None


def make_store_folder(directory: str) -> str:
    """Make the folder of the store of `directory` unless it is there, and return the store's path.

    Raises StoreError. A `.gitignore` in it keeps everybody from committing the store by accident.
    """
    path = store_beside(directory)
    folder = os.path.dirname(path)
    with writing(folder, StoreError, "cannot be made: {}; name a writable place with --store FILE"):
        os.makedirs(folder, exist_ok=True)
        rules = os.path.join(folder, ".gitignore")
        if not os.path.lexists(rules):
            write_below(directory, (_FOLDER, ".gitignore"), b"*\n")
    return path
