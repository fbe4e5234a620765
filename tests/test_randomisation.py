from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test

from cce.domain.evidence import FlipMethod
from cce.measurement.evidence import randomisation
from cce.measurement.evidence.families import family_test
from cce.measurement.evidence.randomisation import exact_flip_p, sign_test

EXACT, MONTE_CARLO = FlipMethod.EXACT, FlipMethod.MONTE_CARLO
THIRD = 333_333
DRAWS, SEED = 10_000, 0

DELTAS = st.lists(st.sampled_from([0, THIRD, -THIRD, 500_000, -500_000, 166_667, -83_333, 10**6]), max_size=9)


def sign_flip_test(deltas: list[int], draws: int, seed: int) -> tuple[float, FlipMethod]:
    """The p of a metric alone, and how its patterns were counted."""
    (found,) = family_test([deltas], draws, seed)
    return found.flip_p, found.method


def test_no_flip_is_no_evidence() -> None:
    assert sign_test(0, 0) == 1.0
    assert sign_flip_test([], DRAWS, SEED) == (1.0, EXACT)
    assert sign_flip_test([0, 0, 0], DRAWS, SEED) == (1.0, EXACT)


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    [(1, 0, 1.0), (4, 0, 0.125), (6, 0, 0.03125), (4, 2, 0.6875), (3, 3, 1.0), (1, 4, 0.375)],
)
def test_the_sign_test_counts_coin_tosses(better: int, worse: int, p: float) -> None:
    assert sign_test(better, worse) == sign_test(worse, better) == p


def test_the_sign_test_of_a_long_one_sided_run_underflows_to_zero_quietly() -> None:
    assert sign_test(2000, 0) == 0.0
    assert sign_test(1000, 1000) == 1.0


@given(st.integers(0, 300), st.integers(0, 300))
@settings(deadline=None, max_examples=60)
def test_the_sign_test_is_the_binomial_test_of_scipy(better: int, worse: int) -> None:
    n = better + worse
    expected = binomtest(better, n).pvalue if n else 1.0
    assert sign_test(better, worse) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_of_four_equal_wins_one_pattern_in_eight_is_as_extreme() -> None:
    # All plus and all minus, of 16 patterns.
    assert sign_flip_test([THIRD] * 4, DRAWS, SEED) == (0.125, EXACT)


def test_patterns_as_extreme_as_the_one_seen_count() -> None:
    # |+-1 +-2 +-3| is 6 6 4 4 2 2 0 0; 3 + 1 - 2 gives 2: six of eight.
    assert sign_flip_test([3, 1, -2], DRAWS, SEED) == (0.75, EXACT)
    assert sign_flip_test([3, -1, 2], DRAWS, SEED) == (0.5, EXACT)
    assert sign_flip_test([3, -1, -2], DRAWS, SEED) == (1.0, EXACT)


@given(DELTAS)
@settings(deadline=None, max_examples=150)
def test_the_exact_share_is_that_of_counting_every_pattern(deltas: list[int]) -> None:
    seen = abs(sum(deltas))
    sums = [
        sum(s * d for s, d in zip(signs, deltas, strict=True))
        for signs in product((1, -1), repeat=len(deltas))
    ]
    far = sum(abs(total) >= seen for total in sums)
    assert sign_flip_test(deltas, DRAWS, SEED) == (float(Fraction(far, len(sums))), EXACT)


