"""Blocks of lines by their indentation."""

from __future__ import annotations

import pytest

from cce.labels.tracking.blocks import MAX_LINES, blocks
from cce.labels.tracking.texts import split_lines


def found(text: str) -> set[tuple[int, int]]:
    """The blocks, 1-based and inclusive as a person counts lines."""
    return {(start + 1, end) for start, end in blocks(split_lines(text.encode()))}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x = 1\ny = 2\n", {(1, 1), (2, 2)}),
        ("def f():\n    a\n\n    b\n\n\nx = 1\n", {(1, 4), (2, 2), (4, 4), (7, 7)}),
        ("int f() {\n  a;\n}\nint x;\n", {(1, 2), (1, 3), (2, 2), (3, 3), (4, 4)}),
        ("# about f\n@one\ndef f():\n  a\n", {(1, 1), (1, 2), (1, 4), (2, 2), (2, 4), (3, 4), (4, 4)}),
        ("def f(\n    a,\n):\n    b\n", {(1, 2), (1, 4), (2, 2), (3, 4), (4, 4)}),
        ("", set()),
        ("\n\n", set()),
    ],
)
def test_a_block_is_a_line_with_what_is_deeper(text: str, wanted: set[tuple[int, int]]) -> None:
    assert found(text) == wanted


def test_long_blocks_and_long_runs_of_comments_cost_no_more_than_their_lines() -> None:
    assert max(end - start + 1 for start, end in found("f:\n" + "  a\n" * 500)) == 1
    assert len(found("# a\n" * 5000)) < 16 * 5000
    assert max(end - start + 1 for start, end in found("f:\n" + "  a\n" * (MAX_LINES - 1))) == MAX_LINES
