"""What the shell may complete: parameters that name a file, a folder, or a format and a file.

Their values stay strings as typed: what is there, and of what kind, is found out where it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class PathType(click.types.StringParamType):
    """A path as typed; click's own type would check it, with messages of its own."""

    def __init__(self, shape: str) -> None:
        """`shape` is what the shell is to look for: `file` or `dir`."""
        self._shape = shape

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Let the shell complete the path."""
        from click.shell_completion import CompletionItem

        # A name that is not UTF-8 cannot be printed; most shells do not read it anyway.
        printable = incomplete.encode(errors="replace").decode()
        return [CompletionItem(printable, type=self._shape)]


class FormatAndPath(PathType):
    """`FORMAT=PATH`: the names of the formats first, then the shell's files."""

    def __init__(self, formats: Callable[[], Iterable[str]]) -> None:
        """`formats` lists the names; it is called when a shell completes one."""
        super().__init__("file")
        self._formats = formats

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The formats that begin so; after `=` the shell's files."""
        from click.shell_completion import CompletionItem

        name, equals, path = incomplete.partition("=")
        if equals:
            return super().shell_complete(ctx, param, path)
        return [CompletionItem(f"{known}=") for known in self._formats() if known.startswith(name)]


FILE = PathType("file")
DIRECTORY = PathType("dir")
NAMED_FILE = FormatAndPath(tuple)
"""`NAME=FILE`, where the name is the user's own."""
