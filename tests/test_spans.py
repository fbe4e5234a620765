from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.anchor import parse_anchor
from cce.domain.case import Case
from cce.domain.ranking import Chunk, Hit, Ranking
from cce.measurement.matching.matches import TokenScore
from cce.measurement.matching.spans import LineWeights, Span, intersect, token_score, unite
from cce.retrieval.chunking.treesitter import chunk_file
from cce.retrieval.embedding.hashing import HashEmbedder
from corpora import build_index, line_weights


def case(*expected: str, k: int = 10) -> Case:
    return Case("q1", "a query", tuple(parse_anchor(text) for text in expected), k, line=1)


def chunk(first: int, last: int, content: bytes = b"", path: str = "a.py") -> Chunk:
    return Chunk(f"{path}:{first}:{last}", path, first, last, "function", "function", "python", content, 1)


def ranking(*chunks: Chunk) -> Ranking:
    return tuple(Hit(each, 1.0) for each in chunks)


def weights_of(*chunks: Chunk) -> list[int]:
    """The weights of lines 1 to 5 of a.py."""
    weights = line_weights(chunks)
    return [weights.weight("a.py", (line, line)) for line in range(1, 6)]


@pytest.mark.parametrize(
    ("content", "weights"),
    [
        (b"12345678\n1234\n123", [2, 1, 1, 1, 1]),
        (b"1234567\r\n1234567\n", [1, 1, 1, 1, 1]),  # the \r of a line end weighs nothing
        (b"1234567\r1234567", [3, 1, 1, 1, 1]),  # a lone \r is text
        (b"1234567\r\r\n12345678", [2, 2, 1, 1, 1]),
        (b"12345678\r", [2, 1, 1, 1, 1]),
        (b"1234567\r", [2, 1, 1, 1, 1]),
        ("1234\u20281234".encode(), [2, 1, 1, 1, 1]),  # 11 bytes on one line
        (b"1234\x0b1234\x0c1234\x851234", [4, 1, 1, 1, 1]),
        ("ééé é".encode(), [2, 1, 1, 1, 1]),  # 9 bytes, 5 characters
        (b"\n\n12345678", [1, 1, 2, 1, 1]),
        (b"", [1, 1, 1, 1, 1]),
    ],
)
def test_a_line_weighs_a_quarter_of_its_bytes_but_at_least_one(content: bytes, weights: list[int]) -> None:
    assert weights_of(chunk(1, 5, content)) == weights


def test_the_first_chunk_in_index_order_decides_a_line() -> None:
    of_class = chunk(1, 3, b"class A:\n    def f():\n        pass")
    of_method = chunk(2, 3, b"def f():\n        pass")
    assert weights_of(of_class, of_method) == [2, 3, 3, 1, 1]
    assert weights_of(of_method, of_class) == [2, 2, 3, 1, 1]


def test_a_later_chunk_weighs_the_lines_that_an_earlier_one_left() -> None:
    assert weights_of(chunk(1, 2, b"12345678\n12345678"), chunk(2, 4, b"x\n12345678\n12345678")) == [
        2,
        2,
        2,
        2,
        1,
    ]


def test_a_chunk_without_text_for_a_line_does_not_decide_it() -> None:
    assert weights_of(chunk(1, 4, b"12345678\n"), chunk(2, 3, b"12345678\n12345678")) == [2, 2, 2, 1, 1]


def test_text_beyond_the_last_line_of_a_chunk_is_ignored() -> None:
    assert weights_of(chunk(1, 1, b"12345678\n12345678")) == [2, 1, 1, 1, 1]


def test_a_chunk_that_lies_inside_an_earlier_one_is_not_even_split() -> None:
    class Unsplittable(bytes):
        def replace(self, *args: object, **kwargs: object) -> bytes:
            raise AssertionError("a nested chunk was read")

    outer = chunk(1, 1200, b"12345678\n" * 1200)
    nested = [chunk(first, 1200, Unsplittable()) for first in range(2, 1200)]
    assert line_weights([outer, *nested]).weight("a.py", (1, 1200)) == 2400


def test_lines_of_an_unknown_file_weigh_one_each() -> None:
    assert line_weights([]).weight("nowhere.py", (3, 7)) == 5


def test_a_huge_span_is_weighed_without_walking_it() -> None:
    weights = line_weights([chunk(1, 2, b"12345678\n12345678"), chunk(10**15, 10**15, b"12345678")])
    assert weights.weight("a.py", (1, 999_999_999_999)) == 999_999_999_999 + 2
    assert weights.weight("a.py", (1, 10**18)) == 10**18 + 3


def test_chunks_may_come_from_an_iterator() -> None:
    weights = line_weights(iter([chunk(1, 1, b"12345678")]))
    assert [weights.weight("a.py", (1, 1)) for _ in range(2)] == [2, 2]


def test_a_case_without_a_range_has_no_token_score() -> None:
    assert token_score(case("a.py", "#function"), ranking(chunk(1, 2)), line_weights([])) is None


def test_expected_lines_overlap_retrieved_lines() -> None:
    # 4 lines of weight 2: lines 1-2 expected, lines 2-4 retrieved, line 2 common.
    indexed = chunk(1, 4, b"12345678\n" * 4)
    score = token_score(case("a.py@1-2"), ranking(chunk(2, 4)), line_weights([indexed]))
    assert score == TokenScore(precision=2 / 6, recall=2 / 4, iou=2 / 8)


