"""The questions of `cce fixtures reanchor --ask`: one edited label at a time, old and new side by side.

On standard error, so that the diff on standard output stays a diff.
"""

from __future__ import annotations

import sys

from cce.cli.exits import say
from cce.labels.edited import Accepts, Edit, Row
from cce.quoting import on_one_line, quoted

_COLUMNS = 52
_MAX_ROWS = 40
_LOST = "(this line changed)"
_HELP = "  y or the number: the label goes there   n: it stays as it is   q: so do all that are left"


def asking(first: Accepts) -> Accepts:
    """Ask about each edited label that `first` does not accept, until the input ends."""
    is_over = False

    def accepts(edit: Edit) -> str | None:
        nonlocal is_over
        accepted = first(edit)
        if accepted is not None or is_over or not edit.choices:
            return accepted
        say("\n".join(_shown(edit)))
        answer = _answer(len(edit.choices))
        is_over = answer is None
        return edit.choices[answer - 1] if answer else None

    return accepts


def _answer(n_choices: int) -> int | None:
    """The number of the choice taken, 0 for none, None to ask no more."""
    numbers = {str(number): number for number in range(1, n_choices + 1)}
    if n_choices == 1:
        numbers = {"y": 1, **numbers}
    numbers["n"] = 0
    while True:
        say(f"take it? [{' '.join(numbers)} q]")
        typed = sys.stdin.readline()
        word = typed.strip().lower()
        if not typed or word in ("q", "quit"):
            return None
        if word in numbers:
            return numbers[word]
        say(_HELP)


def _shown(edit: Edit) -> list[str]:
    head = f"\n{quoted(edit.case.id)} {quoted(edit.anchor.text)}: {edit.whereabouts}"
    lines = [head, f"  query: {on_one_line(edit.case.query)}"]
    for number, choice in enumerate(edit.choices, start=1):
        lines.append(f"  {number}. {'as it was labelled':{_COLUMNS - 3}} | {on_one_line(choice)}")
        rows = edit.rows(choice)
        lines += [_row(row) for row in rows[:_MAX_ROWS]]
        if len(rows) > _MAX_ROWS:
            lines.append(f"  … {len(rows) - _MAX_ROWS} more lines")
    return lines


def _row(row: Row) -> str:
    """Both sides of a row, cut to the width of a column; `!` marks what is not the same."""
    old, new = (_LOST if row.is_lost else _side(row.old)), _side(row.new)
    mark = " " if row.old == row.new else "!"
    return f"{mark} {old:{_COLUMNS}} | {new}".rstrip()


def _side(line: bytes | None) -> str:
    # Escaped: a file may hold sequences that take over a terminal.
    return "" if line is None else on_one_line(line.decode("utf-8", "replace").expandtabs(4))[:_COLUMNS]
