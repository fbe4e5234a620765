"""Series of figures in, percentile bootstrap bounds of their means out (Efron 1979).

Report bytes must not depend on the machine, so sums are of integers of 1e-6: their order cannot matter. A
resample is the number of times that each case was drawn, so its sums are one product of matrices. All series
of one length share their resampled cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cce.numerals import MICRO

# numpy is imported in the functions: a gate without evidence imports this module too.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Bounds = tuple[float, float]

# Cases are drawn and counted in blocks that fit the processor's caches, which bounds memory as well.
_WORDS_PER_BLOCK = 1 << 19
_EXACT_IN_FLOATS = 1 << 53  # up to here a float holds every integer, so a product of floats is exact


def bootstrap_bounds(series: Sequence[Sequence[int]], resamples: int, seed: int) -> tuple[Bounds | None, ...]:
    """The 95 % bounds of the means, in the order of `series`; None for a series without figures.

    Figures are integers of 1e-6, bounds are in units of the metric.
    """
    bounds: dict[int, Bounds] = {}
    for n, positions in _by_length(series).items():
        if n:
            sums = resampled_sums([series[position] for position in positions], resamples, seed)
            for position, (low, high) in zip(positions, percentile_bounds(sums), strict=True):
                bounds[position] = (low / n / MICRO, high / n / MICRO)
    return tuple(bounds.get(position) for position in range(len(series)))


def _by_length(series: Sequence[Sequence[int]]) -> Mapping[int, Sequence[int]]:
    positions: dict[int, list[int]] = {}
    for position, figures in enumerate(series):
        positions.setdefault(len(figures), []).append(position)
    return positions


def resampled_sums(series: Sequence[Sequence[int]], resamples: int, seed: int) -> NDArray[np.float64]:
    """float64[resamples, n_series]: the sums of `series` over resampled cases; all have one length n >= 1.

    Resample i takes the cases in row i of RandomState(seed).randint(0, n, (resamples, n)). Sums too large for
    a float are Python's integers.
    """
    import numpy as np

    n = len(series[0])
    largest = n * max(max(map(abs, figures)) for figures in series)
    has_floats = largest < _EXACT_IN_FLOATS
    figures = np.array(series, dtype=np.float64 if has_floats else object)
    kind = np.float64 if has_floats else np.int64
    blocks = [figures @ _times_drawn(table, kind).T for table in _tables(n, resamples, seed)]
    return np.concatenate(blocks, axis=1).T


def _times_drawn(table: NDArray[np.uint32], kind: type[np.number[Any]]) -> NDArray[Any]:
    """`kind`[rows, n]: how often each of n cases stands in each row of `table`."""
    import numpy as np

    counts = np.empty(table.shape, kind)
    for row, cases in zip(counts, table, strict=True):
        row[:] = np.bincount(cases, minlength=len(cases))
    return counts


def _tables(n: int, resamples: int, seed: int) -> Iterator[NDArray[np.uint32]]:
    """The table of cases in blocks uint32[rows, n], each of at least one row.

    numpy draws a case as the low bits of a random word, and draws again while these are n or more. Doing so
    for a block of words at once takes half the time and gives the same cases, since RandomState is frozen.
    """
    import numpy as np

    random = np.random.RandomState(seed)
    mask = np.uint32((1 << (n - 1).bit_length()) - 1)
    drawn = np.empty(0, dtype=np.uint32)
    while resamples:
        n_words = min(_WORDS_PER_BLOCK, 2 * n * resamples)
        words = random.randint(0, 1 << 32, n_words, dtype=np.uint32) & mask
        drawn = np.concatenate((drawn, np.compress(words < n, words)))
        rows = min(resamples, len(drawn) // n)
        if rows:
            yield drawn[: rows * n].reshape(rows, n)
            drawn, resamples = drawn[rows * n :], resamples - rows


def percentile_bounds(means: NDArray[np.float64]) -> list[Bounds]:
    """Per column of B means or sums, the ones at 0-based ranks floor(0.025 B) and ceil(0.975 B) - 1."""
    import numpy as np

    resamples = len(means)
    low, high = resamples // 40, -(-resamples * 39 // 40) - 1  # integers: 0.025 is 1/40, 0.975 is 39/40
    ordered = np.partition(means, (low, high), axis=0)
    return list(zip(ordered[low].tolist(), ordered[high].tolist(), strict=True))
