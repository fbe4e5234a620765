from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.retrieval.embedding.hashing import HashEmbedder, fnv1a
from cce.retrieval.scoring.arrays.hash_vectors import fnv1a_of_all, hash_vectors
from cce.retrieval.scoring.arrays.postings import build_postings
from corpora import plain_embedding, plain_fnv


def embed(text: bytes) -> list[float]:
    vector: list[float] = HashEmbedder().embed([text])[0].tolist()
    return vector


@pytest.mark.parametrize(
    ("token", "digest"),
    [(b"", 0xCBF29CE484222325), (b"a", 0xAF63DC4C8601EC8C), (b"foobar", 0x85944171F73967E8)],
)
def test_fnv_has_the_published_values(token: bytes, digest: int) -> None:
    assert fnv1a(token) == digest
    assert fnv1a_of_all([token]).tolist() == [digest]


def test_fnv_keeps_the_order_given_whatever_the_lengths() -> None:
    assert fnv1a_of_all([b"foobar", b"", b"a"]).tolist() == [
        0x85944171F73967E8,
        0xCBF29CE484222325,
        0xAF63DC4C8601EC8C,
    ]


def test_fnv_of_no_tokens_is_empty() -> None:
    assert fnv1a_of_all([]).dtype == np.uint64
    assert fnv1a_of_all([]).shape == (0,)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.binary(max_size=20), max_size=8))
def test_fnv_wraps_at_64_bits_as_whole_numbers_do(tokens: list[bytes]) -> None:
    assert fnv1a_of_all(tokens).tolist() == [plain_fnv(token) for token in tokens]


@pytest.mark.parametrize(
    ("token", "bucket", "value"),
    [
        (b"a", 140, -1.0),  # 0xaf63dc4c8601ec8c ends in 0x8c = 140; its first digit a = 0b1010 has bit 63 set
        (b"foobar", 232, -1.0),  # 0x85944171f73967e8: 0xe8 = 232, 8 = 0b1000
        (b"user", 242, 1.0),  # 0x7d6780e4032b48f2: 0xf2 = 242, 7 = 0b0111
        (b"USER", 242, 1.0),
    ],
)
def test_bucket_and_sign_worked_by_hand(token: bytes, bucket: int, value: float) -> None:
    assert embed(token) == [value if number == bucket else 0.0 for number in range(256)]


def test_repeated_tokens_count_and_the_norm_is_one() -> None:
    # 3 and 4 in two buckets make a norm of 5.
    vector = embed(b"a a a foobar foobar foobar foobar")
    assert vector[0x8C] == -3 / 5
    assert vector[0xE8] == -4 / 5
    assert math.sqrt(sum(value * value for value in vector)) == 1.0


@pytest.mark.parametrize("text", [b"", b"--", "é".encode()])
def test_a_text_without_tokens_is_all_zero(text: bytes) -> None:
    assert embed(text) == [0.0] * 256


def test_tokens_that_cancel_leave_zeros_and_no_division() -> None:
    seen: dict[int, tuple[bytes, int]] = {}
    for number in range(10_000):  # two tokens of one bucket and opposite signs
        token = b"t%d" % number
        bucket, sign = plain_fnv(token) % 256, plain_fnv(token) >> 63
        other, other_sign = seen.setdefault(bucket, (token, sign))
        if other_sign != sign:
            break
    assert embed(token + b" " + other) == [0.0] * 256


def test_no_texts_give_no_rows() -> None:
    matrix = HashEmbedder().embed([])
    assert matrix.shape == (0, 256)
    assert matrix.dtype == np.float64


def test_the_embedder_tells_its_name_and_width() -> None:
    assert (HashEmbedder().name, HashEmbedder().dimension) == ("hash", 256)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.text("ab C_é", max_size=20).map(str.encode), max_size=5))
def test_vectors_have_the_bits_of_a_plain_loop(texts: list[bytes]) -> None:
    expected = [plain_embedding(text) for text in texts]
    assert HashEmbedder().embed(texts).tolist() == expected
    vectors = hash_vectors(build_postings(texts))
    assert vectors.rows().tolist() == expected
    columns = [[row[n] for row in expected] for n in range(256)]
    assert [vectors.dimension(n).tolist() for n in range(256)] == columns
