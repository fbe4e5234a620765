"""Chunks in each other, however deep, cost what their file has: the same figures, and no copy a level."""

from __future__ import annotations

import os
import runpy
import sys
import tracemalloc
from array import array
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cce.retrieval.chunking.treesitter import chunk_file
from cce.retrieval.counting.arrays import counting
from cce.retrieval.counting.arrays.counting import is_nest
from cce.retrieval.counting.arrays.nests import count_nest
from cce.retrieval.counting.counter import merge_token_counts, without_unused_words
from cce.retrieval.counting.token_counts import TokenCounts, cut_token_counts
from cce.retrieval.embedding.hashing import HashEmbedder
from cce.retrieval.indexing.cache import Cache
from cce.retrieval.indexing.directory import index_directory
from cce.retrieval.indexing.index import Index
from cce.retrieval.indexing.segmenting import build_segment
from cce.retrieval.scoring.arrays.hash_vectors import hash_vectors
from cce.retrieval.scoring.arrays.postings import Postings, invert
from cce.retrieval.store.contents import Contents
from cce.retrieval.store.reading import read_store
from cce.retrieval.store.writing import write_store
from corpora import all_scores, bags, plain_tokens, unwatched
from trees import plant

Spans = Sequence[tuple[int, int]]

N = 1_000

# N functions or classes in each other, each with a name of its own.
NESTED = {
    "a.js": "".join(f"x{n} => " for n in range(N)) + "1;\n",
    "a.ts": "".join(f"function x{n}() {{ " for n in range(N)) + "}" * N,
    "a.py": "".join(f"{' ' * n}class x{n}:\n" for n in range(90)) + " " * 90 + "pass\n",
    "a.rs": "".join(f"fn x{n}() {{ " for n in range(N)) + "}" * N,
    "a.c": "".join(f"struct x{n} {{ int y{n}; " for n in range(N)) + "int z; " + "}; " * N,
    "a.rb": "".join(f"class X{n}; " for n in range(N)) + "end;" * N,
}


