"""The one total order of results: ordering key descending, then chunk id ascending."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

IntVector = NDArray[np.int64]


def id_ranks(chunk_ids: Sequence[str]) -> IntVector:
    """int64[n]: rank of each id in byte order. Ids are hex digits, so text order is byte order.

    Two functions with one text on one line share an id; they keep index order.
    """
    ranks = np.empty(len(chunk_ids), np.int64)
    ranks[sorted(range(len(chunk_ids)), key=chunk_ids.__getitem__)] = np.arange(len(chunk_ids))
    return ranks


def contenders(scores: NDArray[np.float64], positions: IntVector | None, k: int) -> IntVector:
    """Those of `positions` (all, if None), ascending, whose scores may be among the k best by key.

    A score that is two millionths below the k-th best has a smaller key. So keys, which cost more to
    find than a partition, are found for few.
    """
    among = scores if positions is None else scores[positions]
    if 0 < k < len(among):
        kth_best = np.partition(among, len(among) - k)[len(among) - k]
        places = np.flatnonzero(among >= kth_best - 2e-6)
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
        candidates = np.flatnonzero(keys >= threshold)  # ties at the threshold stay in
    order = np.lexsort((id_rank[candidates], -keys[candidates]))
    return candidates[order[:k]]
