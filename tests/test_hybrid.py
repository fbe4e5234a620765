from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.query import Query
from cce.domain.ranking import Chunk, Ranking
from cce.domain.ranking_account import HybridParts
from cce.errors import UsageError
from cce.numerals import format_score
from cce.retrieval.backends.hybrid import HybridBackend, HybridOptions
from cce.retrieval.backends.query_analysis import is_code_lookup
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.opening import open_system
from corpora import (
    index_chunks,
    index_files,
    index_texts,
    make_chunk,
    paths,
    plain_fnv,
    plain_hybrid,
    plain_lookup,
    scored,
)


def rank(index: Index, query: str, k: int = 10) -> Ranking:
    return HybridBackend(index).rank(Query(query), k)


def search(index: Index, query: str, k: int = 10, *, use_graph: bool = True) -> Ranking:
    return HybridBackend(index).search(Query(query), k, use_graph=use_graph)


def figures(ranking: Ranking) -> list[tuple[str, str]]:
    return [(hit.chunk.file_path, format_score(hit.measured)) for hit in ranking]


def score_of_one(path: str, content: str, query: str) -> str:
    """The score of the only chunk of an index: its fused rank is the best, so norm is 1."""
    (hit,) = rank(index_chunks([make_chunk(path, content)]), query)
    return format_score(hit.measured)


# --- step 1: candidates


@pytest.mark.parametrize("query", ["", " ", "—?", "日本語"])
def test_a_query_without_a_token_gives_nothing(query: str) -> None:
    assert search(index_texts("alpha"), query) == ()


@pytest.mark.parametrize("use_graph", [True, False])
def test_an_empty_index_gives_nothing(use_graph: bool) -> None:
    assert search(index_files({}), "alpha", use_graph=use_graph) == ()


def test_candidates_are_three_times_k_of_either_ranking() -> None:
    # Cosines 1, 1/sqrt 2, 1/sqrt 3, ...: with k = 1 only the first three are looked at, and the first wins.
    texts = [" ".join(f"w{n}" for n in range(m)) for m in range(1, 8)]
    ranking = rank(index_texts(*texts), "w0", 1)
    assert paths(ranking) == ["0.txt"]
    # Four chunks tie at cosine 0 and bm25 has none: k = 1 looks at the three smallest ids only, so the
    # fourth cannot win although its path is the only one without a penalty.
    chunks = [make_chunk(f"docs/{n}.txt", "x", identity=f"{n:016x}") for n in range(3)]
    free = make_chunk("free.txt", "x", identity="f" * 16)
    assert paths(rank(index_chunks([*chunks, free]), "absent", 1)) == ["docs/0.txt"]
    assert paths(rank(index_chunks([*chunks, free]), "absent", 2)) == ["free.txt", "docs/0.txt"]


def test_bm25_gives_no_more_candidates_than_three_times_k() -> None:
    # Next to a long chunk all these are short, so bm25 goes by count: b (10), free (5), v (1). By cosine
    # it is v (1), b (0.71), free (0.16). With k = 1 free.txt is the fourth of bm25 and no candidate; as one
    # it would win, since all others are documents.
    index = index_chunks(
        [
            *(make_chunk(f"docs/v{n}.txt", "alpha") for n in range(3)),
            *(make_chunk(f"docs/b{n}.txt", "alpha beta " * 10) for n in range(3)),
            make_chunk("free.txt", "alpha " * 5 + "gamma " * 30),
            make_chunk("long.txt", "long " * 10_000),
        ]
    )
    assert paths(rank(index, "alpha", 1))[0].startswith("docs/v")


def test_a_cut_off_of_none_gives_nothing() -> None:
    assert search(index_texts("alpha", "beta"), "alpha", 0) == ()


# --- step 2: code lookup

