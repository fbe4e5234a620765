from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.numerals import ordering_key, ordering_keys
from cce.retrieval.scoring.arrays import ordering as array_ordering
from cce.retrieval.scoring.arrays.ordering import contenders, top_k
from cce.retrieval.scoring.ordering import best_positions, id_ranks


def best(keys: list[int], ranks: list[int], k: int) -> list[int]:
    positions: list[int] = top_k(np.array(keys, np.int64), np.array(ranks, np.int64), k).tolist()
    return positions


def test_the_greater_key_comes_first_and_ties_go_to_the_smaller_id() -> None:
    assert best([5, 9, 5, -3, 9], [4, 3, 0, 1, 2], 5) == [4, 1, 2, 0, 3]


@pytest.mark.parametrize(("k", "positions"), [(1, [4]), (2, [4, 1]), (3, [4, 1, 2]), (6, [4, 1, 2, 0, 3])])
def test_a_cut_through_a_tie_keeps_the_smaller_ids(k: int, positions: list[int]) -> None:
    assert best([5, 9, 5, -3, 9], [4, 3, 0, 1, 2], k) == positions


def test_nothing_to_order_gives_nothing() -> None:
    assert best([], [], 1) == []


def test_the_best_none_are_none() -> None:
    assert best([5, 9], [0, 1], 0) == []


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_the_best_are_the_first_of_all_sorted(data: st.DataObject) -> None:
    keys = data.draw(st.lists(st.integers(-3, 3) | st.integers(-(10**12), 10**12), min_size=1, max_size=30))
    ranks = data.draw(st.permutations(range(len(keys))))
    k = data.draw(st.integers(1, 35))
    expected = sorted(range(len(keys)), key=lambda position: (-keys[position], ranks[position]))
    assert best(keys, ranks, k) == expected[:k]


@pytest.mark.parametrize("ids", list(permutations(["0f", "a0", "b1"])))
def test_ids_rank_in_byte_order_wherever_they_stand(ids: tuple[str, ...]) -> None:
    assert id_ranks(ids) == [["0f", "a0", "b1"].index(identity) for identity in ids]


def test_equal_ids_keep_index_order() -> None:
    assert id_ranks(["b", "a", "b", "a"]) == [2, 0, 3, 1]


def test_no_ids_have_no_ranks() -> None:
    assert id_ranks([]) == []


NEAR = st.builds(
    lambda whole, rest: whole * 1e-6 + rest, st.integers(-3, 3), st.sampled_from([0, 4e-7, 5e-7, 6e-7])
)


@settings(deadline=None, max_examples=300)
@given(st.lists(NEAR | st.floats(-1e3, 1e3), min_size=1, max_size=30), st.integers(1, 35))
def test_looking_at_contenders_only_changes_nothing(scores: list[float], k: int) -> None:
    values = np.array(scores)
    id_rank = np.arange(len(scores), dtype=np.int64)[::-1]
    expected = top_k(ordering_keys(values), id_rank, k).tolist()
    few = contenders(values, None, k)
    assert few[top_k(ordering_keys(values[few]), id_rank[few], k)].tolist() == expected
    assert few.tolist() == sorted(few.tolist())


def test_scores_that_print_alike_are_ordered_by_id() -> None:
    # 0.2000004 and 0.2 have the key 200000; a score that rounds to nothing is not positive.
    scores = [0.2, 0.2000004, 0.3, 4e-7, -1.0]
    assert best_positions(scores, [1, 0, 2, 3, 4], 5) == [2, 1, 0, 3, 4]
    assert best_positions(scores, [0, 1, 2, 3, 4], 2) == [2, 0]
    assert best_positions(scores, [0, 1, 2, 3, 4], 5, positive=True) == [2, 0, 1]


@settings(deadline=None, max_examples=300)
@given(st.data(), st.lists(NEAR | st.floats(-1e3, 1e3), max_size=30), st.integers(0, 35), st.booleans())
def test_lists_and_arrays_are_ordered_alike(
    data: st.DataObject, scores: list[float], k: int, positive: bool
) -> None:
    ranks = data.draw(st.permutations(range(len(scores))))
    expected = sorted(range(len(scores)), key=lambda p: (-ordering_key(scores[p]), ranks[p]))[:k]
    if positive:
        expected = [position for position in expected if ordering_key(scores[position]) > 0]
    assert best_positions(scores, ranks, k, positive=positive) == expected
    vector, rank_vector = np.array(scores, np.float64), np.array(ranks, np.int64)
    assert array_ordering.best_positions(vector, rank_vector, k, positive=positive) == expected
