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


class Hit(NamedTuple):
    """One ranked chunk and the score it was ranked by."""

    chunk: Chunk
    score: float


Ranking = tuple[Hit, ...]
"""Best first, no chunk twice, finite scores; a rank is the 1-based position."""