LOOKUPS = [
    ("login function", True),
    ("CLASS of users", True),
    ("the Method", True),
    ("def", True),
    ("functions classes methods", False),
    ("undef define", False),
    ("my_def", False),
    ("auth.py", True),
    ("AUTH.PY", True),
    ("what does auth.py do", True),
    ("auth.pyc", False),
    ("auth.py_", False),
    ("auth.py2", False),
    ("auth.py.bak", True),
    ("auth.pyé", True),  # only an ASCII letter, digit or _ goes on
    ("a.js", True),
    ("a.jsx", True),
    ("a.json", False),
    ("a.ts", True),
    ("a.tsx", False),
    ("a.go", True),
    ("a.rb", True),
    ("a.rs", True),
    ("a.java", True),
    ("a.javascript", False),
    ("a.c", False),
    (".py", True),
    ("py", False),
    ("a.json or b.py", True),
    ("where is the login", True),
    ("Where Is the login", True),
    ("where  is the login", False),
    ("somewhere is x", True),  # the text, not the words
    ("where is", False),
    ("login is defined", True),
    ("predefined", False),
    ("defined here", False),
    ("un definedness", True),
    ("find the functionality", True),
    ("find functionality", False),  # the blank belongs to `find `
    ("find  functionality", True),
    ("Find All Functionality", True),
    ("functionality to find ", False),
    ("the functionality, find it", False),
    ("find a functionality that can find ", True),
    ("x find find functional", True),
    ("user login", False),
    ("", False),
]


@pytest.mark.parametrize(("query", "is_lookup"), LOOKUPS)
def test_a_code_lookup_names_code(query: str, is_lookup: bool) -> None:
    assert is_code_lookup(query.encode()) is is_lookup
    assert plain_lookup(query) is is_lookup


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            ["find", " ", "function", "al", ".", "js", "x", "py", "where", "is", "defined", "É", "DEF"]
        ),
        max_size=9,
    ).map("".join)
)
def test_a_code_lookup_is_what_the_plain_reading_says(query: str) -> None:
    assert is_code_lookup(query.encode()) is plain_lookup(query)


# --- steps 3 to 5: fusion, confidence, score


@pytest.mark.parametrize(
    ("query", "second"),
    [
        # The second chunk has only a vector rank: norm = (1/61) / ((1 + w) / 60) = 60 / (61 * (1 + w)).
        ("login", "0.490902"),  # w = 1: norm 0.491803; 0.5 * (0.5 * 0.5 + 0.4 * 0.6) + 0.5 * norm
        ("login function", "0.441721"),  # w = 1.5: norm 0.393443
    ],
)
def test_bm25_weighs_half_more_for_a_code_lookup(query: str, second: str) -> None:
    first, other = rank(index_texts("login", "zzz"), query)
    assert (first.chunk.file_path, other.chunk.file_path) == ("0.txt", "1.txt")
    assert format_score(other.measured) == second


@pytest.mark.parametrize(
    ("path", "content", "query", "score"),
    [
        # norm is 1; score = 0.5 * (0.5 * vs + 0.4 * ks) + 0.5
        ("a.txt", "alpha", "alpha", "0.950000"),  # vs 1, ks 1
        ("a.txt", "zz", "alpha", "0.745000"),  # cosine 0: vs 0.5, ks 0.6
        ("a.txt", "alphabet", "alpha", "0.825000"),  # vs 0.5; a token may occur inside a word
        ("a.txt", "ALPHABET", "alpha", "0.825000"),
        ("a.txt", "alpha_beta", "pha_b", "0.825000"),
        ("a.txt", "", "alpha", "0.745000"),
        ("src/Alpha.PY", "zz", "ALPHA.py", "0.825000"),  # a hint: a term with a dot, part of the path
        ("src/alpha.py", "zz", "pha.p", "0.825000"),
        ("src/alpha.py", "zz", "x .", "0.825000"),
        ("src/alpha.py", "zz", "alpha", "0.745000"),  # no dot, no hint
        ("src/alpha.py", "zz", "(alpha.py)", "0.745000"),  # the whole term is the hint
        ("src/alpha.py", "zz", "see\u2003alpha.py\u00a0please", "0.825000"),  # Unicode's white space
        ("src/alpha.py", "zz", "see\x1calpha.py", "0.745000"),  # which U+001C is not
        ("src/Ärger.py", "zz", "äRGER.py", "0.825000"),
    ],
)
def test_confidence_worked_by_hand(path: str, content: str, query: str, score: str) -> None:
    assert score_of_one(path, content, query) == score


