from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.measurement.evidence import resampling
from cce.measurement.evidence.resampling import bootstrap_bounds, percentile_bounds, resampled_sums
from cce.numerals import MICRO

RESAMPLES, SEED = 10_000, 0


def drawn_sums(figures: list[int], resamples: int, seed: int) -> list[int]:
    """The definition, word for word: a table of cases, and the sum of each row."""
    n = len(figures)
    table = np.random.RandomState(seed).randint(0, n, (resamples, n))
    return [sum(figures[case] for case in row) for row in table.tolist()]


def test_no_figures_have_no_bounds() -> None:
    assert bootstrap_bounds([], RESAMPLES, SEED) == ()
    assert bootstrap_bounds([[], [500_000]], RESAMPLES, SEED) == (None, (0.5, 0.5))


def test_figures_without_spread_have_bounds_without_width() -> None:
    assert bootstrap_bounds([[250_000] * 7, [0] * 7], RESAMPLES, SEED) == ((0.25, 0.25), (0.0, 0.0))


def test_two_cases_resample_to_both_extremes() -> None:
    # Either extreme has a quarter of all resamples, far more than a fortieth.
    assert bootstrap_bounds([[0, MICRO]], RESAMPLES, SEED) == ((0.0, 1.0),)


@pytest.mark.parametrize(
    ("resamples", "low", "high"),
    [(1, 0, 0), (2, 0, 1), (40, 1, 38), (41, 1, 39), (1000, 25, 974), (10_000, 250, 9749)],
)
def test_the_bounds_are_sorted_means_at_fixed_positions(resamples: int, low: int, high: int) -> None:
    # Columns hold 0 1 2 ... and the same backwards: a sorted column's value is its position.
    positions = np.arange(resamples, dtype=np.float64)
    both = np.stack([positions, positions[::-1]], axis=1)
    assert percentile_bounds(both) == [(low, high), (low, high)]


@given(
    st.lists(st.sampled_from([0, MICRO, 333_333, -100_000, 1, 10**10]), min_size=1, max_size=30),
    st.integers(1, 60),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=60)
def test_every_sum_is_that_of_the_cases_in_its_row(figures: list[int], resamples: int, seed: int) -> None:
    sums = resampled_sums([figures, figures[::-1]], resamples, seed)
    assert sums[:, 0].tolist() == drawn_sums(figures, resamples, seed)
    assert sums[:, 1].tolist() == drawn_sums(figures[::-1], resamples, seed)


def test_sums_beyond_the_integers_of_a_float_are_exact_too() -> None:
    figures = [2**53, 1, 1]
    assert resampled_sums([figures], 50, SEED)[:, 0].tolist() == drawn_sums(figures, 50, SEED)


def test_the_bytes_of_the_table_are_those_of_every_numpy_and_system() -> None:
    # Written down once; numpy has frozen these draws.
    assert np.random.RandomState(0).randint(0, 7, (2, 8), dtype=np.int64).tolist() == [
        [4, 5, 0, 3, 3, 3, 1, 3],
        [5, 2, 4, 6, 0, 0, 4, 2],
    ]
    narrow = np.random.RandomState(0).randint(0, 2000, (9, 2000), dtype=np.int32)
    assert (narrow == np.random.RandomState(0).randint(0, 2000, (9, 2000), dtype=np.int64)).all()


@pytest.mark.parametrize("n", [1, 2, 10, 127, 128, 129])
def test_drawing_in_blocks_changes_no_bit(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = np.random.RandomState(2).randint(0, MICRO, n).tolist()
    whole = resampled_sums([figures], 300, 11)
    assert whole[:, 0].tolist() == drawn_sums(figures, 300, 11)
    monkeypatch.setattr(resampling, "_WORDS_PER_BLOCK", 7 * n + 3)
    assert (resampled_sums([figures], 300, 11) == whole).all()
    monkeypatch.setattr(resampling, "_WORDS_PER_BLOCK", n)
    assert (resampled_sums([figures], 300, 11) == whole).all()


def test_series_side_by_side_give_what_each_gives_alone() -> None:
    series = [[100_000, 500_000, 900_000], [MICRO, 0], [300_000, 300_000, 400_000], [], [200_000, 700_000]]
    alone = tuple(bootstrap_bounds([figures], 500, 4)[0] for figures in series)
    assert bootstrap_bounds(series, 500, 4) == alone


def test_a_shift_of_every_figure_shifts_the_bounds_of_the_same_resamples() -> None:
    figures = [0, 250_000, 500_000, 125_000, 62_500]
    (bounds, shifted) = bootstrap_bounds([figures, [figure + 250_000 for figure in figures]], 1000, SEED)
    assert bounds is not None
    assert shifted == pytest.approx((bounds[0] + 0.25, bounds[1] + 0.25))


def test_another_seed_moves_the_bounds_by_less_than_a_hundredth() -> None:
    figures = [10**6, 500_000, 333_333, 0, 10**6, 250_000, 10**6, 200_000, 0, 500_000] * 3
    (low, high), *others = (
        bootstrap_bounds([figures], RESAMPLES, seed)[0] or (9.0, 9.0) for seed in range(5)
    )
    assert low < sum(figures) / 30 / MICRO < high
    assert {(low, high), *others} != {(low, high)}
    for other_low, other_high in others:
        assert abs(other_low - low) < 0.01
        assert abs(other_high - high) < 0.01


def test_the_bounds_are_as_wide_as_the_normal_approximation_says() -> None:
    # 100 cases of 0 and 1 half and half: standard error 0.05, so about 0.5 -+ 0.098.
    ((low, high),) = (bounds or (9.0, 9.0) for bounds in bootstrap_bounds([[0, MICRO] * 50], RESAMPLES, SEED))
    assert low == pytest.approx(0.402, abs=0.011)
    assert high == pytest.approx(0.598, abs=0.011)


def test_memory_does_not_grow_with_the_table() -> None:
    figures = [[0, MICRO] * 1000]
    resampled_sums(figures, 1, SEED)
    tracemalloc.start()
    try:
        resampled_sums(figures, 2500, SEED)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 25_000_000  # the whole table would take 40 MB
