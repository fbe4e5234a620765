"""The order of `cce.retrieval.scoring.ordering` over arrays of scores."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from cce.numerals import ordering_keys
from cce.retrieval.scoring.ordering import KEY_MARGIN

IntVector = NDArray[np.int64]


def best_positions(
    scores: NDArray[np.float64],
    id_rank: IntVector,
    k: int,
    *,
    positive: bool = False,
    allowed: Collection[int] | None = None,
) -> list[int]:
    """As `cce.retrieval.scoring.ordering.best_positions`: the same positions."""
    among = None if allowed is None else np.array(sorted(allowed), np.int64)
    if positive:
        among = np.flatnonzero(scores > 0) if among is None else among[scores[among] > 0]
    positions = contenders(scores, among, k)
    keys = ordering_keys(scores[positions])
    best = top_k(keys, id_rank[positions], k)
    found: list[int] = positions[best[keys[best] > 0] if positive else best].tolist()
    return found


def contenders(scores: NDArray[np.float64], positions: IntVector | None, k: int) -> IntVector:
    """Those of `positions` (all, if None), ascending, whose scores may be among the k best by key."""
    among = scores if positions is None else scores[positions]
    if 0 < k < len(among):
        kth_best = np.partition(among, len(among) - k)[len(among) - k]
        places = np.flatnonzero(among >= kth_best - KEY_MARGIN)
    else:
        places = np.arange(len(among), dtype=np.int64)
    contending: IntVector = places if positions is None else positions[places]
    return contending


def top_k(keys: IntVector, id_rank: IntVector, k: int) -> IntVector:
    """Positions of the k best chunks, best first.

    keys     int64[n_chunks]; ordering keys of the scores
    id_rank  int64[n_chunks]; rank of each chunk id in byte order: the tie-break
    returns  int64[min(k, n_chunks)]
    """
    candidates = np.arange(len(keys), dtype=np.int64)
    if 0 < k < len(keys):
        threshold = np.partition(keys, len(keys) - k)[len(keys) - k]
        above, tied = np.flatnonzero(keys > threshold), np.flatnonzero(keys == threshold)
        # Of thousands that tie, as those without a word of the query do, few need to be sorted.
        n_wanted = k - len(above)
        last_rank = np.partition(id_rank[tied], n_wanted - 1)[n_wanted - 1]
        candidates = np.concatenate([above, tied[id_rank[tied] <= last_rank]])
    order = np.lexsort((id_rank[candidates], -keys[candidates]))
    return candidates[order[:k]]
