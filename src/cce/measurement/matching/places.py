"""Rankings of two systems in, whether both returned the same places out."""

from __future__ import annotations

from collections.abc import Sequence

from cce.domain.ranking import Hit, Ranking


def are_identical(a: Sequence[Ranking], b: Sequence[Ranking]) -> bool:
    """Whether every case has the same places in the same order on both sides: path, lines and kind.

    Both have one ranking per case, over the same cases.
    """
    return all([*map(_place, x)] == [*map(_place, y)] for x, y in zip(a, b, strict=True))


def _place(hit: Hit) -> tuple[str, int | None, int | None, str | None]:
    found = hit.chunk
    return found.file_path, found.start_line, found.end_line, found.kind
