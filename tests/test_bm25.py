from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.errors import UsageError
from cce.numerals import format_score, ordering_key
from cce.retrieval.backends.bm25 import Bm25Backend, bm25_scores
from cce.retrieval.indexing.index import Index
from corpora import (
    all_scores,
    index_chunks,
    index_files,
    index_texts,
    make_chunk,
    paths,
    plain_bm25,
    plain_order,
    scored,
)

WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "Alpha", "al", "é"]), max_size=6).map(" ".join)


def rank(index: Index, query: str, k: int = 10) -> Ranking:
    return Bm25Backend(index).rank(Query(query), k)


def figures(index: Index, query: str) -> list[tuple[str, str]]:
    return [(hit.chunk.file_path, format_score(hit.measured)) for hit in rank(index, query)]


def test_a_score_worked_by_hand() -> None:
    # idf = ln(1 + 1.5 / 1.5) = ln 2; |D| / avgdl = 3 / 2.5; 0.693147 * 4.4 / (2 + 1.2 * 1.15) = 0.902322
    assert figures(index_texts("user login user", "payment process"), "user") == [("0.txt", "0.902322")]


def test_an_idf_is_never_negative() -> None:
    # In one chunk of one: ln(1 + 0.5 / 1.5) = 0.287682, where the classic idf would be ln(0.5 / 1.5) < 0.
    assert figures(index_texts("alpha beta"), "alpha") == [("0.txt", "0.287682")]


def test_a_repeated_query_token_counts_once() -> None:
    index = index_texts("error error handling", "handling", "error")
    assert figures(index, "error error handling") == figures(index, "error handling")
    assert figures(index, "Error ERROR error") == figures(index, "error")


@pytest.mark.parametrize("query", ["", " ", "—?", "日本語"])
def test_a_query_without_a_token_gives_nothing(query: str) -> None:
    assert rank(index_texts("alpha"), query) == ()


@pytest.mark.parametrize(
    "files", [{}, {"a.py": ""}, {"a.txt": "—"}, {"a.py": "", "b.txt": "", "c.js": "\n"}], ids=repr
)
def test_a_corpus_without_a_token_gives_nothing(files: dict[str, str]) -> None:
    assert rank(index_files(files), "alpha") == ()


def test_an_empty_file_among_others_counts_as_a_chunk() -> None:
    # N = 2, n = 1, avgdl = 1/2, |D| / avgdl = 2: ln 2 * 2.2 / (1 + 1.2 * 1.75) = 0.491911
    assert figures(index_texts("", "alpha"), "alpha") == [("1.txt", "0.491911")]


def test_only_chunks_with_a_positive_key_rank() -> None:
    assert paths(rank(index_texts("alpha", "beta", "alpha beta gamma"), "alpha")) == ["0.txt", "2.txt"]


def test_a_score_that_rounds_to_zero_does_not_rank() -> None:
    # Every chunk holds it: idf = ln(1 + 0.5 / 2001.5) = 0.00025. The last is 1,981 times the mean length:
    # 0.00025 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1981)) = 0.0000003
    index = index_texts(*["alpha"] * 2000, "alpha" + " beta" * 200_000)
    scores = all_scores(bm25_scores(Query("alpha"), index), index)
    assert 0 < min(scores) < 0.5e-6
    ranked = paths(rank(index, "alpha", 2001))
    assert len(ranked) == 2000
    assert "2000.txt" not in ranked


def test_four_files_with_one_body_are_ordered_by_chunk_id() -> None:
    chunks = [make_chunk(f"{letter}.py", "def same(): pass") for letter in "abcd"]
    expected = sorted(chunks, key=lambda chunk: chunk.chunk_id)
    for order in (chunks, chunks[::-1], chunks[2:] + chunks[:2]):
        assert [hit.chunk for hit in rank(index_chunks(order), "same", 2)] == expected[:2]


def test_k_may_exceed_what_there_is() -> None:
    assert len(rank(index_texts("alpha", "alpha beta", "gamma"), "alpha", 1000)) == 2
    assert len(rank(index_texts("alpha", "alpha beta", "gamma"), "alpha", 1)) == 1


@settings(deadline=None, max_examples=150)
@given(st.lists(WORDS, max_size=8), WORDS, st.integers(1, 10))
def test_scores_have_the_bits_of_dictionaries_and_loops(texts: list[str], query: str, k: int) -> None:
    index = index_texts(*texts)
    plain = plain_bm25(index, query)
    assert all_scores(bm25_scores(Query(query), index), index) == plain
    ranked = plain_order(index, {p: score for p, score in enumerate(plain) if ordering_key(score) > 0})
    assert scored(rank(index, query, k)) == [(index.chunks[p], plain[p]) for p in ranked[:k]]


@settings(deadline=None, max_examples=100)
@given(st.lists(WORDS, max_size=8), WORDS, st.integers(1, 9))
def test_a_greater_k_only_adds_at_the_end(texts: list[str], query: str, k: int) -> None:
    index = index_texts(*texts)
    assert rank(index, query, k) == rank(index, query, k + 1)[:k]


# Options of a variant


def score_with(query: str, **options: Any) -> list[float]:
    index = index_texts("alpha alpha beta", "beta gamma delta epsilon zeta")
    return [hit.measured for hit in Bm25Backend(index, **options).rank(Query(query), 5)]


def test_parameters_enter_the_formula_as_it_reads() -> None:
    # alpha is in 1 of 2 chunks, twice in one of 3 tokens; the mean length is 4.
    weight = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert score_with("alpha", k1=0.9, b=0.4) == [
        weight * (2 * (0.9 + 1)) / (2 + 0.9 * (1 - 0.4 + 0.4 * 3 / 4))
    ]
    assert score_with("alpha", k1=0) == [weight * 2 / 2]  # the count has no weight
    assert score_with("alpha", b=0) == [weight * (2 * 2.2) / (2 + 1.2)]  # nor has the length


def test_the_defaults_named_are_the_defaults() -> None:
    assert score_with("alpha beta", k1=1.2, b=0.75, query_counts=False) == score_with("alpha beta")


def test_query_counts_count_a_token_as_often_as_it_stands_in_the_query() -> None:
    (once,) = score_with("alpha")
    assert score_with("alpha alpha") == [once]
    assert score_with("alpha alpha", query_counts=True) == [once + once]


def test_other_parameters_are_explained_by_their_scores() -> None:
    account = Bm25Backend(index_texts("alpha"), k1=2).explain(Query("alpha"), 1)
    assert [(hit.rank, hit.shares) for hit in account.hits] == [(1, ())]
    assert (account.terms, account.formula) == ((), ())


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("k1", -0.1, "k1: must be a number from 0 to 1000, got -0.1"),
        ("k1", math.nan, "k1: must be a number from 0 to 1000, got nan"),
        ("k1", "1", "k1: must be a number from 0 to 1000, got '1'"),
        ("b", 1.5, "b: must be a number from 0 to 1, got 1.5"),
        ("b", True, "b: must be a number from 0 to 1, got True"),
    ],
)
def test_a_parameter_that_cannot_be_is_named(option: str, value: object, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Bm25Backend(index_texts("alpha"), **{option: value})  # type: ignore[arg-type]
    assert str(caught.value) == message
