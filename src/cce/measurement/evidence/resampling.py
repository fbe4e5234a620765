"""Series of figures in, percentile bootstrap bounds of their means out (Efron 1979).

Report bytes must not depend on the machine, so each mean is summed from left to right; vector operations
run over many resamples, never within one sum. All series of one length share their resampled cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

# numpy is imported in the functions: a gate without evidence imports this module too.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Bounds = tuple[float, float]

# Rows are drawn and used in blocks that fit the processor's caches, which bounds memory as well.
_CASES_PER_BLOCK = 1 << 20
_SUMS_PER_BLOCK = 1 << 16


def bootstrap_bounds(
    series: Sequence[Sequence[float]], resamples: int, seed: int
) -> tuple[Bounds | None, ...]:
    """The 95 % bounds of the means, in the order of `series`; None for a series without figures."""
    bounds: dict[int, Bounds] = {}
    for n, positions in _by_length(series).items():
        if n:
            means = resampled_means([series[position] for position in positions], resamples, seed)
            bounds.update(zip(positions, percentile_bounds(means), strict=True))
    return tuple(bounds.get(position) for position in range(len(series)))


def _by_length(series: Sequence[Sequence[float]]) -> Mapping[int, Sequence[int]]:
    positions: dict[int, list[int]] = {}
    for position, figures in enumerate(series):
        positions.setdefault(len(figures), []).append(position)
    return positions


def resampled_means(series: Sequence[Sequence[float]], resamples: int, seed: int) -> NDArray[np.float64]:
    """float64[resamples, n_series]: the means of `series` over resampled cases; all have one length n >= 1.

    Resample i takes the cases in row i of RandomState(seed).randint(0, n, (resamples, n)).
    """
    import numpy as np

    by_case = np.ascontiguousarray(np.array(series, dtype=np.float64).T)
    n, n_series = by_case.shape
    sums = np.zeros((resamples, n_series))
    start = 0
    for table in _tables(n, n_series, resamples, seed):
        _add_up(by_case, table, sums[start : start + len(table)])
        start += len(table)
    sums /= n
    return sums


def _tables(n: int, n_series: int, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """The table of cases in blocks int64[rows, n]; numpy draws the same numbers whatever the block size."""
    import numpy as np

    random = np.random.RandomState(seed)
    rows = max(1, min(_CASES_PER_BLOCK // n, _SUMS_PER_BLOCK // n_series))
    for start in range(0, resamples, rows):
        yield random.randint(0, n, (min(rows, resamples - start), n), dtype=np.int64)


def _add_up(by_case: NDArray[np.float64], table: NDArray[np.int64], sums: NDArray[np.float64]) -> None:
    """Add the figures of the cases in row i of `table` to row i of `sums`, from left to right."""
    import numpy as np

    drawn = np.empty_like(sums)
    for cases in np.ascontiguousarray(table.T):
        # All indices are in range; every mode other than "raise" writes to `out` without a buffer.
        np.take(by_case, cases, axis=0, out=drawn, mode="clip")
        sums += drawn


def percentile_bounds(means: NDArray[np.float64]) -> list[Bounds]:
    """Per column of B means, the ones at 0-based ranks floor(0.025 B) and ceil(0.975 B) - 1."""
    import numpy as np

    resamples = len(means)
    low, high = resamples // 40, -(-resamples * 39 // 40) - 1  # integers: 0.025 is 1/40, 0.975 is 39/40
    ordered = np.partition(means, (low, high), axis=0)
    return list(zip(ordered[low].tolist(), ordered[high].tolist(), strict=True))