def test_a_cosine_below_zero_lowers_the_confidence() -> None:
    # Two tokens of one bucket and opposite signs: cosine -1, vs 0, ks 0.6: 0.5 * 0.24 + 0.5 = 0.62
    plus, minus = opposite_tokens()
    assert score_of_one("a.txt", plus, minus) == "0.620000"


def opposite_tokens() -> tuple[str, str]:
    seen: dict[int, tuple[str, int]] = {}
    for number in range(100_000):
        token = f"t{number}q"
        digest = plain_fnv(token.encode())
        other, sign = seen.setdefault(digest % 256, (token, digest >> 63))
        if sign != digest >> 63:
            return other, token
    raise AssertionError("no two tokens cancel")


PENALIZED = [
    "tests/a.py",
    "src/tests/a.py",
    "contests/a.py",
    "src/test_a.py",
    "latest_a.py",
    "docs/a.md",
    "specs.txt",
    "src/inspector.py",
    "planner.py",
    "airplane/a.py",
    "TESTS/A.py",
    "Test_a.py",
    "SPEC",
]


@pytest.mark.parametrize("path", PENALIZED)
def test_paths_of_tests_docs_and_plans_count_four_fifths(path: str) -> None:
    assert score_of_one(path, "alpha", "alpha") == "0.760000"


@pytest.mark.parametrize(
    "path", ["a.py", "test/a.py", "tests.py", "doc/a.md", "docs.md", "testing.py", "src/pla/n.py"]
)
def test_other_paths_count_in_full(path: str) -> None:
    assert score_of_one(path, "alpha", "alpha") == "0.950000"


def test_a_penalty_is_taken_once() -> None:
    assert score_of_one("tests/docs/test_spec_plan.py", "alpha", "alpha") == "0.760000"


# --- step 6: order and diversity


def test_a_file_has_at_most_three_chunks() -> None:
    index = index_files(
        {"a.py": "".join(f"def f{n}(): alpha\n" for n in range(5)), "b.py": "def g(): beta\n"}
    )
    assert sorted(paths(rank(index, "alpha"))) == ["a.py", "a.py", "a.py", "b.py"]


def test_what_a_full_file_leaves_free_goes_to_others() -> None:
    index = index_files(
        {"a.py": "".join(f"def f{n}(): alpha\n" for n in range(5)), "b.py": "def g(): beta\n"}
    )
    assert paths(rank(index, "alpha", 4)) == ["a.py", "a.py", "a.py", "b.py"]
    assert paths(rank(index, "alpha", 3)) == ["a.py", "a.py", "a.py"]


def test_four_files_with_one_body_are_ordered_by_rank_then_id() -> None:
    chunks = [make_chunk(f"{letter}.py", "def same(): pass") for letter in "abcd"]
    expected = sorted(chunks, key=lambda chunk: chunk.chunk_id)
    for order in (chunks, chunks[::-1], chunks[2:] + chunks[:2]):
        assert [hit.chunk for hit in rank(index_chunks(order), "same", 2)] == expected[:2]


def test_scores_that_print_alike_are_ordered_by_id() -> None:
    # First and second of vector, second and first of bm25: the same fused rank. The cosines, 1 and
    # 1 / sqrt(1 + 1/500^2) = 0.999998, move the score by a quarter of their difference: 0.95 and 0.9499995.
    first = make_chunk("a.txt", "alpha " * 500, identity="b" * 16)
    second = make_chunk("b.txt", "alpha " * 1000 + "beta " * 2, identity="a" * 16)
    ranking = rank(index_chunks([first, second]), "alpha")
    assert ranking[0].measured < ranking[1].measured
    assert [hit.chunk for hit in ranking] == [second, first]


