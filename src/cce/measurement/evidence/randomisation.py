"""Differences per case in, randomisation p values out.

The null hypothesis is that both signs of each delta are equally likely. Deltas are integers of 1e-6, so
sums and ties are exact. `resampling` has the intervals.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cce.domain.evidence import FlipMethod

# numpy is imported in the functions: up to EXACT_UP_TO deltas need none.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT_UP_TO = 20
"""Up to so many non-zero deltas all sign patterns are counted (2^20); above, a sample of them is."""

_SIGNS_PER_BYTE = 8
_BYTES_PER_BLOCK = 1 << 20  # random bytes drawn at once; eight times as much memory, as int64


def sign_test(better: int, worse: int) -> float:
    """Exact two-sided p of a sign test: min(1, 2 P(X <= min(better, worse))), X binomial with p = 1/2."""
    flips = better + worse
    ways = n_patterns = 1  # binomial(flips, 0); each step makes binomial(flips, wins + 1) of the last one
    for wins in range(min(better, worse)):
        ways = ways * (flips - wins) // (wins + 1)
        n_patterns += ways
    return min(1.0, 2 * n_patterns / (1 << flips))


def sign_flip_test(deltas: Sequence[int], draws: int, seed: int) -> tuple[float, FlipMethod]:
    """Two-sided randomisation p of the mean of `deltas` under random signs, and the method.

    It is the share of sign patterns at least as extreme as the observed one. Of a sample of `draws`
    patterns the observed one counts as one more draw, so p is never 0 (Phipson & Smyth 2010,
    "Permutation p-values should never be zero"). Sums must fit into 63 bits.
    """
    flips = [abs(delta) for delta in deltas if delta]
    seen = abs(sum(deltas))
    if len(flips) <= EXACT_UP_TO:
        return _share_of_all(flips, seen), FlipMethod.EXACT
    return (_count_sampled(flips, seen, draws, seed) + 1) / (draws + 1), FlipMethod.MONTE_CARLO


def _share_of_all(flips: Sequence[int], seen: int) -> float:
    """The share of the 2^m sign patterns whose absolute sum is at least `seen`."""
    if seen == 0:
        return 1.0
    # Meet in the middle: each half has at most 2^10 sums. For each sum of one half, bisection counts the
    # sums of the other that bring the total to `seen`: with partners [-3, -1, 1, 3], seen 4 and total 2,
    # bisect_left(partners, 2) is 3, so one partner (3) is enough.
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
    """The number of `draws` random sign patterns with an absolute sum of at least `seen`."""
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
    """One int64[256] per eight deltas: the signed sum for each byte of sign bits.

    So a pattern of n signs costs n / 8 table look-ups instead of n additions.
    """
    import numpy as np

    # The last group is padded with zeros, whose signs change nothing.
    groups = [flips[start : start + _SIGNS_PER_BYTE] for start in range(0, len(flips), _SIGNS_PER_BYTE)]
    padded = [[*group, *[0] * (_SIGNS_PER_BYTE - len(group))] for group in groups]
    return [np.array(_signed_sums(group), dtype=np.int64) for group in padded]


def _sign_patterns(n_bytes: int, draws: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """The rows of RandomState(seed).randint(0, 256, (draws, n_bytes)), in blocks."""
    import numpy as np

    random = np.random.RandomState(seed)
    rows = max(1, _BYTES_PER_BLOCK // n_bytes)
    for start in range(0, draws, rows):
        yield random.randint(0, 256, (min(rows, draws - start), n_bytes), dtype=np.int64)
