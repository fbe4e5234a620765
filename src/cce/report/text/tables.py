"""How a table of text is laid out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cce.quoting import one_line

_NAME_WIDTH = 10


def row(name: str, cells: Iterable[str], widths: Iterable[int], name_width: int = _NAME_WIDTH) -> str:
    """One line with columns of the given widths; a name too long for its column pushes the rest."""
    aligned = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return f"  {one_line(name):<{name_width}}{''.join(aligned)}"


def align(rows: Sequence[Sequence[str]], n_left: int) -> list[str]:
    """Lines with columns as wide as their widest cell, the first `n_left` left aligned, the others right."""
    cells = [[one_line(cell) for cell in each] for each in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [_aligned(each, widths, n_left) for each in cells]


def _aligned(cells: Sequence[str], widths: Sequence[int], n_left: int) -> str:
    left = (f"{cell:<{width}}" for cell, width in zip(cells[:n_left], widths[:n_left], strict=True))
    right = (f"{cell:>{width}}" for cell, width in zip(cells[n_left:], widths[n_left:], strict=True))
    return f"  {'  '.join((*left, *right))}".rstrip(" ")
