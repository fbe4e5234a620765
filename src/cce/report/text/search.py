"""The answer to one query as text for people."""

from __future__ import annotations

from collections.abc import Callable

from cce.domain.ranking import Hit, Ranking
from cce.numerals import format_score
from cce.quoting import one_line

_N_SHOWN = 80

Emphasis = Callable[[str], str]
"""Marks a piece of text for a terminal; the identity where there is none."""


def render_search_text(
    ranking: Ranking, emphasize_path: Emphasis = str, emphasize_terms: Emphasis = str
) -> str:
    """Two lines a hit: rank, score, place and kind; then the chunk's first line."""
    if not ranking:
        return "(no results)\n"
    return "".join(
        f"{_headline(rank, hit, emphasize_path)}\n    {emphasize_terms(first_line(hit))}\n"
        for rank, hit in enumerate(ranking, start=1)
    )


def first_line(hit: Hit) -> str:
    """The chunk's first line, cut at 80 characters and trimmed, with nothing a terminal would obey."""
    line = hit.chunk.content.decode("utf-8", "replace").partition("\n")[0]
    return "".join(c if c.isprintable() else " " for c in line[:_N_SHOWN]).strip()


def _headline(rank: int, hit: Hit, emphasize_path: Emphasis) -> str:
    chunk = hit.chunk
    # A store may come from anywhere: its names must not move the cursor.
    place = emphasize_path(one_line(f"{chunk.file_path}:{chunk.start_line}-{chunk.end_line}"))
    return f"{rank:2}. [{format_score(hit.score)}] {place} ({one_line(f'{chunk.chunk_type}/{chunk.kind}')})"
