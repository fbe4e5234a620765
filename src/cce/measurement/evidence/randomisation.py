"""Differences per case in, p values out that assume little: without an effect, either sign is as likely.

Deltas are integers (of 1e-6), so sums are exact and a tie is a tie. Intervals live in `resampling`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cce.domain.evidence import FlipMethod

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT_UP_TO = 20
"""Non-zero deltas whose sign patterns are all counted; above, a sample of them is."""

_SIGNS_PER_BYTE = 8
_BYTES_PER_BLOCK = 1 << 20


def sign_test(better: int, worse: int) -> float:
    """Exact two-sided p of so many wins and losses, min(1, 2 P(X <= the fewer)); 1 without any."""
    flips = better + worse
    ways = n_patterns = 1  # of no win at all among the flips
    for wins in range(min(better, worse)):
        ways = ways * (flips - wins) // (wins + 1)
        n_patterns += ways
    return min(1.0, 2 * n_patterns / (1 << flips))


def sign_flip_test(deltas: Sequence[int], draws: int, seed: int) -> tuple[float, FlipMethod]:
    """Two-sided p of the mean of `deltas` under random signs, and how it was found.

    Patterns as extreme as the one seen count. A sample (`draws` of them, from `seed`) never gives p = 0:
    the pattern seen counts as one more draw (Phipson & Smyth 2010). Sums must stay within 63 bits.
    """
    flips = [abs(delta) for delta in deltas if delta]
    seen = abs(sum(deltas))
    if len(flips) <= EXACT_UP_TO:
        return _share_of_all(flips, seen), FlipMethod.EXACT
    return (_count_sampled(flips, seen, draws, seed) + 1) / (draws + 1), FlipMethod.MONTE_CARLO


def _share_of_all(flips: Sequence[int], seen: int) -> float:
    """The share of the 2^m sign patterns whose sum is at least `seen` away from 0."""
    if seen == 0:
        return 1.0
    # The sums of either half are few (2^10): for each of one half, count the partners that reach far enough.
    middle = len(flips) // 2
    partners = sorted(_signed_sums(flips[:middle]))
    far = sum(len(partners) - bisect_left(partners, seen - total) for total in _signed_sums(flips[middle:]))
    return 2 * far / (1 << len(flips))  # the other tail is its mirror image


def _signed_sums(flips: Sequence[int]) -> list[int]:
    sums = [0]
    for flip in flips:
        sums = [total + sign for total in sums for sign in (flip, -flip)]
    return sums


def _count_sampled(flips: Sequence[int], seen: int, draws: int, seed: int) -> int:
    """How many of `draws` random sign patterns give a sum at least `seen` away from 0."""
    import numpy as np

    tables = _sums_by_byte(flips)
    far = 0
    for patterns in _sign_patterns(len(tables), draws, seed):
        sums = np.zeros(len(patterns), dtype=np.int64)
        for table, bits in zip(tables, np.ascontiguousarray(patterns.T), strict=True):
            sums += table[bits]
        far += int(np.count_nonzero(np.abs(sums) >= seen))
    return far


def _sums_by_byte(flips: Sequence[int]) -> list[NDArray[np.int64]]:
    """Per eight deltas, int64[256]: the signed sum that each byte of sign bits gives."""
    import numpy as np

    # Deltas past the end are 0, so that their bits change nothing.
    groups = [flips[start : start + _SIGNS_PER_BYTE] for start in range(0, len(flips), _SIGNS_PER_BYTE)]
    padded = [[*group, *[0] * (_SIGNS_PER_BYTE - len(group))] for group in groups]
    return [np.array(_signed_sums(group), dtype=np.int64) for group in padded]


def _sign_patterns(n_bytes: int, draws: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """The rows of RandomState(seed).randint(0, 256, (draws, n_bytes)), some at a time."""
    import numpy as np

    random = np.random.RandomState(seed)
    rows = max(1, _BYTES_PER_BLOCK // n_bytes)
    for start in range(0, draws, rows):
        yield random.randint(0, 256, (min(rows, draws - start), n_bytes), dtype=np.int64)
