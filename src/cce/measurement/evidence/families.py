"""Deltas of several metrics over the same cases in, their p values out, each one adjusted over the family.

The adjustment is the step-down minP of Westfall & Young ("Resampling-Based Multiple Testing", 1993). All
metrics share each sign pattern, so metrics that move together cost little, and the scale of one metric does
not matter to another. Where Holm's adjustment of the same p values is smaller, it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cce.domain.evidence import FlipMethod
from cce.measurement.evidence.randomisation import EXACT_UP_TO, all_sums, drawn_sums, exact_flip_p

# numpy is imported in the functions: a gate without evidence imports this module too.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALL_PATTERNS_UP_TO = 20
"""With up to so many cases that moved in any metric, minP counts all sign patterns (2^20)."""


class FamilyMember(NamedTuple):
    """The p values of one metric.

    flip_p      the randomisation p of the metric alone; `method` says how its patterns were counted
    adjusted_p  the same, adjusted over the family
    is_drawn    whether `adjusted_p` depends on the seed
    """

    flip_p: float
    method: FlipMethod
    adjusted_p: float
    is_drawn: bool


def family_test(family: Sequence[Sequence[int]], draws: int, seed: int) -> list[FamilyMember]:
    """One entry per metric; each metric has one delta per case, 0 where it is undefined.

    Of a sample of `draws` patterns the observed one counts as one more draw, so no p is 0 (Phipson & Smyth
    2010, "Permutation p-values should never be zero").
    """
    moved = _moved_cases(family)
    n_cases = len(moved[0])
    if n_cases == 0:
        return [FamilyMember(1.0, FlipMethod.EXACT, 1.0, is_drawn=False)] * len(family)
    drawn = _drawn_if_needed(moved, draws, seed)
    flips = [_flip(deltas, row) for deltas, row in zip(moved, drawn, strict=True)]
    if len(family) == 1:
        ((p, method),) = flips
        return [FamilyMember(p, method, p, method is FlipMethod.MONTE_CARLO)]
    is_sample = n_cases > ALL_PATTERNS_UP_TO
    shares = step_down([row for row in drawn if row is not None] if is_sample else map(all_sums, moved))
    holms = holm([p for p, _ in flips])
    return [
        _member(*flip, share, holm_p, is_sample=is_sample)
        for flip, share, holm_p in zip(flips, shares, holms, strict=True)
    ]


def _moved_cases(family: Sequence[Sequence[int]]) -> list[list[int]]:
    """The deltas of the cases that moved in any metric."""
    columns = [case for case in zip(*family, strict=True) if any(case)]
    return [[case[position] for case in columns] for position in range(len(family))]


def _drawn_if_needed(
    moved: Sequence[Sequence[int]], draws: int, seed: int
) -> Sequence[NDArray[np.int64] | None]:
    n_cases = len(moved[0])
    if n_cases <= (EXACT_UP_TO if len(moved) == 1 else ALL_PATTERNS_UP_TO):
        return [None] * len(moved)
    return list(drawn_sums(moved, draws, seed))


def _flip(deltas: Sequence[int], drawn: NDArray[np.int64] | None) -> tuple[float, FlipMethod]:
    if drawn is None or sum(map(bool, deltas)) <= EXACT_UP_TO:
        return exact_flip_p(deltas), FlipMethod.EXACT
    return _n_as_extreme(drawn) / len(drawn), FlipMethod.MONTE_CARLO


def _n_as_extreme(sums: NDArray[np.int64]) -> int:
    """How many patterns are as extreme as the observed one, which is the first and counts itself."""
    return int((sums >= sums[0]).sum())


def _member(
    flip_p: float, method: FlipMethod, share: float, holm_p: float, *, is_sample: bool
) -> FamilyMember:
    minimum_p = max(share, flip_p)
    if holm_p <= minimum_p:
        return FamilyMember(flip_p, method, holm_p, method is FlipMethod.MONTE_CARLO)
    return FamilyMember(flip_p, method, minimum_p, is_sample)


def step_down(sums: Iterator[NDArray[np.int64]] | Sequence[NDArray[np.int64]]) -> list[float]:
    """The minP-adjusted p of each metric from its absolute sums under the same patterns, the observed first.

    With c(s) the number of patterns as extreme as s in one metric, metrics are taken in ascending order of
    c(observed). The adjusted p is the share of patterns whose least c, over this metric and those after it,
    is at most c(observed); it never falls from one metric to the next.
    """
    series = list(sums)
    counts = [_n_as_extreme(each) for each in series]
    order = sorted(range(len(series)), key=counts.__getitem__)
    adjusted, floor = [1.0] * len(series), 0.0
    for position, n_reached in zip(order, _n_reached(series, counts, order), strict=True):
        floor = max(floor, n_reached / len(series[position]))
        adjusted[position] = floor
    return adjusted


def _n_reached(series: Sequence[NDArray[np.int64]], counts: Sequence[int], order: Sequence[int]) -> list[int]:
    """Per metric in `order`: patterns with c(s) <= c(observed) in this metric or in one after it."""
    import numpy as np

    n_patterns = len(series[0])
    is_reached = np.zeros((len(order), n_patterns), dtype=bool)
    for place, position in enumerate(order):
        ascending = np.sort(series[position])
        for earlier, leading in enumerate(order[: place + 1]):
            # c(s) <= c says that fewer than c + 1 sums reach that of s, so it lies above number c + 1 from
            # the top: of 9 8 8 7 the sums with c(s) <= 2 lie above the third, 8, so only the 9.
            limit = ascending[n_patterns - counts[leading] - 1] if counts[leading] < n_patterns else -1
            is_reached[earlier] |= series[position] > limit
    return [int(row.sum()) for row in is_reached]


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down adjustment (1979) of a family of p values, in the order given."""
    adjusted = [0.0] * len(p_values)
    floor = 0.0
    for n_smaller, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, (len(p_values) - n_smaller) * p_values[position]))
        adjusted[position] = floor
    return tuple(adjusted)
