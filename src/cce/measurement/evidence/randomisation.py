"""Differences per case in, randomisation p values out.

The null hypothesis is that both signs of each delta are equally likely. Deltas are integers of 1e-6, so
sums and ties are exact; all absolute deltas of a metric must sum to less than 2^63. `families` adjusts the
p values of several metrics, `resampling` has the intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

# numpy is imported in the functions: a gate without evidence imports this module too.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT_UP_TO = 36
"""Up to so many non-zero deltas all sign patterns are counted (2^36); above, a sample of them is."""

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


def exact_flip_p(deltas: Sequence[int]) -> float:
    """Two-sided randomisation p of the mean: the share of all sign patterns as extreme as the observed one.

    At most EXACT_UP_TO deltas are not 0.
    """
    import numpy as np

    flips = [abs(delta) for delta in deltas if delta]
    seen = abs(sum(deltas))
    if seen == 0:
        return 1.0
    # Meet in the middle: each half has at most 2^18 sums. For each sum of one half, a search counts the sums
    # of the other that bring the total to `seen`: with partners [-3, -1, 1, 3], seen 4 and sum 2, the search
    # for 2 gives 3, so one partner (3) is enough.
    middle = len(flips) // 2
    partners, sums = (_sorted_sums(half) for half in (flips[:middle], flips[middle:]))
    short = int(np.searchsorted(partners, seen - sums).sum())
    far = len(partners) * len(sums) - short
    return 2 * far / (1 << len(flips))  # the other tail is its mirror image


def _sorted_sums(flips: Sequence[int]) -> NDArray[np.int64]:
    """int64[2^n]: the sums of `flips` under all sign patterns, ascending."""
    import numpy as np

    sums = np.zeros(1, dtype=np.int64)
    for flip in flips:
        # Two sorted runs one after the other, which a stable sort only merges.
        sums = np.sort(np.concatenate((sums - flip, sums + flip)), kind="stable")
    return sums


def all_sums(deltas: Sequence[int]) -> NDArray[np.int64]:
    """int64[2^(n - 1)]: the absolute sum under each sign pattern, the observed one first.

    Only the patterns that keep the first sign: the others are their mirror images, with the same absolute
    sums. Two calls with the same number of deltas give their patterns in the same order.
    """
    import numpy as np

    sums = np.array(deltas[:1], dtype=np.int64)
    for delta in deltas[1:]:
        sums = np.concatenate((sums + delta, sums - delta))
    return np.abs(sums)


def drawn_sums(series: Sequence[Sequence[int]], draws: int, seed: int) -> NDArray[np.int64]:
    """int64[n_series, 1 + draws]: the absolute sum of each series as observed, then under drawn signs.

    Row i of RandomState(seed).randint(0, 256, (draws, ceil(n / 8))) is one pattern for all series, which have
    n deltas each: its bits, lowest first, are the signs of the cases in their order, a set bit is a minus.
    """
    import numpy as np

    tables = [_sums_by_byte(deltas) for deltas in series]
    sums = np.zeros((len(series), 1 + draws), dtype=np.int64)
    sums[:, 0] = [sum(deltas) for deltas in series]
    start = 1
    for patterns in _sign_patterns(len(tables[0]), draws, seed):
        stop = start + len(patterns)
        for position, bits in enumerate(np.ascontiguousarray(patterns.T)):
            for row, table in zip(sums, tables, strict=True):
                row[start:stop] += table[position][bits]
        start = stop
    return np.abs(sums, out=sums)


def _sums_by_byte(deltas: Sequence[int]) -> NDArray[np.int64]:
    """int64[ceil(n / 8), 256]: per eight deltas their signed sum for each byte of sign bits.

    So a pattern of n signs costs n / 8 table look-ups instead of n additions.
    """
    import numpy as np

    # The last group is padded with zeros, whose signs change nothing.
    padded = np.zeros((-(-len(deltas) // _SIGNS_PER_BYTE), _SIGNS_PER_BYTE), dtype=np.int64)
    padded.reshape(-1)[: len(deltas)] = deltas
    is_minus = np.arange(256)[:, np.newaxis] >> np.arange(_SIGNS_PER_BYTE) & 1
    sums: NDArray[np.int64] = padded @ (1 - 2 * is_minus).T
    return sums


def _sign_patterns(n_bytes: int, draws: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """The rows of RandomState(seed).randint(0, 256, (draws, n_bytes)), in blocks."""
    import numpy as np

    random = np.random.RandomState(seed)
    rows = max(1, _BYTES_PER_BLOCK // n_bytes)
    for start in range(0, draws, rows):
        yield random.randint(0, 256, (min(rows, draws - start), n_bytes), dtype=np.int64)
