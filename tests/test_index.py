from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cce.domain.query import Query
from cce.retrieval.backends.bm25 import Bm25Backend, bm25_scores
from cce.retrieval.backends.catalog import BACKENDS
from cce.retrieval.backends.hybrid import HybridBackend
from cce.retrieval.backends.vector import VectorBackend, query_cosines
from cce.retrieval.chunking.treesitter import chunk_file
from cce.retrieval.embedding.hashing import HashEmbedder
from cce.retrieval.indexing.directory import index_directory
from cce.retrieval.indexing.index import Index
from corpora import all_scores, build_index, index_chunks, index_files, index_texts, make_chunk, paths


class CountingEmbedder:
    """Two dimensions: how many bytes are `a`, how many are `b`; remembers how often it was asked."""

    name = "counting"
    dimension = 2

    def __init__(self) -> None:
        self.n_calls = 0

    def embed(self, texts: Sequence[bytes]) -> NDArray[np.float64]:
        self.n_calls += 1
        counts = np.array([[t.count(b"a"), t.count(b"b")] for t in texts], np.float64).reshape(-1, 2)
        norms = np.sqrt((counts * counts).sum(axis=1, keepdims=True))
        unit: NDArray[np.float64] = counts / np.where(norms > 0, norms, 1.0)
        return unit


FILES = {
    "b.py": "import a\ndef f(): pass\ndef g(): pass\n",
    "a.py": "def h(): pass\n",
    "c.txt": "words",
    "d.py": "",
}


def test_chunks_keep_file_order_then_tree_order() -> None:
    index = index_files(FILES)
    assert [(c.file_path, c.start_line) for c in index.chunks] == [
        ("a.py", 1),
        ("b.py", 2),
        ("b.py", 3),
        ("c.txt", 1),
        ("d.py", 1),
    ]
    assert index.positions_by_file == {"a.py": [0], "b.py": [1, 2], "c.txt": [3], "d.py": [4]}
    assert list(index.positions_by_file) == sorted(FILES)


def test_files_without_imports_are_left_out_and_every_file_has_its_tokens() -> None:
    index = index_files(FILES)
    assert index.file_imports == {"b.py": ("a",)}
    assert index.file_tokens == {"a.py": 3, "b.py": 9, "c.txt": 1, "d.py": 1}  # 14, 37, 5 and 0 bytes


def test_the_graph_joins_indexed_files() -> None:
    assert index_files(FILES).graph.neighbours("a.py") == ["b.py"]


def test_an_empty_index_answers_nothing_anywhere() -> None:
    index = build_index([], HashEmbedder())
    assert tuple(index.chunks) == ()
    assert index.embeddings.shape == (0, 256)
    assert index.id_rank == []
    assert all_scores(index.scorer.cosines(b"alpha"), index) == []
    for name in BACKENDS.names():
        assert BACKENDS.load(name)(index).rank(Query("alpha"), 10) == ()


@pytest.mark.parametrize("name", ["bm25", "vector", "hybrid", "bm25-okapi", "bm25-plus", "bm25-l"])
def test_every_backend_keeps_the_laws(name: str) -> None:
    index = index_files({**FILES, "e.py": "def f(): pass\n" * 5})
    backend = BACKENDS.load(name)(index)
    for query in ("def", "f pass words", "import a", "absent", "where is f.py"):
        for k in (1, 2, 3, 100):
            ranking = backend.rank(Query(query), k)
            assert len(ranking) <= k
            assert len({id(hit.chunk) for hit in ranking}) == len(ranking)
            assert np.isfinite([hit.measured for hit in ranking]).all()


def test_bm25_alone_never_asks_for_an_embedding() -> None:
    embedder = CountingEmbedder()
    index = build_index([chunk_file("a.txt", b"abba")], embedder)
    assert len(Bm25Backend(index).rank(Query("abba"), 1)) == 1
    assert embedder.n_calls == 0


def test_chunks_are_embedded_once_for_all_queries() -> None:
    embedder = CountingEmbedder()
    index = build_index([chunk_file("a.txt", b"a"), chunk_file("b.txt", b"b")], embedder)
    assert paths(VectorBackend(index).rank(Query("b"), 2)) == ["b.txt", "a.txt"]
    query = Query("a")
    assert paths(HybridBackend(index).rank(query, 2)) == ["a.txt", "b.txt"]
    assert embedder.n_calls == 1 + 2  # the chunks, and each query
    assert paths(VectorBackend(index).rank(query, 2)) == ["a.txt", "b.txt"]
    assert embedder.n_calls == 1 + 2  # hybrid has embedded it already


def test_given_embeddings_are_taken_as_they_are() -> None:
    embedder = CountingEmbedder()
    swapped = np.array([[0.0, 1.0], [1.0, 0.0]])
    index = Index([make_chunk("a.txt", "a"), make_chunk("b.txt", "b")], {}, {}, embedder, swapped)
    assert all_scores(index.scorer.cosines(b"a"), index) == [0.0, 1.0]
    assert embedder.n_calls == 1


def test_a_cosine_sums_dimensions_in_order() -> None:
    # 0.1 + 0.2 + 0.3 is 0.6000000000000001 from the left and 0.6 from the right.
    class Ones(CountingEmbedder):
        def embed(self, texts: Sequence[bytes]) -> NDArray[np.float64]:
            return np.ones((len(texts), 3))

    index = Index([make_chunk("a.txt", "a")], {}, {}, Ones(), np.array([[0.1, 0.2, 0.3]]))
    assert all_scores(index.scorer.cosines(b"a"), index) == [0.1 + 0.2 + 0.3]
    assert all_scores(index.scorer.cosines(b"a"), index) != [0.3 + 0.2 + 0.1]


