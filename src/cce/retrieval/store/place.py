"""Where the store of a directory stands: `DIR/.cce/index.json`, ignored by git."""

from __future__ import annotations

import os

from cce.atomic import write_atomically
from cce.errors import StoreError

_FOLDER = ".cce"
_NAME = "index.json"


def store_beside(directory: str) -> str:
    """The path of the store of `directory`, whether or not it is there."""
    return os.path.join(directory, _FOLDER, _NAME)


def directory_of(store: str) -> str | None:
    """The directory whose store stands at `store` by default; None for a store elsewhere."""
    folder, name = os.path.split(store)
    parent, base = os.path.split(folder)
    return (parent or ".") if (base, name) == (_FOLDER, _NAME) else None


def make_store_folder(directory: str) -> str:
    """Make the folder of the store of `directory` unless it is there, and return the store's path.

    A `.gitignore` in it keeps everybody from committing the store by accident.
    """
    path = store_beside(directory)
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, exist_ok=True)
        rules = os.path.join(folder, ".gitignore")
        if not os.path.lexists(rules):
            write_atomically(rules, b"*\n")
    except OSError as exc:
        fault = f"{folder}: cannot be made: {exc.strerror or exc}"
        raise StoreError(f"{fault}; name a writable place with --store FILE") from exc
    return path