def laminar(bounds: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those of `bounds` that do not cut an earlier one, outer ones first: as chunks stand in a tree."""
    kept: list[tuple[int, int]] = []
    for start, end in bounds:
        if all(
            end <= a or b <= start or (a <= start and end <= b) or (start <= a and b <= end) for a, b in kept
        ):
            kept.append((start, end))
    return sorted(kept, key=lambda span: (span[0], -span[1]))


NESTS = st.text("ab_ é", max_size=24).flatmap(
    lambda text: st.tuples(
        st.just(text.encode()),
        st.lists(
            st.tuples(*[st.integers(0, len(text.encode()))] * 2).map(lambda ends: (min(ends), max(ends))),
            max_size=12,
        ).map(laminar),
    )
)


def check(postings: Postings, texts: Sequence[bytes]) -> None:
    """Whether `postings` hold, of every token, what counting word by word gives, and so do their vectors."""
    bags = [plain_tokens(text) for text in texts]
    assert postings.lengths.tolist() == [len(bag) for bag in bags]
    for token in {token for bag in bags for token in bag} | {b"absent"}:
        chunks, counts = postings.of_token(token)
        expected = [(n, bag.count(token)) for n, bag in enumerate(bags) if token in bag]
        assert list(zip(chunks.tolist(), counts.tolist(), strict=True)) == expected
    assert np.array_equal(hash_vectors(postings).rows(), HashEmbedder().embed(texts))


def cut_out(text: bytes, spans: Spans) -> list[bytes]:
    return [text[start:end] for start, end in spans]


# --- counting ------------------------------------------------------------------------------------------


def test_a_text_in_a_nest_counts_what_no_inner_one_does() -> None:
    # a [b [c] b]: each word counts where it stands innermost.
    text = b"a b c b"
    counts = count_nest(text, [(0, 7), (2, 7), (4, 5)])
    assert counts is not None
    assert bags(counts) == [{b"a": 1}, {b"b": 2}, {b"c": 1}]
    assert list(counts.reaches) == [3, 3, 3]
    check(invert(counts), [b"a b c b", b"b c b", b"c"])


def test_a_word_that_an_inner_text_cuts_is_taken_from_the_outer_one() -> None:
    # The inner text sees `cd` where the outer one sees `abcd`: its 1 for `cd` is taken from the outer one.
    counts = count_nest(b"abcd", [(0, 4), (2, 4)])
    assert counts is not None
    assert bags(counts) == [{b"abcd": 1, b"cd": -1}, {b"cd": 1}]
    check(invert(counts), [b"abcd", b"cd"])


@settings(deadline=None, max_examples=400)
@example((b"abab", [(0, 4), (0, 4), (1, 3), (1, 2), (2, 2), (2, 3)]))
@example((b"a b", [(0, 3), (3, 3)]))
@example((b"", [(0, 0), (0, 0)]))
@example((b"ab", []))
@given(NESTS)
def test_a_nest_holds_what_counting_each_text_gives(nest: tuple[bytes, Spans]) -> None:
    text, spans = nest
    counts = count_nest(text, spans)
    assert counts is not None
    assert len(set(counts.vocabulary)) == len(counts.vocabulary)
    assert all(counts.counts)
    check(invert(counts), cut_out(text, spans))


@pytest.mark.parametrize("spans", [[(0, 3), (2, 5)], [(2, 3), (0, 1)], [(1, 4), (0, 5)]])
def test_texts_that_overlap_or_are_out_of_order_are_no_nest(spans: Spans) -> None:
    assert count_nest(b"a b c d", spans) is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "is_nest", lambda *_: True)
        check(invert(counting.count_span_tokens([(b"a b c d", spans)])), cut_out(b"a b c d", spans))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(NESTS, st.booleans()), max_size=4), st.data())
def test_nests_and_others_join_and_cut(
    parts: list[tuple[tuple[bytes, Spans], bool]], data: st.DataObject
) -> None:
    counted = [
        count_nest(*nest) if is_nested else counting.count_span_tokens([nest]) for nest, is_nested in parts
    ]
    joined = merge_token_counts([counts for counts in counted if counts is not None])
    texts = [cut_out(*nest) for nest, _ in parts]
    check(invert(joined), [text for of_part in texts for text in of_part])
    bounds = list(accumulate(map(len, texts), initial=0))
    first = data.draw(st.integers(0, len(parts)))
    last = data.draw(st.integers(first, len(parts)))
    cut = without_unused_words(cut_token_counts(joined, bounds[first], bounds[last]))
    check(invert(cut), [text for of_part in texts[first:last] for text in of_part])


def test_only_many_levels_make_a_nest() -> None:
    text = b"word " * 10_000  # 50,000 bytes
    whole = (0, len(text))
    assert not is_nest(text, [whole] * 7)
    assert is_nest(text, [whole] * 8)
    assert not is_nest(text[:10_000], [(0, 10_000)] * 29)  # less than 300,000 bytes in all: counted faster
    assert is_nest(text[:10_000], [(0, 10_000)] * 30)


# --- files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", NESTED)
def test_a_nested_file_scores_to_the_bit_as_if_every_chunk_were_counted(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, {path: NESTED[path], "other.py": "def x5(): return x7\n"})
    monkeypatch.setattr(counting, "MANY_BYTES", 0)
    monkeypatch.setattr(
        "cce.retrieval.indexing.workers.MANY_BYTES", 0
    )  # arrays count, however little there is
    deep = index_directory(str(tmp_path), unwatched).index
    assert nests_of(deep) is not None
    monkeypatch.setattr(counting, "is_nest", lambda *_: False)
    flat = index_directory(str(tmp_path), unwatched).index
    assert nests_of(flat) is None
    assert len(deep.chunks) > 90
    for query in (b"x5 x7 x89", b"class x1 x1 end", b"int pass"):
        tokens = query.split()
        assert all_scores(deep.scorer.bm25(tokens), deep) == all_scores(flat.scorer.bm25(tokens), flat)
        assert all_scores(deep.scorer.cosines(query), deep) == all_scores(flat.scorer.cosines(query), flat)
        for token in tokens:
            assert deep.scorer.term(token) == flat.scorer.term(token)


def nests_of(index: Index) -> object:
    return index.postings.nests


@pytest.mark.parametrize("path", [path for path in NESTED if path != "a.py"])
def test_a_nested_file_is_counted_once(path: str) -> None:
    file = chunk_file(path, NESTED[path].encode())
    assert len(file.spans) >= N
    n_words = len(plain_tokens(file.text))
    counts = build_segment([file], [b""]).token_counts
    assert 0 < len(counts.terms) <= n_words  # one text after another it would be half a million


def test_contents_of_nested_chunks_take_no_memory() -> None:
    file = chunk_file("a.js", NESTED["a.js"].encode())
    table = build_segment([file], [b""]).chunk_table()
    assert sum(len(chunk.content) for chunk in table) > 3_500_000
    tracemalloc.start()
    try:
        chunks = list(build_segment([file], [b""]).chunk_table())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_500_000
    assert chunks[N - 1].content == b"x999 => 1"


def test_a_snapshot_of_nested_chunks_is_a_few_times_the_file_and_gives_the_same(tmp_path: Path) -> None:
    corpus = plant(tmp_path / "corpus", {"a.js": NESTED["a.js"], "b.py": "def x3(): pass\n"})
    cache = Cache(str(tmp_path / "cache"))
    cold = index_directory(str(corpus), unwatched, cache=cache).index
    assert sum(entry.n_bytes for entry in cache.entries()) < 20 * len(NESTED["a.js"])
    warm = index_directory(str(corpus), unwatched, cache=cache).index
    (corpus / "b.py").write_text("def x3(): return 1\n")
    changed = index_directory(str(corpus), unwatched, cache=cache).index
    afresh = index_directory(str(corpus), unwatched).index
    for one, other in ((cold, warm), (changed, afresh)):
        assert all_scores(one.scorer.bm25([b"x3", b"1"]), one) == all_scores(
            other.scorer.bm25([b"x3", b"1"]), other
        )
        assert all_scores(one.scorer.cosines(b"x3 x4 1"), one) == all_scores(
            other.scorer.cosines(b"x3 x4 1"), other
        )
        assert list(one.chunks) == list(other.chunks)


# --- stores --------------------------------------------------------------------------------------------


def test_contents_of_a_store_that_lie_in_each_other_share_one_text() -> None:
    contents = Contents()
    outer = contents.place("a.py", 1, 9, b"class A: def f() def f() def g()")
    inner = [
        contents.place("a.py", 2, 3, b"def f()"),
        contents.place("a.py", 4, 5, b"def f()"),
        contents.place("a.py", 6, 7, b"def g()"),
    ]
    alone = [
        contents.place("a.py", 6, 10, b"def g()"),  # its lines reach further
        contents.place("b.py", 6, 7, b"def g()"),
        contents.place("b.py", 6, 6, b"def h()"),  # its bytes are not there
    ]
    assert [bytes(place) for place in inner + alone] == [b"def f()"] * 2 + [b"def g()"] * 3 + [b"def h()"]
    assert {place.text for place in inner} == {outer.text}
    assert [place.start for place in inner] == [9, 9, 25]
    assert [place.text for place in alone] == [1, 2, 3]


def test_what_begins_alike_is_told_apart() -> None:
    contents = Contents()
    head = b"x" * 70
    contents.place("a.py", 1, 9, head + b"1 " + head + b"2")
    place = contents.place("a.py", 1, 9, head + b"2")
    assert (place.text, place.start, bytes(place)) == (0, 72, head + b"2")


@pytest.mark.parametrize("path", ["a.js", "a.rs"])
def test_a_store_of_nested_chunks_gives_the_same_and_reads_one_text(tmp_path: Path, path: str) -> None:
    corpus = plant(tmp_path / "corpus", {path: NESTED[path], "b.py": "def x3(): pass\n"})
    index = index_directory(str(corpus), unwatched).index
    write_store(str(tmp_path / "st.json"), index, {})
    stored = read_store(str(tmp_path / "st.json")).index
    assert list(stored.chunks) == list(index.chunks)
    assert nests_of(stored) is not None
    assert len(stored.postings.chunks) == len(index.postings.chunks) < 2 * len(index.chunks) + 4
    assert all_scores(stored.scorer.bm25([b"x3", b"1"]), stored) == all_scores(
        index.scorer.bm25([b"x3", b"1"]), index
    )
    assert all_scores(stored.scorer.cosines(b"x3 x4 1"), stored) == all_scores(
        index.scorer.cosines(b"x3 x4 1"), index
    )


def test_counts_without_nests_reach_nowhere() -> None:
    flat = TokenCounts((b"a",), array("q", [0, 1]), array("i", [0]), array("i", [1]))
    assert len(merge_token_counts([flat, flat]).reaches) == 0
    assert invert(flat).nests is None


# --- the whole command ---------------------------------------------------------------------------------


def run_watched(root: Path, folder: Path) -> tuple[object, ...]:
    script = runpy.run_path(str(root / "eval" / "hardening" / "small_files.py"))
    return tuple(script["run"]([sys.executable, "-m", "cce"], folder))


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="what a process took is not told there")
@pytest.mark.parametrize(
    ("name", "content", "code"),
    [("nested.js", None, 0), ("nested.c", None, 0), (".gitignore", b"#" * (2 << 20), 2)],
    ids=["arrows", "structs", "rules"],
)
@pytest.mark.process
def test_a_sample_of_the_small_files_that_stopped_the_tool(
    root: Path, tmp_path: Path, name: str, content: bytes | None, code: int
) -> None:
    script = runpy.run_path(str(root / "eval" / "hardening" / "small_files.py"))
    (tmp_path / "set.jsonl").write_text('{"query": "x5", "expected": ["b.py"]}\n')
    folder = plant(tmp_path / "corpus", {"b.py": "def x5(): pass\n"})
    (folder / name).write_bytes(content or script["nested"](Path(name).suffix, 60_000))
    # Linux counts what a process forked from as its own peak: between these tests and the command stands
    # a small process.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        outcome = script["Outcome"](*pool.submit(run_watched, root, folder).result())
    assert script["fault"](outcome, name) is None
    assert outcome.code == code
