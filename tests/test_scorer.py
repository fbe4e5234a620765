"""The scorers, in lists and in arrays: one answer, to the bit, and the plain one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.query import Query
from cce.retrieval.backends.bm25 import bm25_scores
from cce.retrieval.backends.catalog import DEFAULT_BACKENDS
from cce.retrieval.backends.vector import query_cosines
from cce.retrieval.indexing import index as index_module
from cce.retrieval.indexing.index import Index, SegmentIndex
from cce.retrieval.scoring.arrays.scorer import ArrayScorer
from cce.retrieval.scoring.scorer import ListScorer
from cce.retrieval.systems.opening import open_system
from corpora import all_scores, index_texts, plain_bm25, plain_cosines

WORDS = st.sampled_from(["alpha", "beta", "Alpha", "al", "\xe9", "t17", "t113", "--", "gamma_2", "b " * 5])
TEXTS = st.lists(st.lists(WORDS, max_size=8).map(" ".join), max_size=6)
QUERIES = st.lists(WORDS, max_size=6).map(" ".join)


def both(texts: list[str]) -> tuple[SegmentIndex, SegmentIndex]:
    """The same index, scored in lists and in arrays."""
    plain, large = index_texts(*texts), index_texts(*texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_module, "MANY_POSTINGS", 0)
        assert isinstance(large.scorer, ArrayScorer)
    assert isinstance(plain.scorer, ListScorer)
    assert isinstance(plain, SegmentIndex)
    assert isinstance(large, SegmentIndex)
    return plain, large


@settings(deadline=None, max_examples=200)
@given(TEXTS, QUERIES)
def test_lists_and_arrays_give_the_same_bits(texts: list[str], query: str) -> None:
    plain, large = both(texts)
    for scores in (bm25_scores, query_cosines):
        in_lists, in_arrays = (all_scores(scores(Query(query), index), index) for index in (plain, large))
        assert in_lists == in_arrays
    for token in (b"alpha", b"beta", b"absent"):
        assert [list(part) for part in plain.scorer.term(token)] == [
            list(part) for part in large.scorer.term(token)
        ]


@settings(deadline=None, max_examples=100)
@given(TEXTS, QUERIES)
def test_lists_give_what_the_formulas_read_word_by_word_give(texts: list[str], query: str) -> None:
    index = both(texts)[0]
    assert all_scores(bm25_scores(Query(query), index), index) == plain_bm25(index, query)
    assert all_scores(index.scorer.cosines(query.encode()), index) == plain_cosines(index, query)


@settings(deadline=None, max_examples=100)
@given(TEXTS, QUERIES, st.integers(1, 8), st.sampled_from(DEFAULT_BACKENDS))
def test_backends_rank_alike_over_either(texts: list[str], query: str, k: int, backend: str) -> None:
    def ranked(index: Index) -> list[tuple[str, float]]:
        return [
            (hit.indexed.chunk_id, hit.measured) for hit in open_system(backend, index).rank(Query(query), k)
        ]

    plain, large = both(texts)
    assert ranked(plain) == ranked(large)


def test_a_score_in_lists_worked_by_hand() -> None:
    # idf = ln(1 + 1.5 / 1.5) = ln 2; |D| / avgdl = 3 / 2.5; 0.693147 * 4.4 / (2 + 1.2 * 1.15) = 0.902322
    scores = both(["user login user", "payment process"])[0].scorer.bm25([b"user"])
    assert [round(score, 6) for score in scores.at([0, 1])] == [0.902322, 0.0]


def test_a_cosine_in_lists_worked_by_hand() -> None:
    # "a" subtracts in bucket 140, "foobar" in 232: (-3, -4) / 5 and (-1, 0) make 3 / 5.
    scorer = both(["a a a foobar foobar foobar foobar", "", "foobar"])[0].scorer
    assert scorer.cosines(b"A").at([0, 1, 2]) == [3 / 5, 0.0, 0.0]


@pytest.mark.parametrize(("n_chunks", "scorer"), [(499, ListScorer), (500, ArrayScorer)])
def test_many_chunks_are_scored_in_arrays_even_without_a_token(n_chunks: int, scorer: type) -> None:
    assert type(index_texts(*[""] * n_chunks).scorer) is scorer


@settings(deadline=None, max_examples=100)
@given(TEXTS, QUERIES, st.floats(0, 3), st.floats(0, 1))
def test_other_parameters_give_the_same_bits_in_lists_and_arrays(
    texts: list[str], query: str, k1: float, b: float
) -> None:
    tokens = Query(query).tokens
    in_lists, in_arrays = (
        all_scores(index.scorer.with_parameters(k1, b).bm25(tokens), index) for index in both(texts)
    )
    assert in_lists == in_arrays


def test_other_parameters_leave_the_scorer_of_the_index_as_it_is() -> None:
    for index in both(["alpha alpha beta", "beta"]):
        before = all_scores(index.scorer.bm25([b"alpha"]), index)
        index.scorer.with_parameters(0.5, 0.0).bm25([b"alpha"])
        assert all_scores(index.scorer.bm25([b"alpha"]), index) == before
