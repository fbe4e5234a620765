"""A scope: a set of files, named by patterns in .gitignore syntax."""

from __future__ import annotations

from typing import NamedTuple


class Scope(NamedTuple):
    """Allowed is what `include` matches, or everything where it is None, and `exclude` does not.

    An empty `include` matches nothing: an empty scope never means "no filter".
    """

    name: str
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
