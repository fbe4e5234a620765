"""Metrics that use grades, or compare a ranking with the ideal ranking of the whole index.

A match with its `ideal` enters. Each relevant chunk is gained once, so no figure exceeds 1. Without any unit
in the ideal, as where a scope leaves no anchor, the figure is undefined: None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from cce.measurement.matching.matches import CaseMatch
from cce.numerals import ordered_sum


def ndcg(match: CaseMatch) -> float | None:
    """DCG over ideal DCG (Järvelin & Kekäläinen 2002) with the gain 2^grade - 1 (Burges et al. 2005)."""
    return _normalized(match, lambda grade: 2**grade - 1)


def ndcg_linear(match: CaseMatch) -> float | None:
    """As `ndcg` with the grade itself as gain, as trec_eval computes it."""
    return _normalized(match, lambda grade: grade)


def average_precision(match: CaseMatch) -> float | None:
    """The sum of the precisions at the ranks of the relevant hits, over min(k, relevant chunks)."""
    if not match.ideal:
        return None
    ranks = (rank for rank, grade in enumerate(match.gains, start=1) if grade)
    precisions = (n_relevant / rank for n_relevant, rank in enumerate(ranks, start=1))
    # Relevant chunks that were not returned add 0. trec_eval divides by all relevant chunks even if there
    # are more than k, so that no ranking of k hits reaches 1.
    return ordered_sum(precisions) / len(match.ideal)


def _normalized(match: CaseMatch, gain: Callable[[int], int]) -> float | None:
    if not match.ideal:
        return None
    return _dcg(map(gain, match.gains)) / _dcg(map(gain, match.ideal))


def _dcg(gains: Iterable[int]) -> float:
    """Discounted cumulative gain, best rank first."""
    return ordered_sum(gain / math.log2(1 + rank) for rank, gain in enumerate(gains, start=1))
