"""The one total order of results: ordering key descending, then chunk id ascending."""

from __future__ import annotations

from collections.abc import Sequence

from cce.numerals import ordering_key

# A score that is two millionths below the k-th best has a smaller key. So keys, which cost more to
# find than the k-th best score, are found for few.
KEY_MARGIN = 2e-6


def id_ranks(chunk_ids: Sequence[str]) -> list[int]:
    """Rank of each id in byte order. Ids are hex digits, so text order is byte order.

    Two functions with one text on one line share an id; they keep index order.
    """
    ranks = [0] * len(chunk_ids)
    for rank, position in enumerate(sorted(range(len(chunk_ids)), key=chunk_ids.__getitem__)):
        ranks[position] = rank
    return ranks


def best_positions(
    scores: Sequence[float], id_rank: Sequence[int], k: int, *, positive: bool = False
) -> list[int]:
    """Positions of the k best scores, best first; with `positive` only those that round to more than 0.

    `id_rank` is the rank of each chunk id in byte order: the tie-break.
    """
    positions: Sequence[int] = range(len(scores))
    if positive:
        positions = [position for position, score in enumerate(scores) if score > 0]
    if 0 < k < len(positions):
        lowest = sorted([scores[position] for position in positions])[-k] - KEY_MARGIN
        positions = [position for position in positions if scores[position] >= lowest]
    keys = {position: ordering_key(scores[position]) for position in positions}
    best = sorted(keys, key=lambda position: (-keys[position], id_rank[position]))[:k]
    return [position for position in best if keys[position] > 0] if positive else best
