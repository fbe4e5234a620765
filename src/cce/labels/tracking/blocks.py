"""Blocks: the runs of lines that belong together by their indentation, in any language.

The lines of a file enter, the blocks leave. A text of which only the pin is known can be a whole function
or statement of another file; any run of lines would be too many to hash.
"""

from __future__ import annotations

from collections.abc import Iterator

from cce.labels.tracking.texts import Lines

MAX_LINES = 200
"""Longer blocks are left out: nested ones would be hashed again and again."""

_MAX_STEPS = 16
_CLOSING = (b"}", b")", b"]", b"{", b"end", b"else", b"except", b"finally", b"elif", b"rescue", b"ensure")
_HEAD = (b"@", b"#", b"//", b"/*", b"*")


def blocks(lines: Lines) -> Iterator[tuple[int, int]]:
    """(start, end) of every block, 0-based and half-open; linear in the lines.

    A block is a line with the deeper lines after it. It goes on at the next line of its indentation if that
    closes it, or if what came before was only its head: a comment, a decorator, an attribute.
    """
    indents = [len(line) - len(line.lstrip()) if line else -1 for line in lines]
    following, filled_ends = _followers(indents)
    for start, indent in enumerate(indents):
        if indent < 0:
            continue
        current = start
        for _ in range(_MAX_STEPS):
            end = filled_ends[following[current]]
            if end - start > MAX_LINES:
                break
            yield start, end
            after = following[current]
            if after == len(lines) or indents[after] != indent:
                break
            if not (lines[after].lstrip().startswith(_CLOSING) or lines[current].lstrip().startswith(_HEAD)):
                break
            current = after


def _followers(indents: list[int]) -> tuple[list[int], list[int]]:
    """For each line the next one that is no deeper; for each line where the text before it ends.

    Blank lines have the indentation -1 and are passed over. Both lists count `len(indents)` as a line.
    """
    n_lines = len(indents)
    following, filled_ends = [n_lines] * n_lines, [0] * (n_lines + 1)
    open_lines: list[int] = []
    for number, indent in enumerate(indents):
        filled_ends[number + 1] = filled_ends[number] if indent < 0 else number + 1
        if indent < 0:
            continue
        while open_lines and indents[open_lines[-1]] >= indent:
            following[open_lines.pop()] = number
        open_lines.append(number)
    return following, filled_ends
