"""Series of figures in, percentile bootstrap bounds of their means out (Efron 1979).

Report bytes must not depend on the machine, so sums are of integers of 1e-6: their order cannot matter. A
resample is the number of times that each case was drawn, so its sums are one product of matrices. All series
of one length share their resampled cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cce.numerals import MICRO

# numpy is imported in the functions: a gate without evidence imports this module too.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Bounds = tuple[float, float]

# Rows are drawn and counted in blocks that fit the processor's caches, which bounds memory as well.
_CASES_PER_BLOCK = 1 << 19
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
    by_case = np.array(series, dtype=np.float64 if largest < _EXACT_IN_FLOATS else object).T
    blocks = [_times_drawn(table, n).astype(by_case.dtype) @ by_case for table in _tables(n, resamples, seed)]
    return np.concatenate(blocks)


def _times_drawn(table: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """int64[rows, n]: how often each of `n` cases stands in each row of `table`, which it overwrites."""
    import numpy as np

    rows = len(table)
    table += n * np.arange(rows)[:, np.newaxis]  # a range of numbers per row, so one count serves all
    return np.bincount(table.ravel(), minlength=rows * n).reshape(rows, n)


def _tables(n: int, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """The table of cases in blocks int64[rows, n]; numpy draws the same numbers whatever the block size."""
    import numpy as np

    random = np.random.RandomState(seed)
    rows = max(1, _CASES_PER_BLOCK // n)
    for start in range(0, resamples, rows):
        yield random.randint(0, n, (min(rows, resamples - start), n), dtype=np.int64)


def percentile_bounds(means: NDArray[np.float64]) -> list[Bounds]:
    """Per column of B means or sums, the ones at 0-based ranks floor(0.025 B) and ceil(0.975 B) - 1."""
    import numpy as np

    resamples = len(means)
    low, high = resamples // 40, -(-resamples * 39 // 40) - 1  # integers: 0.025 is 1/40, 0.975 is 39/40
    ordered = np.partition(means, (low, high), axis=0)
    return list(zip(ordered[low].tolist(), ordered[high].tolist(), strict=True))