def test_chunks_of_one_id_keep_index_order() -> None:
    twins = [make_chunk("m.js", "() => 1"), make_chunk("m.js", "() => 1")]
    ranking = VectorBackend(index_chunks(twins)).rank(Query("1"), 2)
    assert [hit.chunk is twin for hit, twin in zip(ranking, twins, strict=True)] == [True, True]


def test_repeated_building_gives_the_same_bits() -> None:
    first, second = index_texts("alpha beta", "beta"), index_texts("alpha beta", "beta")
    assert first.embeddings.tobytes() == second.embeddings.tobytes()
    assert all_scores(first.scorer.cosines(b"beta alpha"), first) == all_scores(
        second.scorer.cosines(b"beta alpha"), second
    )


@pytest.mark.parametrize("seed", ["1", "2"])
@pytest.mark.process
def test_rankings_do_not_depend_on_the_seed_of_hashes(seed: str) -> None:
    script = (
        "from corpora import index_files\n"
        "from cce.domain.query import Query\n"
        "from cce.retrieval.backends.hybrid import HybridBackend\n"
        "files = {f'{n}.py': f'import m{n + 1}\\ndef f(): pass\\n' for n in range(4)}\n"
        "files |= {f'm{n}.py': 'def g(): pass\\n' for n in range(5)}\n"
        "print([h.indexed.chunk_id for h in HybridBackend(index_files(files)).search(Query('def f'), 2)])"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    files = {f"{n}.py": f"import m{n + 1}\ndef f(): pass\n" for n in range(4)}
    files |= {f"m{n}.py": "def g(): pass\n" for n in range(5)}
    ranking = HybridBackend(index_files(files)).search(Query("def f"), 2)
    assert result.stdout == f"{[hit.indexed.chunk_id for hit in ranking]}\n"


# --- what a query makes of an index ------------------------------------------------------------------


def test_what_two_backends_ask_of_a_query_is_computed_once() -> None:
    asked: list[int] = []

    def length(query: Query, index: Index, k: int) -> int:
        asked.append(k)
        return len(index.chunks) + len(query.text) + k

    index, query = index_chunks([]), Query("ab")
    assert [query.once(length, index, k) for k in (1, 1, 5, 1)] == [3, 3, 7, 3]
    assert asked == [1, 5]


def test_a_query_asked_again_is_computed_again() -> None:
    index, first, second = index_texts("alpha"), Query("alpha"), Query("alpha")
    assert first.once(bm25_scores, index) is first.once(bm25_scores, index)
    assert second.once(bm25_scores, index) is not first.once(bm25_scores, index)
    assert all_scores(second.once(bm25_scores, index), index) == all_scores(bm25_scores(first, index), index)


def test_ranking_leaves_the_shared_scores_as_they_are() -> None:
    index, query = index_texts("alpha beta", "beta"), Query("beta")

    def shared() -> list[list[float]]:
        return [all_scores(query.once(scores, index), index) for scores in (bm25_scores, query_cosines)]

    before = shared()
    for backend in (Bm25Backend, VectorBackend, HybridBackend):
        backend(index).rank(query, 1)
    assert shared() == before


# --- what a query allows ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", BACKENDS.names())
def test_a_backend_returns_only_what_the_query_allows(name: str) -> None:
    index = index_texts("alpha beta", "alpha", "alpha gamma", "beta")
    ranking = BACKENDS.load(name)(index).rank(Query("alpha", frozenset({1, 2})), 4)
    assert set(paths(ranking)) <= {"1.txt", "2.txt"}
    assert BACKENDS.load(name)(index).rank(Query("alpha", frozenset()), 4) == ()


@settings(deadline=None, max_examples=100)
@given(st.lists(st.sampled_from(["alpha", "beta", "alpha beta"]), max_size=8), st.data())
def test_filtering_before_the_cut_keeps_the_order_of_the_whole(texts: list[str], data: st.DataObject) -> None:
    index = index_texts(*texts)
    allowed = data.draw(st.frozensets(st.sampled_from(range(len(texts))))) if texts else frozenset[int]()
    for backend in (Bm25Backend(index), VectorBackend(index)):
        everything = backend.rank(Query("alpha beta"), len(texts))
        kept = [hit for hit in everything if int(hit.chunk.file_path.partition(".")[0]) in allowed]
        assert list(backend.rank(Query("alpha beta", allowed), 3)) == kept[:3]


def test_the_text_of_a_place_is_its_lines_with_their_ends() -> None:
    index = index_files({"m.txt": "one\ntwo\nthree"})
    assert index.text("m.txt", 2, 3) == b"two\nthree\n"
    assert index.text("m.txt", 3, 9) == b"three\n"
    assert index.text("m.txt", 4, 9) == index.text("absent.txt", 1, 9) == b""


def test_a_line_outside_all_chunks_has_no_text_and_one_in_two_chunks_has_it_once() -> None:
    index = index_files({"m.py": "import os\nclass K:\n    def f(): pass\n"})
    assert index.text("m.py", 1, 3) == b"class K:\n    def f(): pass\n"


def test_an_index_of_a_directory_knows_its_root_and_one_of_chunks_has_none(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    assert index_directory(str(tmp_path), lambda *_: None).index.root == str(tmp_path)
    assert index_chunks([make_chunk("a.txt", "a")]).root is None
