from __future__ import annotations

from collections.abc import Callable

import pytest
import rank_bm25
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.query import Query
from cce.numerals import ordering_key
from cce.retrieval.backends.bm25 import Bm25Backend
from cce.retrieval.backends.classic import Bm25LBackend, Bm25OkapiBackend, Bm25PlusBackend
from cce.retrieval.backends.contract import Backend
from cce.retrieval.indexing.index import Index
from corpora import (
    index_chunks,
    index_files,
    index_texts,
    make_chunk,
    paths,
    plain_order,
    plain_tokens,
    scored,
)

PAIRS = [
    (Bm25OkapiBackend, rank_bm25.BM25Okapi),
    (Bm25PlusBackend, rank_bm25.BM25Plus),
    (Bm25LBackend, rank_bm25.BM25L),
]
BACKENDS = [backend for backend, _ in PAIRS]
WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "Alpha", "é"]), max_size=6).map(" ".join)

Make = Callable[[Index], Backend]


@pytest.mark.parametrize(("make", "scorer"), PAIRS)
@settings(deadline=None, max_examples=60)
@given(texts=st.lists(WORDS, max_size=7), query=WORDS, k=st.integers(1, 9))
def test_a_classic_ranks_by_the_scores_of_the_package_called_directly(
    make: Make, scorer: Callable[..., object], texts: list[str], query: str, k: int
) -> None:
    index = index_texts(*texts)
    bags = [plain_tokens(text.encode()) for text in texts]
    tokens = plain_tokens(query.encode())
    expected: list[tuple[object, float]] = []
    if any(bags) and tokens:
        scores = scorer(bags).get_scores(tokens).tolist()  # type: ignore[attr-defined]
        positive = {p: score for p, score in enumerate(scores) if ordering_key(score) > 0}
        expected = [(index.chunks[p], scores[p]) for p in plain_order(index, positive)[:k]]
    assert scored(make(index).rank(Query(query), k)) == expected


@pytest.mark.parametrize("make", BACKENDS)
@pytest.mark.parametrize("files", [{}, {"a.py": ""}, {"a.txt": "—", "b.py": "\n"}], ids=repr)
def test_a_corpus_without_a_token_gives_nothing(make: Make, files: dict[str, str]) -> None:
    assert make(index_files(files)).rank(Query("alpha"), 5) == ()


@pytest.mark.parametrize("make", BACKENDS)
@pytest.mark.parametrize("query", ["", "—?", "日本語"])
def test_a_query_without_a_token_gives_nothing(make: Make, query: str) -> None:
    assert make(index_texts("alpha", "beta")).rank(Query(query), 5) == ()


def test_okapi_drops_what_scores_zero_or_less() -> None:
    # In half of the chunks its idf is ln(1.5 / 1.5) = 0, so nothing ranks; ours ranks both.
    half = index_texts("alpha", "beta", "alpha", "gamma")
    assert Bm25OkapiBackend(half).rank(Query("alpha"), 4) == ()
    assert sorted(paths(Bm25Backend(half).rank(Query("alpha"), 4))) == ["0.txt", "2.txt"]
    # In the only chunk every idf is ln(0.5 / 1.5) < 0, and so is the mean that takes its place.
    assert Bm25OkapiBackend(index_texts("alpha beta")).rank(Query("alpha"), 4) == ()


@pytest.mark.parametrize("make", [Bm25PlusBackend, Bm25LBackend])
def test_ties_go_to_the_smaller_id_whatever_the_order(make: Make) -> None:
    chunks = [make_chunk(f"{letter}.py", "def same(): pass") for letter in "abcd"]
    expected = sorted(chunks, key=lambda chunk: chunk.chunk_id)
    for order in (chunks, chunks[::-1]):
        assert [hit.chunk for hit in make(index_chunks(order)).rank(Query("same"), 2)] == expected[:2]


def test_okapi_counts_a_repeated_query_token_twice() -> None:
    index = index_texts("alpha", "beta", "gamma")
    (once,) = Bm25OkapiBackend(index).rank(Query("alpha"), 3)
    (twice,) = Bm25OkapiBackend(index).rank(Query("alpha alpha"), 3)
    assert twice.measured == 2 * once.measured
