from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.evidence import FlipMethod
from cce.measurement.evidence.families import family_test, holm
from cce.measurement.evidence.randomisation import exact_flip_p

P_VALUES = st.lists(
    st.sampled_from([0.0, 0.001, 0.01, 0.0125, 0.02, 0.03125, 0.04, 0.5, 1.0]), min_size=1, max_size=9
)
FAMILIES = st.integers(1, 8).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([0, 0, 3, -3, 5, 10, -1, 2]), min_size=n, max_size=n), min_size=2, max_size=4
    )
)
DRAWS, SEED = 500, 3


def test_one_p_value_stays_as_it_is() -> None:
    assert holm([]) == ()
    assert holm([0.03]) == (0.03,)


def test_the_smallest_pays_for_all_the_next_for_the_rest() -> None:
    # 4 x 0.01, 3 x 0.02, 2 x 0.04, 1 x 0.5
    assert holm([0.04, 0.01, 0.5, 0.02]) == pytest.approx((0.08, 0.04, 0.5, 0.06))


def test_adjusted_values_never_fall_below_a_smaller_one_and_never_pass_one() -> None:
    # 3 x 0.01 = 0.03, then 2 x 0.011 = 0.022 is lifted to 0.03, then 0.012 too.
    assert holm([0.011, 0.012, 0.01]) == pytest.approx((0.03, 0.03, 0.03))
    assert holm([0.6, 0.9]) == (1.0, 1.0)


def test_equal_values_are_adjusted_alike() -> None:
    assert holm([0.03125] * 4) == (0.125,) * 4


@given(P_VALUES, st.sampled_from([0.011, 0.026, 0.051, 0.11]))
@settings(deadline=None, max_examples=150)
def test_an_adjusted_value_is_below_alpha_exactly_where_the_steps_down_reject(
    p_values: list[float], alpha: float
) -> None:
    rejected: set[float] = set()
    for n_left, p in zip(range(len(p_values), 0, -1), sorted(p_values), strict=True):
        if p * n_left >= alpha:
            break
        rejected.add(p)
    assert [adjusted < alpha for adjusted in holm(p_values)] == [p in rejected for p in p_values]


def min_p_by_hand(family: list[list[int]], patterns: list[tuple[int, ...]]) -> list[float]:
    """Step-down minP as it is defined, over `patterns` of which the first is the observed one."""
    sums = [
        [abs(sum(s * d for s, d in zip(signs, deltas, strict=True))) for signs in patterns]
        for deltas in family
    ]
    counts = [[sum(other >= one for other in row) for one in row] for row in sums]
    order = sorted(range(len(family)), key=lambda j: counts[j][0])
    adjusted, floor = [0.0] * len(family), 0.0
    for place, j in enumerate(order):
        least = [min(counts[later][s] for later in order[place:]) for s in range(len(patterns))]
        floor = max(floor, sum(c <= counts[j][0] for c in least) / len(patterns))
        adjusted[j] = floor
    return adjusted


@given(FAMILIES)
@settings(deadline=None, max_examples=150)
def test_adjusted_p_is_that_of_counting_every_pattern(family: list[list[int]]) -> None:
    moved = [case for case in zip(*family, strict=True) if any(case)]
    rows = [[case[j] for case in moved] for j in range(len(family))]
    expected = min_p_by_hand(rows, list(product((1, -1), repeat=len(moved))))
    flips = [exact_flip_p(deltas) for deltas in family]
    for found, share, flip_p, holm_p in zip(
        family_test(family, DRAWS, SEED), expected, flips, holm(flips), strict=True
    ):
        assert (found.flip_p, found.method, found.is_drawn) == (flip_p, FlipMethod.EXACT, False)
        assert found.adjusted_p == min(holm_p, max(share, flip_p))


def test_a_family_of_one_has_nothing_to_adjust() -> None:
    (found,) = family_test([[1] * 7], DRAWS, SEED)
    assert (found.flip_p, found.adjusted_p, found.is_drawn) == (2 / 2**7, 2 / 2**7, False)


