"""The one total order of results: ordering key descending, then chunk id ascending."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from cce.numerals import ordering_key

# A key is a score in millionths, rounded. A score two millionths below the k-th best has a smaller key: if
# the k-th best is 0.5000004 (key 500000), 0.4999984 has the key 499998. So keys, which cost more to find than
# the k-th best score, are found for few.
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
    scores: Sequence[float],
    id_rank: Sequence[int],
    k: int,
    *,
    positive: bool = False,
    allowed: Collection[int] | None = None,
) -> list[int]:
    """Positions of the k best scores, best first; with `positive` only those that round to more than 0.

    `id_rank` is the rank of each chunk id in byte order: the tie-break. With `allowed` only of these.
    """
    positions = range(len(scores)) if allowed is None else allowed
    among = scores if allowed is None else [scores[position] for position in positions]
    ascending = sorted([score for score in among if score > 0] if positive else among)
    if k < 1 or not ascending:
        return []
    lowest = max(ascending[0], ascending[-min(k, len(ascending))] - KEY_MARGIN)
    contenders = [position for position, score in zip(positions, among, strict=True) if score >= lowest]
    best = by_key(scores, id_rank, contenders)[:k]
    return [position for position, key in best if key > 0 or not positive]


def by_key(
    scores: Sequence[float] | Mapping[int, float], id_rank: Sequence[int], positions: Iterable[int]
) -> list[tuple[int, int]]:
    """`positions` with the ordering keys of their scores, best first."""
    order = [(-ordering_key(scores[position]), id_rank[position], position) for position in positions]
    order.sort()
    return [(position, -key) for key, _, position in order]
