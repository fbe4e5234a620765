from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.outside import Answer, OutsideResult, Question
from cce.domain.ranking import Chunk, Location, Ranking
from cce.domain.systems import Program, SystemTable
from cce.errors import OutsideSystemError
from cce.labels.draft import PooledChunk, render_drafts
from cce.report.json.listings import render_search_json
from cce.report.text.listings import render_search_text
from cce.retrieval.external.door import Door, DoorRules
from cce.retrieval.external.locating import with_corpus_text
from cce.retrieval.external.paths import PathReader, PathReading
from cce.retrieval.external.tally import comparable
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.catalogue import ResolvedSystem
from cce.usecases.draft import pool_candidates
from cce.usecases.opened_systems import OpenOutside
from cce.usecases.ranking import OutsideRanker
from corpora import index_chunks, index_files, make_chunk

CODE = """\
import os


class Pin:
    @property
    def value(self):
        return 1

    def check(self, other):
        return self.value == other


def main():
    print(Pin().value)


if __name__ == "__main__":
    main()
"""
# Chunks of a.py: class 4-10, value 6-7, check 9-10, main 13-14; 18 lines and the empty one behind.
INDEX = index_files({"a.py": CODE, "docs/b.txt": "one\ntwo\n", "empty.py": ""})


def entered(
    *results: OutsideResult, k: int = 10, index: Index | None = INDEX, rules: DoorRules | None = None
) -> tuple[Ranking, Door]:
    door = Door(index, "mine", rules or DoorRules(), ("a.py", "b.py"))
    return door.ranking(Question("fees-3", "a query", k), results), door


def spelled(ranking: Ranking) -> list[str]:
    """`class 4-10` for a chunk, `a.py 4-9` for another place, `?x` for one outside."""
    return [
        f"{hit.chunk.kind} {hit.chunk.start_line}-{hit.chunk.end_line}"
        if isinstance(hit.chunk, Chunk)
        else f"{'?' if hit.chunk.is_outside else ''}{hit.chunk.file_path} "
        f"{hit.chunk.start_line}-{hit.chunk.end_line}"
        for hit in ranking
    ]


def lines(*spans: tuple[int, int], path: str = "a.py") -> list[OutsideResult]:
    return [OutsideResult(path, first, last) for first, last in spans]


def test_a_place_of_a_chunk_is_that_chunk_and_keeps_its_score() -> None:
    ranking, _ = entered(OutsideResult("a.py", 9, 10, score=2), OutsideResult("a.py", 8, 10))
    assert spelled(ranking) == ["function_definition 9-10", "a.py 8-10"]
    assert [hit.score for hit in ranking] == [2.0, None]
    assert ranking[0].chunk is next(chunk for chunk in INDEX.chunks if chunk.start_line == 9)


def test_a_kind_must_be_that_of_the_chunk_at_this_place() -> None:
    ranking, _ = entered(
        OutsideResult("a.py", 4, 10, "class_definition"), OutsideResult("a.py", 9, 10, "class_definition")
    )
    assert spelled(ranking) == ["class_definition 4-10", "a.py 9-10"]


def test_lines_past_the_end_are_cut_and_no_lines_are_the_whole_file() -> None:
    ranking, door = entered(
        OutsideResult("a.py", 16, 999), OutsideResult("a.py"), OutsideResult("docs/b.txt")
    )
    assert spelled(ranking) == ["a.py 16-19", "a.py 1-19", "module 1-3"]
    assert door.tally.notices() == []


def test_the_empty_line_behind_the_last_line_end_may_be_counted_or_not() -> None:
    # docs/b.txt has two lines, and its chunk three.
    ranking, door = entered(*lines((1, 2), (1, 3), path="docs/b.txt"), *lines((1, 18)))
    assert spelled(ranking) == ["module 1-3", "a.py 1-18"]
    assert (door.tally.n_named_again, door.tally.n_whole_files) == (1, 2)


def test_a_place_behind_the_end_of_its_file_is_outside() -> None:
    ranking, door = entered(OutsideResult("a.py", 20, 30), OutsideResult("a.py", 19, 19))
    assert spelled(ranking) == ["?a.py 20-30", "a.py 19-19"]
    assert door.tally.n_outside == 1


def test_a_file_without_a_known_length_keeps_the_lines_behind_its_last_chunk() -> None:
    # As from a store: only chunks are known, the last one ends at line 2.
    index = index_chunks([make_chunk("a.py", "x\ny")])
    ranking, _ = entered(*lines((3, 4)), OutsideResult("a.py"), index=index)
    assert spelled(ranking) == ["a.py 3-4", "function_definition 1-2"]


