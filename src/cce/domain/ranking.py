"""A ranking: what a backend answers to one query."""

from __future__ import annotations

from dataclasses import dataclass

from cce.domain.chunk import Chunk


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked chunk and the score it was ranked by."""

    chunk: Chunk
    score: float


Ranking = tuple[Hit, ...]
"""Best first, no chunk twice, finite scores; a rank is the 1-based position."""
