from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.numerals import format_score
from cce.retrieval.backends.vector import VectorBackend
from cce.retrieval.indexing.index import Index
from corpora import (
    all_scores,
    index_chunks,
    index_files,
    index_texts,
    make_chunk,
    paths,
    plain_cosines,
    plain_order,
    scored,
)

WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "Alpha", "x1", "é"]), max_size=6).map(" ".join)


def rank(index: Index, query: str, k: int = 10) -> Ranking:
    return VectorBackend(index).rank(Query(query), k)


def test_all_chunks_rank_by_cosine() -> None:
    ranking = rank(index_texts("beta", "alpha beta", "alpha"), "alpha")
    assert [(hit.chunk.file_path, format_score(hit.measured)) for hit in ranking] == [
        ("2.txt", "1.000000"),
        ("1.txt", "0.707107"),
        ("0.txt", "0.000000"),
    ]


def test_repeats_in_the_query_count() -> None:
    # (2, 1) and (1, 0): 2 / sqrt 5 = 0.894427; (2, 1) and (0, 1): 1 / sqrt 5 = 0.447214
    ranking = rank(index_texts("alpha", "beta"), "alpha alpha beta")
    assert [format_score(hit.measured) for hit in ranking] == ["0.894427", "0.447214"]


@pytest.mark.parametrize("query", ["", " ", "—?", "日本語"])
def test_a_query_without_a_token_has_no_vector_and_no_result(query: str) -> None:
    assert rank(index_texts("alpha"), query) == ()


def test_an_empty_index_gives_nothing() -> None:
    assert rank(index_files({}), "alpha") == ()


def test_files_without_tokens_still_have_a_place() -> None:
    ranking = rank(index_files({"a.py": "", "b.txt": "—", "c.js": "alpha"}), "alpha")
    assert paths(ranking)[0] == "c.js"
    assert [hit.measured for hit in ranking] == [1.0, 0.0, 0.0]


def test_four_files_with_one_body_are_ordered_by_chunk_id() -> None:
    chunks = [make_chunk(f"{letter}.py", "def same(): pass") for letter in "abcd"]
    expected = sorted(chunks, key=lambda chunk: chunk.chunk_id)
    for order in (chunks, chunks[::-1], chunks[2:] + chunks[:2]):
        assert [hit.chunk for hit in rank(index_chunks(order), "same", 2)] == expected[:2]


def test_k_may_exceed_what_there_is() -> None:
    assert len(rank(index_texts("alpha", "beta"), "alpha", 1000)) == 2
    assert len(rank(index_texts("alpha", "beta"), "alpha", 1)) == 1


@settings(deadline=None, max_examples=60)
@given(st.lists(WORDS, max_size=5), WORDS.filter(lambda text: any(map(str.isascii, text))), st.integers(1, 6))
def test_cosines_have_the_bits_of_a_plain_loop_over_dimensions(texts: list[str], query: str, k: int) -> None:
    index = index_texts(*texts)
    plain = plain_cosines(index, query)
    assert all_scores(index.scorer.cosines(query.encode()), index) == plain
    ranked = plain_order(index, dict(enumerate(plain)))[:k] if query.strip("é ") else []
    assert scored(rank(index, query, k)) == [(index.chunks[p], plain[p]) for p in ranked]


@settings(deadline=None, max_examples=60)
@given(st.lists(WORDS, max_size=8), WORDS, st.integers(1, 9))
def test_a_greater_k_only_adds_at_the_end(texts: list[str], query: str, k: int) -> None:
    index = index_texts(*texts)
    assert rank(index, query, k) == rank(index, query, k + 1)[:k]