@pytest.mark.parametrize(
    ("start", "end", "fault"),
    [
        (0, 3, "rank 2: 'a.py' starts at line 0: lines count from 1"),
        (-2, 3, "starts at line -2: lines count from 1"),
        (5, 3, "ends at line 3, before its start at 5"),
        (5, None, "only one end of its lines: give start and end, or neither"),
        (None, 5, "only one end of its lines: give start and end, or neither"),
        (10**400, 3, "ends at line 3, before its start at a huge integer"),
    ],
)
def test_lines_that_cannot_be_are_an_error_with_system_and_case(
    start: int | None, end: int | None, fault: str
) -> None:
    with pytest.raises(OutsideSystemError, match=r"^system 'mine': case fees-3: rank 2: ") as caught:
        entered(OutsideResult("a.py"), OutsideResult("a.py", start, end))
    assert fault in str(caught.value)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, 10**400])
def test_a_score_that_is_not_finite_is_an_error(score: float) -> None:
    with pytest.raises(OutsideSystemError, match=r"case fees-3: rank 1: the score is .*: scores are finite"):
        entered(OutsideResult("a.py", score=score))


def test_a_place_comes_as_often_as_there_are_chunks_and_the_rest_are_repeats() -> None:
    # Two structs on one line: equal places, equal ids.
    twins = [make_chunk("a.rs", "struct A; struct B;"), make_chunk("a.rs", "struct A; struct B;")]
    index = index_chunks(twins)
    ranking, door = entered(*lines((1, 1), (1, 1), (1, 1), path="a.rs"), index=index)
    assert [hit.chunk is index.chunks[n] for n, hit in enumerate(ranking)] == [True, True]
    assert door.tally.notices() == ["mine: left out 1 repeat of a place"]


def test_a_repeated_place_keeps_its_first_rank_and_surplus_is_cut() -> None:
    places = lines((6, 7), (1, 2), (6, 7), (1, 2), (9, 10), (13, 14), (4, 10))
    ranking, door = entered(*places, k=3)
    assert spelled(ranking) == ["function_definition 6-7", "a.py 1-2", "function_definition 9-10"]
    assert door.tally.notices() == [
        "mine: cut 2 results beyond the k asked for; left out 2 repeats of a place"
    ]


def test_a_run_may_hold_more_than_anyone_asks_for() -> None:
    ranking, door = entered(*lines((6, 7), (9, 10)), k=1, rules=DoorRules(is_run=True))
    assert spelled(ranking) == ["function_definition 6-7"]
    assert door.tally.notices() == []


def test_a_system_may_return_fewer_at_most() -> None:
    ranking, _ = entered(*lines((6, 7), (9, 10)), rules=DoorRules(final=1))
    assert spelled(ranking) == ["function_definition 6-7"]


def test_what_is_outside_fills_its_rank_and_three_examples_are_named() -> None:
    outside = [OutsideResult(f"x{n}.py", score=1.0) for n in range(5)]
    ranking, door = entered(*outside, *lines((9, 10)))
    assert [hit.chunk.file_path for hit in ranking] == ["x0.py", "x1.py", "x2.py", "x3.py", "x4.py", "a.py"]
    assert door.tally.notices() == [
        "mine: 5 results lie outside of the corpus and match nothing: 'x0.py', 'x1.py', 'x2.py', …"
    ]
    door.tally.check()


def test_a_system_of_which_nothing_fits_is_an_error() -> None:
    _, door = entered(OutsideResult("/srv/a/b.py"), OutsideResult("c\x1b[2J.py"))
    with pytest.raises(
        OutsideSystemError, match=r"^system 'mine': none of its 2 results is in a file"
    ) as caught:
        door.tally.check()
    assert "'/srv/a/b.py', 'c\\x1b[2J.py'" in str(caught.value)


def test_a_system_that_answers_nothing_is_no_error() -> None:
    ranking, door = entered()
    door.tally.check()
    assert (ranking, door.tally.notices()) == ((), [])


def test_results_beyond_the_scope_are_cut_and_counted() -> None:
    door = Door(INDEX, "mine")
    allowed = frozenset(INDEX.positions_by_file["docs/b.txt"])
    results = [*lines((9, 10), (1, 2)), OutsideResult("docs/b.txt", 1, 1), OutsideResult("nowhere.py")]
    ranking = door.ranking(Question("q", "a query", 10), results, allowed)
    assert spelled(ranking) == ["docs/b.txt 1-1", "?nowhere.py None-None"]
    assert "mine: cut 2 results outside of the scope" in door.tally.notices()
    assert door.ranking(Question("q", "a query", 10), results[:3], frozenset()) == ()


