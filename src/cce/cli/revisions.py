"""What the commands that edit a set share: `--write`, and how they say what changed."""

from __future__ import annotations

from collections.abc import Sequence

import click

from cce.cli.exits import say, write_result
from cce.quoting import on_one_line

WRITE = click.option("--write", is_flag=True, help="Change SET instead of showing a diff.")


def tell_revision(lines: Sequence[str], summary: str, diff: str | None, path: str) -> None:
    """Results on standard output: what was written to `path`, or else the `diff` alone."""
    if diff is None:
        write_result("".join(f"{line}\n" for line in [*lines, f"{summary} -> {on_one_line(path)}"]))
        return
    for line in lines:
        say(line)
    say(f"{summary}; nothing is written without --write")
    write_result(diff)