def test_k_may_exceed_what_there_is() -> None:
    assert len(rank(index_texts("alpha", "beta"), "alpha", 1000)) == 2
    assert len(rank(index_texts("alpha", "beta"), "alpha", 1)) == 1


# --- step 7: graph


def test_the_two_best_chunks_of_a_neighbour_follow_behind_k() -> None:
    index = index_chunks(
        [
            make_chunk("a.py", "alpha"),
            make_chunk("b.py", "alpha alpha alpha" + " beta" * 4, 1),  # cosine 3/5
            make_chunk("b.py", "beta", 2),
            make_chunk("b.py", "beta beta beta" + " alpha" * 4, 3),  # cosine 4/5
        ],
        {"a.py": ("b",)},
    )
    assert figures(search(index, "alpha", 1)) == [
        ("a.py", "0.950000"),
        ("b.py", "0.680000"),  # 0.8 * 0.85
        ("b.py", "0.510000"),  # 0.6 * 0.85
    ]
    assert [hit.chunk.start_line for hit in search(index, "alpha", 1)] == [1, 3, 1]


def test_the_harness_takes_the_first_k_and_search_can_do_without_the_graph() -> None:
    index = index_files({"a.py": "import b\ndef f(): alpha\n", "b.py": "def g(): pass\ndef h(): pass\n"})
    assert paths(search(index, "alpha", 1)) == ["a.py", "b.py", "b.py"]
    assert paths(search(index, "alpha", 1, use_graph=False)) == ["a.py"]
    assert rank(index, "alpha", 1) == search(index, "alpha", 1)[:1]


def test_the_graph_fills_up_what_the_cap_left_below_k() -> None:
    # All 12 candidates are of one file and three of them are kept: the neighbour's chunk is the fourth.
    index = index_chunks(
        [make_chunk("a.py", "alpha", line) for line in range(1, 14)] + [make_chunk("b.py", "zz")],
        {"a.py": ("b",)},
    )
    assert paths(rank(index, "alpha", 4)) == ["a.py", "a.py", "a.py", "b.py"]
    assert rank(index, "alpha", 4)[3].score == 0.0


def test_importers_are_neighbours_as_well() -> None:
    index = index_chunks([make_chunk("m.py", "alpha"), make_chunk("user.py", "zz")], {"user.py": ("m",)})
    assert paths(search(index, "alpha", 1)) == ["m.py", "user.py"]


def test_an_opposite_chunk_is_added_with_nothing() -> None:
    plus, minus = opposite_tokens()
    index = index_chunks([make_chunk("a.py", plus), make_chunk("b.py", minus)], {"a.py": ("b",)})
    assert figures(search(index, plus, 1))[1:] == [("b.py", "0.000000")]


def star(n_neighbours: int) -> tuple[list[Chunk], dict[str, tuple[str, ...]]]:
    """`a.py`, which the query finds, and files that it imports."""
    names = [f"n{number}" for number in range(n_neighbours)]
    return [make_chunk("a.py", "alpha"), *(make_chunk(f"{name}.py", "zz") for name in names)], {
        "a.py": tuple(names)
    }


def test_two_neighbours_are_enough() -> None:
    assert paths(search(index_chunks(*star(4)), "alpha", 1)) == ["a.py", "n0.py", "n1.py"]


def test_neighbours_come_sorted_not_as_imported() -> None:
    chunks, imports = star(3)
    assert paths(search(index_chunks(chunks, {"a.py": imports["a.py"][::-1]}), "alpha", 1)) == [
        "a.py",
        "n0.py",
        "n1.py",
    ]


def test_a_neighbour_with_a_kept_chunk_is_passed_over() -> None:
    chunks, imports = star(4)
    chunks[1] = make_chunk("n0.py", "alpha beta")
    assert paths(search(index_chunks(chunks, imports), "alpha", 2)) == ["a.py", "n0.py", "n1.py", "n2.py"]