def test_single_lines_of_one_function_repeat_it() -> None:
    # main holds 13 and 14, check 9 and 10; 8 is held by the class alone, 1 and 2 by nothing.
    places = lines((13, 13), (14, 14), (9, 9), (13, 14), (8, 8), (8, 9), (1, 1), (2, 2))
    ranking, door = entered(*places)
    assert len(ranking) == 8
    assert door.tally.n_repeats == 2
    assert door.tally.notices() == [
        "mine: 25 % of its results repeat a function; precision and f1 are not comparable, "
        "use collapse = true"
    ]


def test_collapse_drops_what_repeats_a_function_before_the_cut() -> None:
    places = lines((13, 13), (14, 14), (13, 14), (9, 9), (8, 8), (8, 9))
    ranking, door = entered(*places, k=3, rules=DoorRules(collapse=True))
    assert spelled(ranking) == ["a.py 13-13", "a.py 9-9", "a.py 8-8"]
    assert not any("repeat a function" in text for text in door.tally.notices())


def test_parts_of_a_module_repeat_it_and_those_of_a_class_do_not() -> None:
    _, door = entered(*lines((1, 1), (2, 2), path="docs/b.txt"), *lines((4, 4), (5, 5)))
    assert door.tally.n_repeats == 1


def test_one_repeat_in_ten_results_is_not_told() -> None:
    index = index_files({f"{n}.txt": "a\nb\n" for n in range(9)})
    of_nine = [OutsideResult(f"{n}.txt", 1, 1) for n in range(9)]
    _, door = entered(*of_nine, OutsideResult("0.txt", 2, 2), index=index)
    assert (door.tally.n_repeats, door.tally.n_results) == (1, 10)
    assert door.tally.notices() == []


def test_a_question_asked_again_with_another_k_is_not_counted() -> None:
    door = Door(INDEX, "mine")
    results = [OutsideResult("x.py"), *lines((9, 10), (9, 10), (6, 7))]
    first = door.ranking(Question("q", "a query", 2), results)
    notices = door.tally.notices()
    deep = door.ranking(Question("q", "a query", 10), results, is_counted=False)
    assert (len(first), len(deep)) == (2, 3)
    assert door.tally.notices() == notices


def test_fewer_than_k_everywhere_asks_whether_k_was_passed_on() -> None:
    question = Question("q", "a query", 2)
    asks = "mine: fewer than k results for every query: was k passed on?"
    door = Door(INDEX, "mine")
    door.ranking(question, lines((9, 10)))
    door.ranking(question, [])
    assert door.tally.notices() == [asks]
    door.ranking(question, lines((9, 10), (6, 7)))
    assert door.tally.notices() == []


def test_a_location_is_like_the_chunk_with_the_largest_share_of_common_lines() -> None:
    # 5-7, value with its decorator: 2 of 3 lines of either are value's, 3 of 7 the class's.
    ranking, _ = entered(*lines((5, 7), (4, 9), (1, 2)))
    assert [hit.chunk.likeness for hit in ranking if isinstance(hit.chunk, Location)] == [
        "function_definition",
        "class_definition",
        None,
    ]


def test_of_two_chunks_as_like_the_smaller_decides() -> None:
    # Lines 3-4 of 1-4 (2/4) and of 4-4 (1/2).
    outer = make_chunk("a.py", "1\n2\n3\n4")._replace(kind="outer")
    inner = make_chunk("a.py", "4", 4)._replace(kind="inner")
    ranking, _ = entered(*lines((3, 4)), index=index_chunks([outer, inner]))
    assert isinstance(ranking[0].chunk, Location)
    assert ranking[0].chunk.likeness == "inner"


def test_a_location_keeps_its_text_only_where_the_corpus_has_none() -> None:
    ranking, _ = entered(
        OutsideResult("a.py", 8, 8, text="said"),
        OutsideResult("a.py", 17, 18, text="said"),
        OutsideResult("x.py", text="said"),
    )
    assert [hit.chunk.text for hit in ranking if isinstance(hit.chunk, Location)] == [None, "said", "said"]


