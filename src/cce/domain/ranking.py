"""A ranking: what a backend answers to one query."""

from __future__ import annotations

from typing import NamedTuple

from cce.domain.chunk import Chunk


class Hit(NamedTuple):
    """One ranked chunk and the score it was ranked by."""

    chunk: Chunk
    score: float


Ranking = tuple[Hit, ...]
"""Best first, no chunk twice, finite scores; a rank is the 1-based position."""
