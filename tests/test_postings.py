from __future__ import annotations

from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.retrieval.counting.arrays.occurrences import distinct_values
from cce.retrieval.counting.arrays.terms import used_terms
from cce.retrieval.scoring.arrays.postings import Postings, build_postings
from corpora import plain_tokens

TEXTS = st.lists(st.text("ab C_é", max_size=12).map(str.encode), max_size=6)


def postings_of(postings: Postings, token: bytes) -> list[tuple[int, int]]:
    chunks, counts = postings.of_token(token)
    return list(zip(chunks.tolist(), counts.tolist(), strict=True))


def test_a_token_knows_its_chunks_and_how_often_it_stands_there() -> None:
    postings = build_postings([b"user login user", b"payment process", b"User"])
    assert postings_of(postings, b"user") == [(0, 2), (2, 1)]
    assert postings_of(postings, b"process") == [(1, 1)]
    assert postings.lengths.tolist() == [3, 2, 1]


def test_each_token_has_a_number_of_its_own() -> None:
    postings = build_postings([b"b a", b"c a b"])
    assert sorted(postings.vocabulary) == [b"a", b"b", b"c"]
    assert sorted(postings.vocabulary.values()) == [0, 1, 2]


@pytest.mark.parametrize("token", [b"absent", b"", b"USER"])
def test_a_token_that_no_chunk_holds_has_no_postings(token: bytes) -> None:
    assert postings_of(build_postings([b"user"]), token) == []


@pytest.mark.parametrize("texts", [[], [b""], [b"", b"--", "é".encode()]])
def test_texts_without_tokens_have_lengths_and_nothing_else(texts: list[bytes]) -> None:
    postings = build_postings(texts)
    assert postings.lengths.tolist() == [0] * len(texts)
    assert postings.vocabulary == {}
    assert postings.starts.tolist() == [0]
    assert postings_of(postings, b"user") == []


def test_texts_may_come_one_by_one() -> None:
    postings = build_postings(text for text in (b"a", b"", b"a a"))
    assert postings_of(postings, b"a") == [(0, 1), (2, 2)]


@pytest.mark.parametrize("texts", [[], [b""], [b"a b a"]])
def test_arrays_hold_64_bits_on_every_system(texts: list[bytes]) -> None:
    postings = build_postings(texts)
    for vector in (postings.starts, postings.chunks, postings.counts, postings.lengths):
        assert vector.dtype == np.int64


@settings(deadline=None, max_examples=200)
@given(TEXTS)
def test_postings_are_what_counting_word_by_word_gives(texts: list[bytes]) -> None:
    postings = build_postings(texts)
    bags = [plain_tokens(text) for text in texts]
    assert postings.lengths.tolist() == [len(bag) for bag in bags]
    assert set(postings.vocabulary) == {token for bag in bags for token in bag}
    for token in postings.vocabulary:
        expected = [(chunk, bag.count(token)) for chunk, bag in enumerate(bags) if token in bag]
        assert postings_of(postings, token) == expected


@settings(deadline=None)
@given(st.lists(st.integers(0, 40).map(lambda n: n << 50) | st.integers(0, 2**64 - 1), max_size=60))
def test_numbers_are_told_apart_though_many_fall_into_one_slot(values: list[int]) -> None:
    # Of 60 numbers at most 32 slots are made, so that many of them have to be sorted.
    distinct, numbers = distinct_values(np.array(values, np.uint64))
    assert sorted(distinct.tolist()) == sorted(set(values))
    assert distinct[numbers].tolist() == values


@pytest.mark.parametrize("n_terms", [8, 1_000])
def test_terms_that_occur_are_numbered_in_order_however_many_there_are(n_terms: int) -> None:
    used, places = used_terms(array("i", [7, 3, 7, 0]), n_terms)
    assert used == [0, 3, 7]
    assert list(places) == [2, 1, 2, 0]