def test_a_family_without_a_move_has_p_1() -> None:
    assert [found.adjusted_p for found in family_test([[0, 0], [0, 0]], DRAWS, SEED)] == [1.0, 1.0]
    assert [found.adjusted_p for found in family_test([[], []], DRAWS, SEED)] == [1.0, 1.0]


def test_two_metrics_that_move_apart_pay_for_each_other() -> None:
    # Four cases move in one metric, four others in the other: 2/16 each. Of 256 patterns 2 * 16 reach the
    # first, 2 * 16 the second, 4 both: 60 / 256. Holm would say 0.25.
    found = family_test([[1] * 4 + [0] * 4, [0] * 4 + [1] * 4], DRAWS, SEED)
    assert [each.flip_p for each in found] == [0.125, 0.125]
    assert [each.adjusted_p for each in found] == [60 / 256, 60 / 256]


def test_metrics_that_move_alike_pay_nothing() -> None:
    found = family_test([[1] * 6, [2] * 6, [1, 2, 3, 4, 5, 6]], DRAWS, SEED)
    assert {each.adjusted_p for each in found} == {2 / 2**6}


def test_above_twenty_moved_cases_the_signs_are_the_bits_of_the_table() -> None:
    family = [[3, -1] * 11 + [0], [1] * 22 + [-5]]
    bits = np.random.RandomState(SEED).randint(0, 256, (DRAWS, 3))
    patterns = [tuple([1] * 23)] + [
        tuple(-1 if row[case // 8] >> (case % 8) & 1 else 1 for case in range(23)) for row in bits.tolist()
    ]
    expected = min_p_by_hand(family, patterns)
    flips = [exact_flip_p(deltas) for deltas in family]
    found = family_test(family, DRAWS, SEED)
    assert [each.flip_p for each in found] == flips
    assert [each.adjusted_p for each in found] == [
        min(holm_p, max(share, flip_p))
        for holm_p, share, flip_p in zip(holm(flips), expected, flips, strict=True)
    ]


def test_a_p_of_holm_from_exact_p_values_does_not_depend_on_the_seed() -> None:
    # 22 of 22: Holm doubles 2 / 2^22, while 500 draws give no p below 1 / 501.
    found = family_test([[1] * 22, [2] * 22], DRAWS, SEED)
    assert [(each.adjusted_p, each.is_drawn) for each in found] == [(4 / 2**22, False)] * 2


def test_above_36_moved_cases_p_comes_from_the_shared_draws() -> None:
    family = [[1] * 28 + [-1] * 12, [1] * 30 + [-1] * 10]
    bits = np.random.RandomState(SEED).randint(0, 256, (DRAWS, 5))
    signs = 1 - 2 * (bits[:, np.arange(40) // 8] >> (np.arange(40) % 8) & 1)
    far = [int((abs(signs @ np.array(deltas)) >= abs(sum(deltas))).sum()) for deltas in family]
    found = family_test(family, DRAWS, SEED)
    assert [each.flip_p for each in found] == [(n + 1) / (DRAWS + 1) for n in far]
    assert {each.method for each in found} == {FlipMethod.MONTE_CARLO}
    assert all(each.is_drawn for each in found)


def test_under_no_difference_a_family_is_wrong_as_seldom_as_alpha() -> None:
    # Three dependent metrics on 12 cases, every sign by chance: exact tests stay at or below alpha.
    chance = np.random.RandomState(1)
    n_false = 0
    for _ in range(400):
        sizes = chance.randint(0, 4, (3, 12))
        signs = 1 - 2 * chance.randint(0, 2, 12)
        found = family_test((sizes * signs).tolist(), DRAWS, SEED)
        n_false += min(each.adjusted_p for each in found) < 0.05
    assert n_false <= 400 * 0.05 + 3.29 * (400 * 0.05 * 0.95) ** 0.5
