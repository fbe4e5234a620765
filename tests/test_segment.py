"""Segments: what they hold, and that cutting and joining them loses nothing."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cce.domain.ranking import Chunk
from cce.retrieval.chunking.treesitter import chunk_file
from cce.retrieval.counting import counter
from cce.retrieval.counting.arrays import counting
from cce.retrieval.counting.counter import count_span_tokens, merge_token_counts, without_unused_words
from cce.retrieval.counting.token_counts import TokenCounter, TokenCounts, cut_token_counts
from cce.retrieval.indexing.chunk_table import ChunkTable
from cce.retrieval.indexing.segment import Segment, cut_segment, join_segments
from cce.retrieval.indexing.segmenting import build_segment
from corpora import plain_tokens

# Two ways to count, in lists and in arrays, that must not differ.
COUNTERS = pytest.mark.parametrize("count_tokens", [count_span_tokens, counting.count_span_tokens])
# Above a number of postings arrays are renamed by numpy: never, and always.
MANY = st.sampled_from([1 << 40, 0])

FILES = {
    "a.py": b"import os\nclass A:\n    def f(self): pass\n",
    "b.txt": "caf\xe9 words".encode(),
    "c.rb": b"require 'set'\ndef g\nend\n",
    "d.py": b"",
}
# Runs of eight and nine letters stand on either side of where tokens stop being packed into a number.
TEXTS = st.lists(st.text("aB_9 -\xe9\n", max_size=30).map(str.encode), max_size=6)


def segment_of(paths: Sequence[str]) -> Segment:
    files = [chunk_file(path, FILES[path]) for path in paths]
    return build_segment(files, [hashlib.sha256(file.text).digest() for file in files])


def plain_chunks(path: str) -> list[Chunk]:
    """The chunks of one file, each cut out of its text by hand."""
    file = chunk_file(path, FILES[path])
    return [
        Chunk(
            hashlib.sha256(f"{path}:{first}:{last}:".encode() + file.text[start:end][:100]).hexdigest()[:16],
            path,
            first,
            last,
            chunk_type,
            kind,
            file.language,
            file.text[start:end],
            max(1, (end - start) // 4),
        )
        for start, end, first, last, chunk_type, kind in file.spans
    ]


def bags(counts: TokenCounts) -> list[dict[bytes, int]]:
    """Token -> count, a dictionary a text."""
    return [
        {counts.vocabulary[counts.terms[j]]: int(counts.counts[j]) for j in range(start, end)}
        for start, end in pairwise(counts.starts)
    ]


def plain_bags(texts: Sequence[bytes]) -> list[dict[bytes, int]]:
    return [{token: plain_tokens(text).count(token) for token in plain_tokens(text)} for text in texts]


def content(segment: Segment) -> list[object]:
    return [
        list(segment.paths),
        list(segment.texts),
        list(segment.digests),
        list(segment.imports),
        segment.starts.tolist(),
        segment.spans.tolist(),
        segment.kinds.tolist(),
        segment.chunk_ids,
        bags(segment.token_counts),
    ]


def test_a_segment_makes_the_chunks_of_its_files() -> None:
    chunks = [chunk for path in sorted(FILES) for chunk in plain_chunks(path)]
    assert list(segment_of(sorted(FILES)).chunk_table()) == chunks
    assert [chunk.kind for chunk in chunks] == [
        "class_definition",
        "function_definition",
        "module",
        "method",
        "module",
    ]


def test_the_table_knows_files_and_kinds_without_making_chunks() -> None:
    table = segment_of(sorted(FILES)).chunk_table()
    assert table.positions_by_file == {"a.py": [0, 1], "b.txt": [2], "c.rb": [3], "d.py": [4]}
    assert table.kinds_by_file["a.py"] == {"class_definition", "function_definition"}
    assert [c.kind for c in table[1:3]] == ["function_definition", "module"]
    assert table[-1] is table[4]


def test_outer_positions_leave_out_what_lies_within_an_earlier_chunk() -> None:
    table = segment_of(sorted(FILES)).chunk_table()  # a.py: a class and the method in it
    assert [list(table.outer_positions_of(path)) for path in ("a.py", "b.txt", "gone")] == [[0], [2], []]
    unknown = ChunkTable.of(list(table))
    assert list(unknown.outer_positions_of("a.py")) == [0, 1]


def test_a_segment_of_nothing_has_no_chunks() -> None:
    assert len(segment_of([]).chunk_table()) == 0
    assert segment_of([]).chunk_table().positions_by_file == {}


@given(st.lists(st.integers(0, 4), max_size=4).map(sorted))
def test_cutting_and_joining_loses_nothing(cuts: list[int]) -> None:
    whole = segment_of(sorted(FILES))
    bounds = [0, *cuts, 4]
    parts = [cut_segment(whole, start, end) for start, end in pairwise(bounds)]
    assert content(join_segments(parts)) == content(whole)


def test_joined_segments_are_the_segment_of_all_files() -> None:
    joined = join_segments([segment_of(["a.py"]), segment_of([]), segment_of(["b.txt", "c.rb", "d.py"])])
    assert content(joined) == content(segment_of(sorted(FILES)))


@COUNTERS
@settings(deadline=None, max_examples=200)
@example([b"abcdefgh abcdefghi ABCDEFGH abcdefghij abcdefghi"])
@example([b"A234567890123456 a2345678901234567 a234567890123456_ A2345678901234567 a23456789 a23456780"])
@given(TEXTS)
def test_tokens_are_counted_as_word_by_word(count_tokens: TokenCounter, texts: list[bytes]) -> None:
    counts = count_tokens([(text, [(0, len(text))]) for text in texts])
    assert bags(counts) == plain_bags(texts)
    assert len(set(counts.vocabulary)) == len(counts.vocabulary)
    assert [counts.starts.itemsize, counts.terms.itemsize, counts.counts.itemsize] == [8, 4, 4]


SPANNED = st.lists(
    st.text("ab_ é", max_size=30).flatmap(
        lambda text: st.tuples(
            st.just(text.encode()),
            st.lists(st.lists(st.integers(0, len(text.encode())), min_size=2, max_size=2).map(sorted)),
        )
    ),
    max_size=4,
)


@COUNTERS
@settings(deadline=None, max_examples=200)
@example([(b"def outer(): pass", [[0, 17], [4, 9], [6, 8], [9, 9], [5, 5]])], 1)
@given(SPANNED, st.sampled_from([1, 3, 1 << 20]))
@pytest.mark.process
def test_spans_are_counted_as_texts_of_their_own(
    count_tokens: TokenCounter, texts: list[tuple[bytes, Any]], n_block: int
) -> None:
    # Also where a span begins or ends inside a word, or holds nothing, and whatever a block takes.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_BLOCK_BYTES", n_block)
        counts = count_tokens(texts)
    spans = [text[start:end] for text, of_text in texts for start, end in of_text]
    assert bags(counts) == plain_bags(spans)
    assert {token for bag in bags(counts) for token in bag} == set(counts.vocabulary)


def count_whole(texts: Sequence[bytes]) -> TokenCounts:
    return count_span_tokens([(text, [(0, len(text))]) for text in texts])


@settings(deadline=None, max_examples=100)
@given(TEXTS, TEXTS, MANY, st.data())
def test_token_counts_join_and_cut(
    first: list[bytes], second: list[bytes], many: int, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(first) + len(second)))
    end = data.draw(st.integers(start, len(first) + len(second)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counter, "MANY_POSTINGS", many)
        joined = merge_token_counts([count_whole(first), count_whole(second)])
        cut = without_unused_words(cut_token_counts(joined, start, end))
    assert bags(joined) == plain_bags([*first, *second])
    assert bags(cut) == plain_bags([*first, *second][start:end])
    assert set(cut.vocabulary) == {token for bag in bags(cut) for token in bag}


@settings(deadline=None, max_examples=100)
@given(TEXTS, TEXTS, TEXTS, MANY)
def test_counts_over_one_vocabulary_merge_as_others_do(
    first: list[bytes], other: list[bytes], second: list[bytes], many: int
) -> None:
    count_shared = counting.SharedCounter()
    sent = [count_shared([(text, [(0, len(text))]) for text in texts]) for texts in (first, second)]
    a, b = pickle.loads(pickle.dumps(sent))  # as a worker process hands them over
    assert a.vocabulary is b.vocabulary
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counter, "MANY_POSTINGS", many)
        joined = merge_token_counts([a, count_whole(other), b])
    assert bags(joined) == plain_bags([*first, *other, *second])
    assert set(joined.vocabulary) == {token for bag in bags(joined) for token in bag}


@COUNTERS
def test_texts_longer_than_a_block_are_counted_whole(count_tokens: TokenCounter) -> None:
    texts = [b"word " * 300_000, b"other", b"word" * 300_000]
    counts = count_tokens([(text, [(0, len(text))]) for text in texts])
    assert list(counts.starts) == [0, 1, 2, 3]
    assert list(counts.counts) == [300_000, 1, 1]


def test_nested_spans_are_tokenised_once_however_often_they_hold_a_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = b"f " * 400
    nested = [(start, 800) for start in range(0, 800, 2)]  # 400 spans: 160,400 bytes of 800
    monkeypatch.setattr(counter, "tokenize", lambda span: pytest.fail("a span was tokenised"))
    monkeypatch.setattr(counter, "MANY_BYTES", 160_400)
    counts = count_span_tokens([(text, nested)])
    assert list(counts.counts) == list(range(400, 0, -1))