def test_without_a_corpus_places_are_taken_as_they_are_said() -> None:
    results = [
        OutsideResult("./a.py", 3, 4, "f"),
        OutsideResult("b.py:7"),
        OutsideResult("c.py:7"),
        OutsideResult("a.py", 3, 4, "g"),
        OutsideResult("a.py", 3, 4, "f"),
    ]
    ranking, door = entered(*results, index=None)
    assert [hit.chunk for hit in ranking] == [
        Location("a.py", 3, 4, "f"),
        Location("b.py", 7, 7),  # a path that an anchor names
        Location("c.py:7"),
        Location("a.py", 3, 4, "g"),
    ]
    door.tally.check()


def test_pieces_of_different_size_name_what_is_comparable() -> None:
    _, whole = entered(OutsideResult("a.py"))
    _, both = entered(OutsideResult("a.py"), OutsideResult("docs/b.txt"))  # the second is a chunk as well
    _, chunks = entered(*lines((9, 10)))
    _, windows = entered(*lines((8, 10)))
    pieces = [each.tally.piece for each in (whole, both, chunks, windows)]
    assert pieces == ["whole files", "whole files", "chunks", "other pieces"]
    assert comparable({"bm25": "chunks", "mine": "chunks", "none": ""}, None) == []
    assert comparable({"bm25": "chunks", "rg": "whole files"}, "0.500000") == [
        "systems return pieces of different size (bm25 chunks, rg whole files): "
        "compare hit, mrr, recall and the token figures; ndcg of whole files cannot exceed 0.500000"
    ]


FILES = ("src/a.py", "b.py", "odd:12", "back\\slash.py")


def reader(corpus: str | None = None, root: str | None = None, folder: str | None = None) -> PathReader:
    return PathReader(FILES.__contains__, corpus, root, folder)


@pytest.mark.parametrize(
    ("path", "read", "span"),
    [
        ("src/a.py", "src/a.py", None),
        (".//src/./a.py", "src/a.py", None),
        ("src\\a.py", "src/a.py", None),
        ("back\\slash.py", "back\\slash.py", None),
        ("src/a.py:12", "src/a.py", (12, 12)),
        ("src/a.py:12-20", "src/a.py", (12, 20)),
        ("src/a.py:12:5", "src/a.py", (12, 12)),
        ("src\\a.py#L7", "src/a.py", (7, 7)),
        ("src/a.py#L7-L9", "src/a.py", (7, 9)),
        ("odd:12", "odd:12", None),
    ],
)
def test_a_path_is_read_as_the_first_reading_that_is_a_file(
    path: str, read: str, span: tuple[int, int] | None
) -> None:
    assert reader().read(path) == PathReading(read, span)


@pytest.mark.parametrize(
    "path", ["A.PY", "../b.py", "src", "", "/", "x/../b.py", "b.py#9", f"b.py:{'9' * 40}"]
)
def test_other_paths_are_outside(path: str) -> None:
    assert not reader().read(path).is_known


def test_paths_below_the_corpus_its_other_name_the_root_and_the_folder_are_read(tmp_path: Path) -> None:
    (tmp_path / "real" / "eval").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    link, real = tmp_path / "link", tmp_path / "real"
    full = reader(str(link), "/home/ci/repo", str(link / "eval"))
    for path in (
        f"{real.as_posix()}/src/a.py",
        f"{link.as_posix()}/src/../src/a.py",
        "/home/ci/repo/src/a.py",
        "\\home\\ci\\repo\\src\\a.py:3",
        "../src/a.py",
    ):
        assert full.read(path).path == "src/a.py", path
        assert full.read(path).is_known
    assert not full.read("/home/ci/repository/src/a.py").is_known
    assert not full.read(f"{real.as_posix()}x/src/a.py").is_known


def test_lines_given_win_over_those_of_the_path() -> None:
    ranking, _ = entered(OutsideResult("a.py:1-2", 9, 10), OutsideResult("a.py:13-14"))
    assert spelled(ranking) == ["function_definition 9-10", "function_definition 13-14"]


def test_many_results_of_one_long_file_are_read_once() -> None:
    # 3,000 functions of two lines: each result is found by its lines, not by going through all.
    code = "".join(f"def f{n}():\n    return {n}\n" for n in range(3000))
    index = index_files({"long.py": code})
    results: Sequence[OutsideResult] = [OutsideResult("long.py", 2 * n + 2, 2 * n + 3) for n in range(2999)]
    door = Door(index, "mine")
    assert len(door.ranking(Question("q", "a query", 3000), results)) == 2999


