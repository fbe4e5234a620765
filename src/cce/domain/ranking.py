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

    Lines are 1-based and inclusive, both None for the whole file. `text` and `kind` are what the system
    said; `likeness` is the kind of the chunk that shares most with it, and what a reader is shown. What
    `is_outside` the corpus fills its rank and matches nothing.
    """

    file_path: str
    start_line: int | None = None
    end_line: int | None = None
    kind: str | None = None
    text: str | None = None
    is_outside: bool = False
    likeness: str | None = None


class Hit(NamedTuple):
    """One result: a chunk of the index, or another place that an outside system returned.

    `score` is what it was ranked by; None where an outside system gives none.
    """

    chunk: Chunk | Location
    score: float | None

    @property
    def indexed(self) -> Chunk:
        """The chunk, where the ranking is of chunks only; raises TypeError for another place."""
        if isinstance(self.chunk, Chunk):
            return self.chunk
        raise TypeError(f"a place that is no chunk of the index: {self.chunk}")

    @property
    def measured(self) -> float:
        """The score, where the ranking is by scores; raises TypeError where there is none."""
        if self.score is None:
            raise TypeError(f"a result without a score: {self.chunk}")
        return self.score


Ranking = tuple[Hit, ...]
"""Best first, no chunk twice, finite scores; a rank is the 1-based position."""
