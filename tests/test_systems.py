"""Where rankings enter: laws are checked, and whoever breaks one is named with its package."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint
from typing import Any, ClassVar, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.query import Query
from cce.domain.ranking import Chunk, Hit, Ranking
from cce.errors import EmbedderError, RankingError, StoreError
from cce.retrieval.backends.catalog import BACKENDS, DEFAULT_BACKENDS
from cce.retrieval.backends.checking import check_ranking
from cce.retrieval.backends.hybrid import HybridBackend
from cce.retrieval.embedding.checking import CheckedEmbedder
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.opening import open_system
from corpora import index_chunks, index_files, index_texts, make_chunk, paths

Answer = Callable[[Index, Query, int], object]


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answer], None]:
    """Offer a backend `mine` of the package `acme` that answers as told."""

    def offer(answer: Answer) -> None:
        class Backend:
            def __init__(self, index: Index) -> None:
                self._index = index

            def rank(self, query: Query, k: int) -> Ranking:
                return cast(Ranking, answer(self._index, query, k))

        class Distribution:
            metadata: ClassVar = {"Name": "acme"}

        class Point:
            name, value, dist = "mine", "acme:Backend", Distribution

            def load(self) -> type:
                return Backend

        point = cast(EntryPoint, Point())
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point])

    return offer


def first(index: Index, n: int) -> list[Hit]:
    return [Hit(index.chunks[position], 1.0) for position in range(n)]


def hit(chunk: object, score: object = 1.0) -> Hit:
    return Hit(cast(Chunk, chunk), cast(float, score))


FAULTS: dict[str, tuple[Answer, str]] = {
    "its first hit k times": (lambda index, _, k: first(index, 1) * k, "rank 2 repeats '0.txt' lines 1-1"),
    "more than k": (lambda index, _, k: first(index, k + 1), "3 results for k = 2"),
    "NaN": (lambda index, *_: [hit(index.chunks[0], math.nan)], "the score at rank 1 is nan"),
    "infinity": (lambda index, *_: [hit(index.chunks[0], -math.inf)], "the score at rank 1 is -inf"),
    "a score of text": (lambda index, *_: [hit(index.chunks[0], "9")], "must be a float, got str"),
    "a boolean": (lambda index, *_: [hit(index.chunks[0], True)], "must be a float, got bool"),
    "None": (lambda *_: None, "a ranking is a tuple of hits, got NoneType"),
    "a generator": (lambda index, *_: iter(first(index, 1)), "a ranking is a tuple of hits"),
    "a bare pair": (lambda index, *_: [(index.chunks[0], 1.0)], "rank 1 must be a Hit, got tuple"),
    "a path": (lambda *_: [hit("0.txt")], "must be a Hit with a Chunk, got one with str"),
    "a made chunk": (lambda *_: [hit(make_chunk("x.py", "x"))], "is no chunk of the index"),
}


@pytest.mark.parametrize(("answer", "law"), FAULTS.values(), ids=FAULTS)
def test_a_broken_law_names_the_backend_its_package_the_query_and_the_law(
    answer: Answer, law: str, plug_in: Callable[[Answer], None]
) -> None:
    plug_in(answer)
    system = open_system("mine", index_texts("alpha", "beta", "alpha beta"))
    with pytest.raises(RankingError) as caught:
        system.rank(Query("alpha"), 2)
    assert str(caught.value).startswith("backend 'mine' of package 'acme': query 'alpha': ")
    assert law in str(caught.value)


@pytest.mark.parametrize(
    "fault", [ConnectionRefusedError("Connection refused"), KeyError("x"), RecursionError("too deep")]
)
def test_what_a_plug_in_raises_is_its_own_failure(
    fault: Exception, plug_in: Callable[[Answer], None]
) -> None:
    def answer(index: Index, query: Query, k: int) -> object:
        raise fault

    plug_in(answer)
    with pytest.raises(RankingError, match="^backend 'mine' of package 'acme': " + type(fault).__name__):
        open_system("mine", index_texts("alpha")).rank(Query("alpha"), 2)


def test_a_failure_that_already_has_a_message_for_people_keeps_it(plug_in: Callable[[Answer], None]) -> None:
    def answer(index: Index, query: Query, k: int) -> object:
        raise StoreError("s.json: cut in half, index again")

    plug_in(answer)
    with pytest.raises(StoreError, match=r"^s\.json: cut in half"):
        open_system("mine", index_texts("alpha")).rank(Query("alpha"), 2)


def test_a_chunk_outside_what_the_query_allows_is_refused(plug_in: Callable[[Answer], None]) -> None:
    plug_in(lambda index, query, k: first(index, 2))
    system = open_system("mine", index_texts("alpha", "beta"))
    assert len(system.rank(Query("alpha", frozenset({0, 1})), 2)) == 2
    with pytest.raises(RankingError, match=r"rank 2 is '1\.txt' lines 1-1, which the query does not allow"):
        system.rank(Query("alpha", frozenset({0})), 2)


def test_equal_chunks_may_come_as_often_as_the_index_has_them() -> None:
    # Two structs on one line have one place, one text and one id.
    twin = make_chunk("a.c", "struct s {};")
    index = index_chunks([twin, make_chunk("a.c", "struct s {};")])
    query = Query("struct")
    copies = [Hit(make_chunk("a.c", "struct s {};"), 1.0) for _ in range(3)]
    assert len(check_ranking(copies[:2], query, 5, index, "backend 'mine'")) == 2
    with pytest.raises(RankingError, match=r"rank 3 repeats 'a\.c' lines 1-1"):
        check_ranking(copies, query, 5, index, "backend 'mine'")


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.sampled_from(["alpha", "beta", "alpha beta", "", "--"]), max_size=8),
    st.sampled_from(["alpha", "beta alpha", "", "--", "absent"]),
    st.integers(1, 10),
    st.sampled_from([*DEFAULT_BACKENDS, "bm25-okapi", "bm25-plus", "bm25-l"]),
)
def test_our_own_backends_keep_the_laws(texts: Sequence[str], query: str, k: int, name: str) -> None:
    index = index_texts(*texts)
    assert open_system(name, index).rank(Query(query), k) == BACKENDS.load(name)(index).rank(Query(query), k)


@pytest.mark.parametrize(
    ("vectors", "law"),
    [
        ([[1.0, 0.0, 0.0]], "vectors have the shape (1, 3), expected (1, 2)"),
        ([[1.0, 0.0], [0.0, 1.0]], "vectors have the shape (2, 2), expected (1, 2)"),
        ([1.0, 0.0], "vectors have the shape (2,), expected (1, 2)"),
        ([[1.0, 1.0]], "vector 1 of 1 has the norm 1.41421, expected 1 or 0"),
        ([[math.nan, 0.0]], "vector 1 of 1 has the norm nan, expected 1 or 0"),
        ([["a", "b"]], "vectors must be numbers"),
        (None, "vectors have the shape (), expected (1, 2)"),
    ],
)
def test_an_embedder_that_breaks_a_law_is_named(vectors: object, law: str) -> None:
    class Broken:
        name = "mine"
        dimension = 2

        def embed(self, texts: Sequence[bytes]) -> Any:
            return vectors

    with pytest.raises(EmbedderError) as caught:
        CheckedEmbedder(Broken(), "embedder 'mine' of package 'acme'").embed([b"a"])
    assert str(caught.value).startswith("embedder 'mine' of package 'acme': ")
    assert law in str(caught.value)


def test_sound_vectors_pass_as_they_are() -> None:
    class Sound:
        name = "mine"
        dimension = 2

        def embed(self, texts: Sequence[bytes]) -> Any:
            return [[0.6, 0.8], [0.0, 0.0]]

    checked = CheckedEmbedder(Sound(), "embedder 'mine'")
    assert checked.embed([b"a", b""]).tolist() == [[0.6, 0.8], [0.0, 0.0]]
    assert (checked.name, checked.dimension, checked.model) == ("mine", 2, None)


def test_results_of_the_import_graph_come_last_whatever_their_score() -> None:
    # Its text is the query, so its cosine is 1 and its score 0.85; its path has `plan`, so it is not kept.
    junk = " ".join(f"w{n}" for n in range(13))
    files = {f"a{n}.py": f"import plan_target\n# alpha {junk} n{n}\n" for n in range(2)}
    index = index_files({**files, "plan_target.py": "# alpha beta\n"})
    query = Query("alpha beta")
    ranking = HybridBackend(index).search(query, 2)
    assert paths(ranking)[2:] == ["plan_target.py"]
    assert ranking[2].score == pytest.approx(0.85)
    assert ranking[2].measured > max(hit.measured for hit in ranking[:2])
    assert ranking[:2] == HybridBackend(index).search(query, 2, use_graph=False)
    assert check_ranking(ranking, query, 3, index, "backend 'hybrid'") == ranking
