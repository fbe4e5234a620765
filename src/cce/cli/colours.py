"""Colours for a terminal: none in a pipe, and none where NO_COLOR asks for none."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable

import click

from cce.tokens import tokenize

Paint = Callable[[str], str]


def has_colours() -> bool:
    """Whether standard output is a terminal whose owner wants colours (see no-color.org)."""
    is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return is_wanted and sys.stdout is not None and sys.stdout.isatty()


def paint_path(text: str) -> str:
    """The place of a hit."""
    return click.style(text, fg="cyan")


def paint_terms(query: str) -> Paint:
    """What paints the words of `query` wherever they stand in a text, upper or lower case."""
    words = sorted({token.decode() for token in tokenize(query.encode("utf-8", "replace"))}, key=len)
    if not words:
        return str
    # Tokens are letters, digits and underscores; longer ones first, so that a part does not hide a whole.
    pattern = re.compile("|".join(reversed(words)), re.IGNORECASE | re.ASCII)
    return lambda text: pattern.sub(lambda found: click.style(found[0], bold=True, fg="yellow"), text)