def test_only_the_first_three_kept_lead_to_neighbours() -> None:
    chunks = [make_chunk(f"{n}.py", "alpha" + " beta" * n) for n in range(4)]
    far = make_chunk("far.py", "zz")
    assert paths(search(index_chunks([*chunks, far], {"3.py": ("far",)}), "alpha", 4)) == [
        f"{n}.py" for n in range(4)
    ]
    assert paths(search(index_chunks([*chunks, far], {"2.py": ("far",)}), "alpha", 4))[4:] == ["far.py"]


def test_neighbours_of_the_best_file_come_first() -> None:
    chunks = [make_chunk("b.py", "alpha"), make_chunk("a.py", "alpha beta")]
    near = [make_chunk("of_a.py", "zz"), make_chunk("of_b.py", "zz")]
    index = index_chunks([*chunks, *near], {"a.py": ("of_a",), "b.py": ("of_b",)})
    assert paths(search(index, "alpha", 2)) == ["b.py", "a.py", "of_b.py", "of_a.py"]


def test_one_place_is_added_once() -> None:
    twins = [make_chunk("b.js", "alpha => beta", 1, 1), make_chunk("b.js", "beta", 1, 1)]
    index = index_chunks([make_chunk("a.js", "alpha"), *twins], {"a.js": ("b",)})
    assert [hit.chunk for hit in search(index, "alpha", 1)][1:] == twins[:1]


# --- all seven steps against a plain reading of them

FILES = [
    "src/a.py",
    "src/b.py",
    "lib/my_a.js",
    "tests/test_a.py",
    "docs/guide.md",
    "plan.txt",
    "c.js",
    "x/A.py",
]
WORDS = ["alpha", "beta", "alphabet", "Gamma", "é", "a.py", "def", "x1"]
NAMES = ["a", "b", "c", "guide", "test_a", "plan", "my", "absent", "lib/my_a"]
QUERIES = [*WORDS, "where is ", "find ", " function", "B.JS", ".", "my_a.js"]

CONTENTS = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
CHUNKS = st.lists(st.tuples(st.sampled_from(FILES), CONTENTS, st.integers(1, 3)), max_size=24)
IMPORTS = st.dictionaries(
    st.sampled_from(FILES), st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map(tuple)
)


@settings(deadline=None, max_examples=120)
@given(
    CHUNKS,
    IMPORTS,
    st.lists(st.sampled_from(QUERIES), max_size=4).map(" ".join),
    st.integers(1, 5),
    st.booleans(),
)
def test_a_search_is_what_the_seven_steps_give(
    parts: list[tuple[str, str, int]],
    imports: dict[str, tuple[str, ...]],
    query: str,
    k: int,
    use_graph: bool,
) -> None:
    chunks = [
        make_chunk(path, content, line, line) for path, content, line in sorted(parts, key=lambda p: p[0])
    ]
    present = {
        path: names for path, names in imports.items() if any(path == chunk.file_path for chunk in chunks)
    }
    index = index_chunks(chunks, present)
    expected = plain_hybrid(index, query, k, use_graph=use_graph)
    assert scored(search(index, query, k, use_graph=use_graph)) == expected
    if use_graph:
        assert scored(rank(index, query, k)) == expected[:k]


# Options of a variant


def parts_of(backend: HybridBackend, query: str, k: int = 10) -> dict[str, HybridParts]:
    account = backend.explain(Query(query), k)
    return {hit.hit.indexed.chunk_id: hit.parts for hit in account.hits if isinstance(hit.parts, HybridParts)}


OPTIONS_INDEX = index_files(
    {
        "a.py": "".join(f"def alpha_{n}():\n    return {n}\n\n\n" for n in range(6)),
        "tests/b.py": "def alpha():\n    return 'alpha'\n",
        "c.txt": "beta alpha\n",
    }
)


def scores_with(**options: Any) -> dict[str, float]:
    ranking = HybridBackend(OPTIONS_INDEX, graph=False, **options).rank(Query("alpha beta"), 10)
    return {hit.indexed.chunk_id: hit.measured for hit in ranking}


