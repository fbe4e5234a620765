"""What a reranker is: it scores pairs of a query and a passage.

A new one is a class that satisfies `PairScorer` and one row in `catalog.py`, or an entry point of the group
named there. The `CrossEncoder` of sentence-transformers satisfies it as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class PairScorer(Protocol):
    """Scores passages for a query; higher is better, and the scale is its own."""

    def predict(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """One finite score for each pair (query, passage), in the order of `pairs`.

        The score of a pair must not depend on the others. A passage is the path of the result, a line feed
        and its text.
        """


class PairScorerFactory(Protocol):
    """Makes the PairScorer of a run: a class, or a function."""

    def __call__(self, **options: Any) -> PairScorer:
        """Called once per run, with the `rerank_options` of a systems file as keyword arguments."""
