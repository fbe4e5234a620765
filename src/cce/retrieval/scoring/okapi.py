"""The formula of Okapi BM25 (Robertson & Walker 1994) with k1 = 1.2 and b = 0.75.

    score = sum over the terms of idf * (k1 + 1) n / (n + k1 * (1 - b + b * length / mean length))

The idf is ln(1 + (N - c + 0.5) / (c + 0.5)) for a term in c of N chunks, which is never negative.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from cce.retrieval.embedding.contract import FloatVector

K1 = 1.2
B = 0.75

_Length = TypeVar("_Length", float, "FloatVector")


def idf(n_chunks: int, n_holding: int) -> float:
    """What a term weighs that `n_holding` of `n_chunks` chunks hold."""
    return math.log(1 + (n_chunks - n_holding + 0.5) / (n_holding + 0.5))


def length_norm(length: _Length, mean_length: float) -> _Length:
    """What is added to the count of a term in a chunk of this length, or in each of many."""
    return K1 * (1 - B + B * length / mean_length)