def test_the_default_options_are_those_of_hybrid() -> None:
    named = HybridOptions()._asdict()
    assert scores_with(**named) == scores_with()
    assert HybridBackend(OPTIONS_INDEX, **named).explain(Query("alpha"), 3) == HybridBackend(
        OPTIONS_INDEX
    ).explain(Query("alpha"), 3)


def test_confidence_is_its_share_of_the_score_and_norm_has_the_rest() -> None:
    parts = parts_of(HybridBackend(OPTIONS_INDEX, graph=False), "alpha beta")
    for chunk_id, score in scores_with(confidence=1).items():
        assert score == parts[chunk_id].confidence * parts[chunk_id].penalty
    for chunk_id, score in scores_with(confidence=0).items():
        assert score == parts[chunk_id].norm * parts[chunk_id].penalty


def test_a_penalty_of_one_is_none() -> None:
    parts = parts_of(HybridBackend(OPTIONS_INDEX, graph=False), "alpha beta")
    test_chunk = next(chunk.chunk_id for chunk in OPTIONS_INDEX.chunks if chunk.file_path == "tests/b.py")
    assert parts[test_chunk].penalty == 0.8
    assert scores_with(path_penalty=1)[test_chunk] == pytest.approx(parts[test_chunk].score / 0.8)


def test_max_per_file_limits_the_chunks_of_a_file() -> None:
    def n_of_a(most: int) -> int:
        ranking = HybridBackend(OPTIONS_INDEX, graph=False, max_per_file=most).rank(
            Query("alpha_1 alpha_2"), 9
        )
        return paths(ranking).count("a.py")

    assert [n_of_a(1), n_of_a(2), n_of_a(6)] == [1, 2, 6]


def test_a_keyword_weight_of_none_leaves_the_vector_order_alone() -> None:
    # Of the fusion only the reciprocal rank by vectors is left, and the first of them has norm 1.
    first = HybridBackend(OPTIONS_INDEX, graph=False, keyword_weight=0, confidence=0, path_penalty=1).rank(
        Query("alpha beta"), 3
    )
    by_vector = open_system("vector", OPTIONS_INDEX).rank(Query("alpha beta"), 3)
    assert [hit.indexed for hit in first] == [hit.indexed for hit in by_vector]
    assert [hit.measured for hit in first] == [1.0, (1 / 61) / (1 / 60), (1 / 62) / (1 / 60)]


def test_a_small_offset_sets_the_first_ranks_apart() -> None:
    options = {"keyword_weight": 0, "confidence": 0, "path_penalty": 1, "rrf_offset": 1}
    ranking = HybridBackend(OPTIONS_INDEX, graph=False, **options).rank(Query("alpha beta"), 3)
    assert [hit.measured for hit in ranking] == [1.0, 1 / 2, 1 / 3]


def test_other_options_are_explained_by_their_scores() -> None:
    account = HybridBackend(OPTIONS_INDEX, confidence=0.2).explain(Query("alpha"), 3)
    assert [hit.parts for hit in account.hits] == [None] * 3
    assert account.formula == ()


@pytest.mark.parametrize(
    ("option", "value", "rule"),
    [
        ("rrf_offset", 0, "a number above 0"),
        ("rrf_offset", True, "a number above 0"),
        ("rrf_offset", math.inf, "a number above 0"),
        ("keyword_weight", -1, "a number, 0 or more"),
        ("path_penalty", 1.1, "a number from 0 to 1"),
        ("path_penalty", "0.5", "a number from 0 to 1"),
        ("max_per_file", 0, "a whole number, 1 or more"),
        ("max_per_file", 2.0, "a whole number, 1 or more"),
        ("confidence", math.nan, "a number from 0 to 1"),
        ("confidence", None, "a number from 0 to 1"),
    ],
)
def test_an_option_that_cannot_be_is_named(option: str, value: object, rule: str) -> None:
    with pytest.raises(UsageError, match=rf"^{option}: must be {rule}, got "):
        HybridBackend(OPTIONS_INDEX, **{option: value})  # type: ignore[arg-type]