def test_a_search_shows_a_location_with_the_text_of_the_corpus() -> None:
    ranking, _ = entered(OutsideResult("a.py", 5, 7, score=1.5), OutsideResult("x\x1b.py", text="said\nmore"))
    shown = with_corpus_text(ranking, INDEX)
    assert render_search_text(shown) == (
        " 1. [1.500000] a.py:5-7 (function_definition)\n    @property\n 2. [n/a] x\\x1b.py (-)\n    said\n"
    )
    first, second = json.loads(render_search_json(shown))["results"]
    assert first == {
        "chunk_id": None,
        "chunk_type": None,
        "end_line": 7,
        "file_path": "a.py",
        "kind": "function_definition",
        "rank": 1,
        "score": "1.500000",
        "start_line": 5,
    }
    assert (second["score"], second["start_line"], second["kind"]) == (None, None, None)


MINE = ResolvedSystem(SystemTable("mine", Program(("mine",), ""), "a test"), ())


class Answering:
    """An outside system that gives the same results to every question."""

    def __init__(self, places: Sequence[OutsideResult]) -> None:
        self._places = tuple(places)

    def answer(self, questions: Sequence[Question]) -> Iterator[Answer]:
        return iter([self._places] * len(questions))

    def close(self) -> None:
        pass


def test_a_draft_offers_locations_among_the_chunks_of_their_file() -> None:
    places = [*lines((16, 18), (5, 7), (13, 14), (1, 1), (5, 7)), OutsideResult("x.py")]

    mine = OutsideRanker("mine", OpenOutside(MINE, Answering(places), Door(INDEX, "mine")), INDEX)
    [pool] = pool_candidates(["a query"], INDEX, [mine], 10, lambda *_: None)
    assert [each.chunk.start_line for each in pool] == [1, 5, 13, 16]
    assert [json.loads(line)["candidates"][1:3] for line in _drafted(pool)] == [
        [
            {
                "path": "a.py",
                "kind": "function_definition",
                "lines": [first, last],
                "first_line": text,
                "backends": ["mine"],
            }
            for first, last, text in ((5, 7, "@property"), (13, 14, "def main():"))
        ]
    ]


def _drafted(pool: list[PooledChunk]) -> list[str]:
    return render_drafts(["a query"], [pool], 10, None).splitlines()[1:]


LINE = st.one_of(st.none(), st.integers(-1, 25), st.just(10**30))
RESULTS = st.lists(
    st.builds(
        OutsideResult,
        st.one_of(
            st.sampled_from(["a.py", "./a.py", "a.py:3-4", "docs\\b.txt", "docs/b.txt#L1", "x"]), st.text()
        ),
        LINE,
        LINE,
        st.one_of(st.none(), st.sampled_from(["function_definition", "module"]), st.text()),
        st.one_of(st.none(), st.floats()),
        st.one_of(st.none(), st.text()),
    ),
    max_size=12,
)


@given(RESULTS, st.integers(1, 8), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=300)
def test_any_answer_is_a_ranking_that_keeps_the_laws_or_one_line(
    results: list[OutsideResult], k: int, collapse: bool, has_corpus: bool
) -> None:
    try:
        ranking, door = entered(
            *results, k=k, index=INDEX if has_corpus else None, rules=DoorRules(collapse=collapse)
        )
        texts = door.tally.notices()
        door.tally.check()
    except OutsideSystemError as fault:
        texts, ranking = [str(fault)], ()
    assert all(text.isprintable() for text in texts)
    assert len(ranking) <= k
    chunks = [hit.chunk for hit in ranking if isinstance(hit.chunk, Chunk)]
    assert len({id(chunk) for chunk in chunks}) == len(chunks)
    assert all(hit.score is None or math.isfinite(hit.score) for hit in ranking)
    for hit in ranking:
        first, last = hit.chunk.start_line, hit.chunk.end_line
        assert (first is None) == (last is None)
        assert first is None or (last is not None and 1 <= first <= last)
        if isinstance(hit.chunk, Location) and has_corpus and not hit.chunk.is_outside:
            assert hit.chunk.file_path in INDEX.positions_by_file
            assert last is not None
            assert last <= INDEX.line_counts[hit.chunk.file_path]


@given(st.permutations(range(len(INDEX.chunks))))
@settings(deadline=None, max_examples=20)
def test_the_places_of_a_ranking_of_chunks_are_that_ranking(order: list[int]) -> None:
    places = (INDEX.chunks[position] for position in order)
    results = [OutsideResult(c.file_path, c.start_line, c.end_line, c.kind) for c in places]
    ranking, _ = entered(*results, k=len(order))
    assert [hit.chunk for hit in ranking] == [INDEX.chunks[position] for position in order]
