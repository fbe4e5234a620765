"""`overlap`: the share of the query's tokens that occur in the passage."""

from __future__ import annotations

from collections.abc import Sequence

from cce.tokens import tokenize


class Overlap:
    """The simplest reranker: what a costly one has to beat."""

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Distinct query tokens that occur / distinct query tokens; 0 for a query without tokens."""
        return [coverage(set(tokens_of(query)), set(tokens_of(passage))) for query, passage in pairs]


def tokens_of(text: str) -> list[bytes]:
    """The tokens of `text`, in order, repeats kept."""
    return tokenize(text.encode("utf-8", "replace"))


def coverage(
    wanted: set[bytes] | set[tuple[bytes, bytes]], found: set[bytes] | set[tuple[bytes, bytes]]
) -> float:
    """The share of `wanted` that is in `found`; 0 where nothing is wanted."""
    return len(wanted & found) / len(wanted) if wanted else 0.0