def test_the_exact_share_is_that_of_scipys_permutation_test() -> None:
    deltas = [0.5, -0.25, 0.75, 1.0, -0.5, 0.25, 0.125, 0.875, -0.0625, 0.375]  # exact in binary
    other = permutation_test(
        (np.array(deltas),),
        lambda x, axis: np.mean(x, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
    )
    p, method = sign_flip_test([round(delta * 1e6) for delta in deltas], DRAWS, SEED)
    assert p == pytest.approx(other.pvalue, abs=1e-15)
    assert method is EXACT


@given(DELTAS, st.integers(0, 5))
@settings(deadline=None, max_examples=60)
def test_neither_direction_nor_order_nor_tied_cases_change_p(deltas: list[int], n_tied: int) -> None:
    p = sign_flip_test(deltas, DRAWS, SEED)
    assert sign_flip_test([-delta for delta in deltas], DRAWS, SEED) == p
    assert sign_flip_test([*reversed(deltas), *[0] * n_tied], DRAWS, SEED) == p


def test_36_flips_are_counted_and_37_are_sampled() -> None:
    assert sign_flip_test([1] * 36 + [0] * 5, DRAWS, SEED) == (2 / 2**36, EXACT)
    p, method = sign_flip_test([1] * 37, DRAWS, SEED)
    assert method is MONTE_CARLO
    assert 1 / (DRAWS + 1) <= p < 0.001


@given(st.integers(1, 36), st.integers(0, 36))
@settings(deadline=None, max_examples=40)
def test_the_exact_share_of_equal_deltas_is_the_sign_test(n: int, worse: int) -> None:
    worse = min(worse, n)
    assert exact_flip_p([1] * (n - worse) + [-1] * worse) == sign_test(n - worse, worse)


def test_the_exact_share_of_36_different_deltas_is_close_to_a_sample_of_it() -> None:
    deltas = [(-1) ** (i % 3) * (i * i + 1) for i in range(36)]
    signs = 1 - 2 * np.random.RandomState(0).randint(0, 2, (200_000, 36))
    share = float((abs(signs @ np.array(deltas)) >= abs(sum(deltas))).mean())
    assert exact_flip_p(deltas) == pytest.approx(share, abs=4 * (share / 200_000) ** 0.5)


def test_a_sample_never_gives_p_zero_however_small() -> None:
    assert sign_flip_test([1] * 200, 1, SEED) == (0.5, MONTE_CARLO)
    assert sign_flip_test([1] * 200, 99, SEED) == (0.01, MONTE_CARLO)


def test_a_sum_of_zero_is_reached_by_every_sampled_pattern() -> None:
    assert sign_flip_test([1, -1] * 20, DRAWS, SEED) == (1.0, MONTE_CARLO)


def test_a_sample_comes_close_to_the_sign_test_where_all_flips_weigh_the_same() -> None:
    # With equal weights the two tests are one: 30 wins of 40 give p = 0.002221, 24 give 0.268187.
    for wins, p in ((30, 0.002221), (24, 0.268187)):
        assert sign_test(wins, 40 - wins) == pytest.approx(p, abs=5e-7)
        sampled, _ = sign_flip_test([1] * wins + [-1] * (40 - wins), 100_000, SEED)
        assert sampled == pytest.approx(p, abs=4 * (p / 100_000) ** 0.5)


def test_each_delta_has_a_sign_of_its_own() -> None:
    # 40 powers of two, all of one sign: only two patterns of 2^40 reach their sum.
    powers = [2**i for i in range(40)]
    assert sign_flip_test(powers, 1000, SEED)[0] == 1 / 1001
    lowered = [-power for power in powers[:-1]] + powers[-1:]  # sums to 1, the least that any pattern reaches
    assert sign_flip_test(lowered, 1000, SEED)[0] == 1.0


def test_the_sample_follows_the_seed_and_not_the_size_of_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    deltas = [(-1) ** i * (i + 1) + 8 for i in range(60)]
    whole = sign_flip_test(deltas, 2000, 7)
    monkeypatch.setattr(randomisation, "_BYTES_PER_BLOCK", 100)
    assert sign_flip_test(deltas, 2000, 7) == whole
    assert sign_flip_test(deltas, 2000, 8) != whole


def test_the_sampled_signs_are_the_bits_of_one_table_of_bytes() -> None:
    rng = np.random.RandomState(3)
    deltas = [int(delta) for delta in rng.randint(-(10**6), 10**6, 45)]
    kept = np.array(deltas, dtype=object)
    table = np.random.RandomState(5).randint(0, 256, (500, 6))
    bits = np.unpackbits(table.astype(np.uint8), axis=1, bitorder="little")[:, :45].astype(object)
    far = sum(abs(int(total)) >= abs(sum(deltas)) for total in ((1 - 2 * bits) * kept).sum(axis=1))
    assert sign_flip_test(deltas, 500, 5) == ((far + 1) / 501, MONTE_CARLO)
