"""Chunks, which an index holds, and rankings of them: what a backend answers to one query."""

from __future__ import annotations

from typing import NamedTuple


class Chunk(NamedTuple):
    """One indexed piece of a file, from scrubbed text.

    `file_path` is relative to the corpus, `/`-separated; lines are 1-based and inclusive;
    `chunk_type` is `function`, `class` or `module`, `kind` the syntax node's type; `content` is
    UTF-8, sliced at byte offsets; `token_count` is an estimate from the content's bytes.
    """

    chunk_id: str
    file_path: str
    start_line: int
    end_line: int
    chunk_type: str
    kind: str
    language: str
    content: bytes
    token_count: int


class Location(NamedTuple):
    """A place that a system returned and that is no chunk of the index.

    Lines are 1-based and inclusive, both None where they are unknown. `text` and `kind` are what the system
    said. What `is_outside` the corpus fills its rank and matches nothing.
    """

    file_path: str
    start_line: int | None = None
    end_line: int | None = None
    kind: str | None = None
    text: str | None = None
    is_outside: bool = False


class Hit(NamedTuple):
    """One ranked chunk and the score it was ranked by."""

    chunk: Chunk
    score: float


Ranking = tuple[Hit, ...]
"""Best first, no chunk twice, finite scores; a rank is the 1-based position."""