def test_lines_named_twice_count_once() -> None:
    labelled = case("a.py@1-2", "a.py@2-3", "a.py#class@1-3")
    score = token_score(labelled, ranking(chunk(1, 3), chunk(1, 6), chunk(4, 6)), line_weights([]))
    assert score == TokenScore(precision=3 / 6, recall=1.0, iou=3 / 6)


def test_unranged_anchors_of_a_mixed_case_name_no_lines() -> None:
    score = token_score(case("a.py@1-2", "b.py"), ranking(chunk(1, 2)), line_weights([]))
    assert score == TokenScore(1.0, 1.0, 1.0)


def test_lines_retrieved_from_other_files_lower_the_precision() -> None:
    hits = ranking(chunk(1, 2), chunk(1, 6, path="b.py"))
    score = token_score(case("a.py@1-2"), hits, line_weights([]))
    assert score == TokenScore(precision=2 / 8, recall=1.0, iou=2 / 8)


def test_hits_behind_k_retrieve_nothing() -> None:
    hits = ranking(chunk(5, 6), chunk(1, 2))
    assert token_score(case("a.py@1-2", k=1), hits, line_weights([])) == TokenScore(0.0, 0.0, 0.0)


def test_an_empty_ranking_covers_nothing() -> None:
    assert token_score(case("a.py@1-2"), (), line_weights([])) == TokenScore(0.0, 0.0, 0.0)


def test_a_range_of_a_trillion_lines_is_scored_like_any_other() -> None:
    score = token_score(case("a.py@1-999999999999"), ranking(chunk(1, 2)), line_weights([]))
    assert score == TokenScore(1.0, 2 / 999_999_999_999, 2 / 999_999_999_999)


def test_spans_that_touch_become_one() -> None:
    assert unite([(7, 9), (1, 2), (3, 4), (8, 8)]) == [(1, 4), (7, 9)]


SPANS = st.lists(
    st.tuples(st.integers(1, 30), st.integers(0, 8)).map(lambda pair: (pair[0], sum(pair))), max_size=8
)
TEXTS = st.lists(st.binary(max_size=30), max_size=6).map(b"\n".join)
CHUNKS = st.lists(
    st.builds(
        lambda first, extra, text: chunk(first, first + extra, text),
        st.integers(1, 9),
        st.integers(0, 9),
        TEXTS,
    ),
    max_size=8,
)


def lines_of(spans: list[Span]) -> set[int]:
    return {line for first, last in spans for line in range(first, last + 1)}


def naive_weight(chunks: list[Chunk], line: int) -> int:
    for each in chunks:
        pieces = each.content.split(b"\n")
        texts = [piece.removesuffix(b"\r") for piece in pieces[:-1]] + [last for last in pieces[-1:] if last]
        if each.start_line <= line <= each.end_line and line - each.start_line < len(texts):
            return max(1, len(texts[line - each.start_line]) // 4)
    return 1


@given(SPANS)
@settings(deadline=None, max_examples=150)
def test_a_union_holds_the_same_lines_in_fewest_spans(spans: list[Span]) -> None:
    united = unite(spans)
    assert lines_of(united) == lines_of(spans)
    assert all(before[1] + 1 < after[0] for before, after in pairwise(united))


@given(SPANS, SPANS)
@settings(deadline=None, max_examples=150)
def test_an_intersection_holds_exactly_the_common_lines(a: list[Span], b: list[Span]) -> None:
    common = intersect(unite(a), unite(b))
    assert lines_of(common) == lines_of(a) & lines_of(b)
    assert common == sorted(common)


@given(CHUNKS, st.integers(1, 20), st.integers(0, 10))
@settings(deadline=None, max_examples=200)
def test_a_span_weighs_what_its_lines_weigh_one_by_one(chunks: list[Chunk], first: int, extra: int) -> None:
    expected = sum(naive_weight(chunks, line) for line in range(first, first + extra + 1))
    assert line_weights(chunks).weight("a.py", (first, first + extra)) == expected


@given(SPANS.filter(bool), SPANS, CHUNKS)
@settings(deadline=None, max_examples=100)
def test_a_token_score_is_what_sets_of_lines_give(
    wanted: list[Span], got: list[Span], chunks: list[Chunk]
) -> None:
    def weight(lines: set[int]) -> int:
        return sum(naive_weight(chunks, line) for line in lines)

    labelled = case(*(f"a.py@{first}-{last}" for first, last in wanted))
    score = token_score(labelled, ranking(*(chunk(*span) for span in got)), line_weights(chunks))
    expected, retrieved = lines_of(wanted), lines_of(got)
    overlap = weight(expected & retrieved)
    assert score == TokenScore(
        precision=overlap / weight(retrieved) if retrieved else 0.0,
        recall=overlap / weight(expected),
        iou=overlap / weight(expected | retrieved),
    )


def test_chunks_within_others_decide_the_weight_of_no_line(root: Path) -> None:
    samples = sorted(path for path in (root / "test_fixtures" / "samples").rglob("*") if path.is_file())
    files = [chunk_file(path.as_posix(), path.read_bytes()) for path in samples]
    index = build_index(files, HashEmbedder())
    n_left_out = 0
    for path, positions in index.positions_by_file.items():
        everything = [index.chunks[position] for position in positions]
        outer = index.outer_chunks_of(path)
        n_left_out += len(everything) - len(outer)
        of_all, of_outer = LineWeights({path: everything}.__getitem__), LineWeights({path: outer}.__getitem__)
        for line in range(1, 2 + max(chunk.end_line for chunk in everything)):
            assert of_outer.weight(path, (line, line)) == of_all.weight(path, (line, line)), (path, line)
    assert n_left_out > 0
