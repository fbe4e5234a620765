"""Explanations: shares that sum to scores, and the reasons why an anchor was missed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.anchor import parse_anchor
from cce.domain.case import Case, FixtureSet
from cce.domain.explanation import BackendExplanation, CaseExplanation, Miss
from cce.domain.query import Query
from cce.domain.ranking_account import GraphParts, HybridParts, RankingAccount, Share
from cce.errors import UsageError
from cce.numerals import format_score, ordered_sum, ordering_key
from cce.report.text.explanation import render_explanation_text
from cce.report.view.cells import micro_shares
from cce.retrieval.backends.bm25 import Bm25Backend
from cce.retrieval.backends.hybrid import HybridBackend
from cce.retrieval.backends.vector import VectorBackend
from cce.retrieval.indexing.directory import IndexedCorpus, index_directory
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.opening import open_system
from cce.usecases.explain import cases_called, explain_case
from corpora import index_chunks, index_files, index_texts, make_chunk, unwatched


def make_case(query: str, *anchors: str, k: int = 10, case_id: str = "q", line: int = 1) -> Case:
    return Case(case_id, query, tuple(map(parse_anchor, anchors)), k, line)


def explain(index: Index | IndexedCorpus, case: Case, *backends: str) -> CaseExplanation:
    indexed = IndexedCorpus("nowhere", index, {}, ()) if isinstance(index, Index) else index
    asked = [open_system(name, indexed.index) for name in backends]
    return explain_case(FixtureSet("set.jsonl", None, (case,)), case, "src", indexed, asked, unwatched)


def of_backend(index: Index | IndexedCorpus, backend: str, case: Case) -> BackendExplanation:
    (explanation,) = explain(index, case, backend).backends
    return explanation


def only_miss(index: Index | IndexedCorpus, backend: str, case: Case) -> Miss:
    (miss,) = of_backend(index, backend, case).misses
    return miss


def hybrid_parts(account: RankingAccount, position: int) -> HybridParts:
    parts = account.hits[position].parts
    assert isinstance(parts, HybridParts)
    return parts


# --- shares


def test_the_terms_of_bm25_worked_by_hand() -> None:
    account = Bm25Backend(index_texts("user login user", "payment process")).explain(
        Query("user absent user"), 5
    )
    (hit,) = account.hits
    # N = 2, c = 1: idf = ln 2; f = 2, |D| = 3, mean 2.5: 0.693147 * 4.4 / (2 + 1.2 * (0.25 + 0.9))
    assert [(share.name, format_score(share.value)) for share in hit.shares] == [("user", "0.902322")]
    # idf of a token that no chunk holds: ln(1 + 2.5 / 0.5)
    assert [(term.token, term.n_chunks, format_score(term.idf)) for term in account.terms] == [
        ("user", 1, "0.693147"),
        ("absent", 0, "1.791759"),
    ]


def test_each_hit_lists_only_the_terms_it_holds_in_query_order() -> None:
    account = Bm25Backend(index_texts("beta alpha", "gamma alpha", "beta")).explain(
        Query("alpha beta gamma"), 5
    )
    names = {hit.hit.chunk.file_path: [share.name for share in hit.shares] for hit in account.hits}
    assert names == {"0.txt": ["alpha", "beta"], "1.txt": ["alpha", "gamma"], "2.txt": ["beta"]}


def test_the_parts_of_hybrid_worked_by_hand() -> None:
    account = HybridBackend(index_texts("login", "zzz")).explain(Query("login"), 10)
    first, second = hybrid_parts(account, 0), hybrid_parts(account, 1)
    assert (first.vector_rank, first.keyword_rank, first.norm) == (1, 1, 1.0)
    assert (second.vector_rank, second.keyword_rank) == (2, None)
    assert second.rrf == 1 / 61
    assert format_score(second.norm) == "0.491803"  # (1 / 61) / (2 / 60)
    assert (second.cosine, second.similarity, second.literal) == (0.0, 0.5, 0.6)
    assert format_score(second.confidence) == "0.490000"  # 0.5 * 0.5 + 0.4 * 0.6
    shares = [(share.name, format_score(share.value)) for share in account.hits[1].shares]
    assert shares == [("confidence/2", "0.245000"), ("norm/2", "0.245902"), ("penalty", "0.000000")]


def test_a_penalty_is_a_share_below_zero() -> None:
    (hit,) = HybridBackend(index_chunks([make_chunk("tests/a.py", "alpha")])).explain(Query("alpha"), 1).hits
    # confidence 0.9 and norm 1: 0.95, of which a fifth is lost
    assert [format_score(share.value) for share in hit.shares] == ["0.450000", "0.500000", "-0.190000"]


def test_the_score_of_vector_is_its_cosine_and_needs_no_shares() -> None:
    account = VectorBackend(index_texts("alpha beta", "zzz")).explain(Query("alpha"), 1)
    (hit,) = account.hits
    assert (format_score(hit.hit.measured), hit.shares) == ("0.707107", ())
    assert account.formula == ("score = cosine of the chunk's vector and the query's",)


def test_a_hit_of_the_graph_names_the_file_that_led_to_it() -> None:
    index = index_chunks(
        [make_chunk("a.py", "alpha", line) for line in range(1, 14)] + [make_chunk("b.py", "alpha beta")],
        {"a.py": ("b",)},
    )
    last = HybridBackend(index).explain(Query("alpha"), 4).hits[-1]
    # b.py is no candidate: the first twelve of either ranking are chunks of a.py.
    assert isinstance(last.parts, GraphParts)
    assert (last.rank, last.parts.seed, format_score(last.parts.cosine)) == (4, "a.py", "0.707107")
    assert [(share.name, format_score(share.value)) for share in last.shares] == [("graph", "0.601041")]


def test_the_diversity_cap_says_what_it_cut() -> None:
    index = index_chunks(
        [make_chunk("a.py", "alpha", line, identity=f"{line:016x}") for line in range(1, 6)]
        + [make_chunk("b.py", "beta"), make_chunk("c.py", "gamma")]
    )
    account = HybridBackend(index).explain(Query("alpha"), 4)
    assert [hit.hit.chunk.start_line for hit in account.hits[:3]] == [1, 2, 3]
    assert [(hit.rank, hit.hit.chunk.start_line) for hit in account.cut] == [(4, 4), (5, 5)]
    assert account.behind is not None
    assert len(account.behind) == 1, "of b.py and c.py one has the fourth place"
    assert HybridBackend(index).explain(Query("alpha"), 3).cut == (), "nothing is cut once k are kept"


WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "a.py", "def"]), max_size=6).map(" ".join)
FILES = st.dictionaries(
    st.sampled_from(["a.py", "b.py", "tests/t.py", "plan.txt"]), st.lists(WORDS, max_size=5), max_size=4
)


def index_of(files: Mapping[str, list[str]]) -> Index:
    chunks = [
        make_chunk(path, text, line) for path in sorted(files) for line, text in enumerate(files[path], 1)
    ]
    return index_chunks(chunks, {"a.py": ("b", "t"), "plan.txt": ("a",)})


@pytest.mark.parametrize("make", [Bm25Backend, VectorBackend, HybridBackend])
@settings(deadline=None, max_examples=120)
@given(files=FILES, query=WORDS, k=st.integers(0, 12))
def test_an_account_has_the_hits_of_the_ranking_and_shares_that_sum_to_the_bit(
    make: type[Bm25Backend | VectorBackend | HybridBackend], files: dict[str, list[str]], query: str, k: int
) -> None:
    ranker = make(index_of(files))
    account = ranker.explain(Query(query), k)
    assert tuple(hit.hit for hit in account.hits) == ranker.rank(Query(query), k)
    assert [hit.rank for hit in account.hits] == list(range(1, len(account.hits) + 1))
    for hit in (*account.hits, *account.cut, *(account.behind or ())):
        if make is not VectorBackend:
            assert ordered_sum(share.value for share in hit.shares) == hit.hit.score


@settings(deadline=None, max_examples=120)
@given(files=FILES, query=WORDS, k=st.integers(1, 6))
def test_what_was_cut_would_have_come_before_the_last_hit(
    files: dict[str, list[str]], query: str, k: int
) -> None:
    account = HybridBackend(index_of(files)).explain(Query(query), k)
    kept = [hit for hit in account.hits if isinstance(hit.parts, HybridParts)]
    if len(kept) == k:
        assert all(ordering_key(c.hit.measured) >= ordering_key(kept[-1].hit.measured) for c in account.cut)
    for hit in account.cut:
        assert sum(other.hit.chunk.file_path == hit.hit.chunk.file_path for other in kept) == 3


@pytest.mark.parametrize(
    ("values", "micros"),
    [
        ([], []),
        ([0.25], [250_000]),
        # Each alone prints 0.333333, together they print 1.000000.
        ([1 / 3, 1 / 3, 1 / 3], [333_333, 333_334, 333_333]),
        ([0.95, -0.19], [950_000, -190_000]),
    ],
)
def test_shown_shares_take_up_what_rounding_leaves(values: list[float], micros: list[int]) -> None:
    assert micro_shares([Share("x", value) for value in values]) == micros


@settings(deadline=None, max_examples=200)
@given(st.lists(st.floats(-20, 20), max_size=12))
def test_shown_shares_sum_to_the_shown_score(values: list[float]) -> None:
    micros = micro_shares([Share("x", value) for value in values])
    assert sum(micros) == ordering_key(ordered_sum(values))
    assert all(abs(m - value * 1e6) <= 1.01 for m, value in zip(micros, values, strict=True))


# --- which anchors a result matches


def test_each_result_shows_the_anchors_it_matches() -> None:
    index = index_files({"a.txt": "alpha", "b.txt": "alpha beta"})
    explanation = explain(index, make_case("alpha", "b.txt", "#module", "b.txt"), "bm25")
    (bm25,) = explanation.backends
    assert [(hit.account.hit.chunk.file_path, hit.anchors) for hit in bm25.hits] == [
        ("a.txt", (1,)),
        ("b.txt", (0, 1, 2)),
    ]
    assert [anchor.n_chunks for anchor in explanation.anchors] == [1, 2, 1]
    assert bm25.misses == ()


def test_a_result_that_was_cut_shows_its_anchors_too() -> None:
    index = index_chunks([make_chunk("a.py", "alpha", line, identity=f"{line:016x}") for line in range(1, 5)])
    (cut,) = of_backend(index, "hybrid", make_case("alpha", "a.py@4-4")).cut
    assert cut.anchors == (0,)


# --- missed anchors

THREE = {"0.txt": "alpha", "1.txt": "alpha beta", "2.txt": "alpha beta gamma delta", "3.txt": "zzz"}


def test_a_missed_anchor_has_the_rank_it_would_have_had_and_the_gap() -> None:
    miss = only_miss(index_files(THREE), "vector", make_case("alpha", "2.txt", k=1))
    assert miss.best is not None
    # Cosines 1, 1 / sqrt 2, 1 / 2, 0: the third of four, half a point behind the only one that counts.
    assert (miss.best.rank, miss.n_ranked, miss.behind_by) == (3, 4, 500_000)
    assert (miss.reason, miss.fate) == (None, None)


def test_a_tie_that_the_ids_decide_is_missed_by_nothing() -> None:
    chunks = [make_chunk(f"{name}.py", "alpha", identity=name * 16) for name in "ab"]
    miss = only_miss(index_chunks(chunks), "bm25", make_case("alpha", "b.py", k=1))
    assert miss.behind_by == 0
    text = render_explanation_text(explain(index_chunks(chunks), make_case("alpha", "b.py", k=1), "bm25"))
    assert "rank 2 of 2, 0.000000 behind rank 1, a tie that the chunk ids decide: " in text


def test_the_best_of_many_chunks_stands_for_the_anchor() -> None:
    chunks = [
        make_chunk("a.txt", "alpha"),
        make_chunk("b.txt", "zzz", 1),
        make_chunk("b.txt", "alpha beta", 2),
    ]
    miss = only_miss(index_chunks(chunks), "vector", make_case("alpha", "b.txt", k=1))
    assert miss.best is not None
    assert (miss.best.rank, miss.best.hit.chunk.start_line) == (2, 2)


@pytest.mark.parametrize("backend", ["bm25", "bm25-okapi"])
def test_what_has_no_score_has_no_rank(backend: str) -> None:
    miss = only_miss(index_files({**THREE, "4.txt": "yyy xxx"}), backend, make_case("delta", "3.txt"))
    assert (miss.reason, miss.best) == ("none of its chunks has a score above zero, so none is ranked", None)


@pytest.mark.parametrize("backend", ["bm25", "vector", "hybrid", "bm25-l"])
def test_a_query_without_a_token_finds_nothing_and_says_so(backend: str) -> None:
    explanation = of_backend(index_files(THREE), backend, make_case("—?", "0.txt"))
    assert explanation.hits == ()
    assert [miss.reason for miss in explanation.misses] == ["the query has no token, so nothing is ranked"]


def test_hybrid_tells_the_rank_among_all_and_what_happened_at_k() -> None:
    # With k = 1 only three chunks are looked at, the documents; the fourth, which wins with k = 4, is not.
    chunks = [make_chunk(f"docs/{n}.txt", "x", identity=f"{n:016x}") for n in range(3)]
    index = index_chunks([*chunks, make_chunk("free.txt", "x", identity="f" * 16)])
    miss = only_miss(index, "hybrid", make_case("absent", "free.txt", k=1))
    assert miss.best is not None
    assert (miss.best.rank, miss.n_ranked, miss.behind_by, miss.fate) == (1, 4, None, "no candidate")
    behind = only_miss(index, "hybrid", make_case("absent", "docs/1.txt", k=1))
    assert behind.fate == "behind"


def test_an_anchor_behind_three_better_chunks_of_its_file_is_cut_at_every_k() -> None:
    index = index_chunks([make_chunk("a.py", "alpha", line, identity=f"{line:016x}") for line in range(1, 5)])
    miss = only_miss(index, "hybrid", make_case("alpha", "a.py@4-4"))
    assert (
        miss.reason == "better chunks of its file take all the places that one file may have, whatever k is"
    )
    assert miss.best is not None
    assert (miss.best.rank, miss.behind_by, miss.fate) == (4, None, "cut")


def test_misses_come_in_the_order_of_the_anchors() -> None:
    case = make_case("alpha", "gone.txt", "2.txt", "0.txt", "3.txt", k=1)
    explanation = of_backend(index_files(THREE), "vector", case)
    assert [miss.anchor for miss in explanation.misses] == [0, 1, 3]


# --- anchors that are not in the index


@pytest.fixture
def corpus(tmp_path: Path) -> IndexedCorpus:
    files = {
        "a.py": b"import os\n\n\ndef alpha():\n    pass\n",
        ".gitignore": b"old.py\n",
        "old.py": b"x\n",
        ".env": b"x\n",
        "log.jsonl": b"{}\n",
        "latin.txt": b"\xe9\n",
    }
    for path, text in files.items():
        (tmp_path / path).write_bytes(text)
    return index_directory(str(tmp_path), unwatched)


@pytest.mark.parametrize(
    ("anchor", "reason"),
    [
        ("old.py", "ignored"),
        (".env", "its name promises secrets"),
        ("log.jsonl", "a .jsonl file"),
        ("latin.txt", "not UTF-8"),
        ("a.pyx", "not there; did you mean 'a.py'?"),
        ("a.py#class_definition", "no such kind in this file, it has function_definition"),
        ("a.py@70-80", "the file ends at line 5"),
        ("a.py@1-2", "no chunk of this file touches these lines, the nearest is 4-5"),
    ],
)
def test_an_anchor_that_matches_no_chunk_says_why(corpus: IndexedCorpus, anchor: str, reason: str) -> None:
    explanation = explain(corpus, make_case("alpha", anchor), "bm25", "hybrid")
    (found,) = explanation.anchors
    assert found.absence is not None
    assert found.absence.startswith(f"matches no chunk: {reason}")
    assert [b.misses for b in explanation.backends] == [(Miss(0, found.absence),)] * 2


def test_without_the_files_the_end_of_a_file_is_not_made_up(corpus: IndexedCorpus) -> None:
    stored = IndexedCorpus("gone/index.json", corpus.index, {}, ())
    explanation = explain(stored, make_case("alpha", "a.py@70-80"), "bm25")
    assert explanation.anchors[0].absence == (
        "matches no chunk: no chunk of this file touches these lines, the nearest is 4-5"
    )


def test_an_empty_index_is_explained_as_well() -> None:
    explanation = explain(index_chunks([]), make_case("alpha", "a.py", "#module"), "bm25", "vector", "hybrid")
    assert [len(backend.misses) for backend in explanation.backends] == [2, 2, 2]
    assert "(no results)" in render_explanation_text(explanation)


# --- which case


def fixture_set(*ids: str) -> FixtureSet:
    cases = (make_case("alpha", "a.py", case_id=name, line=n) for n, name in enumerate(ids, start=1))
    return FixtureSet("set.jsonl", None, tuple(cases))


def test_all_cases_of_an_id_are_found_in_order() -> None:
    assert [case.line for case in cases_called(fixture_set("a", "b", "a"), "a")] == [1, 3]


def test_an_unknown_id_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        cases_called(fixture_set("read-file", "write-file"), "raed-file")
    assert str(caught.value) == (
        "set.jsonl: unknown case 'raed-file'; did you mean 'read-file'? (known: read-file, write-file)"
    )


def test_of_many_ids_only_the_nearest_are_listed() -> None:
    many = fixture_set(*(f"case-{n}" for n in range(5000)), "odd\none")
    with pytest.raises(UsageError) as caught:
        cases_called(many, "case-4242x")
    assert "did you mean 'case-4242'?" in str(caught.value)
    assert len(str(caught.value)) < 400
    with pytest.raises(UsageError, match=r"\(known: case-0, .*, …\)$"):
        cases_called(many, "zzz")


# --- text


def test_a_case_as_text() -> None:
    index = index_files({"a.txt": "user login user", "b.txt": "payment process", "docs/c.txt": "user"})
    case = make_case("user login", "b.txt", "docs/c.txt", "gone.txt", k=1)
    assert render_explanation_text(explain(index, case, "bm25", "hybrid")) == TEXT


# By hand: idf(user) = ln 1.6 and idf(login) = ln 8/3; the cosine of a.txt is 3 / sqrt(5 * 2), so half its
# confidence is 0.25 * 0.974342 + 0.2; docs/c.txt loses a fifth of 0.413388 + 0.491804.
TEXT = """\
CCE explain — one case in full (cce.relevance/v1)
  case    : q (set.jsonl:1)
  query   : user login
  k       : 1
  corpus  : src (3 chunks)
  embedder: hash

  anchors
     1  b.txt
        grade 1, matches 1 chunk
     2  docs/c.txt
        grade 1, matches 1 chunk
     3  gone.txt
        grade 1, matches no chunk: not there; did you mean 'b.txt' or 'a.txt'?

bm25: 0 of 3 anchors matched within k = 1
  score = sum over the terms of idf * 2.2 n / (n + 1.2 * (0.25 + 0.75 * length / mean length))
  idf = ln(1 + (N - c + 0.5) / (c + 0.5)) for a term in c of N chunks, n times in this one
  terms: user in 2 chunks (idf 0.470004), login in 1 chunk (idf 0.980829)

  rank     score  anchors  result
     1  1.380853  -        a.txt:1-1 (module)
        = user 0.566580 + login 0.814273

  missed anchors
     1  b.txt
        none of its chunks has a score above zero, so none is ranked
     2  docs/c.txt
        rank 2 of 2, 0.789991 behind rank 1: 0.590862 docs/c.txt:1-1 (module)
        = user 0.590862
     3  gone.txt
        matches no chunk, see above

hybrid: 0 of 3 anchors matched within k = 1
  score = confidence/2 + norm/2, a fifth less for paths of tests, docs and plans (penalty)
  confidence = vs/2 + 0.4 ks; vs = (1 + cosine) / 2; ks = 1 where a query word occurs, else 0.6
  norm = rrf / best rrf; rrf = 1 / (59 + vector rank) + 1 / (59 + keyword rank)
  candidates: the first 3 of vector and the first 3 of bm25; at most 3 of a file are kept
  graph: files that import one of the first 3 or are imported by it; score = 0.85 cosine

  rank     score  anchors  result
     1  0.943585  -        a.txt:1-1 (module)

  how the scores add up
  rank  vector  keyword       rrf    cosine        ks  confidence/2    norm/2   penalty     score
     1       1        1  0.033333  0.948683  1.000000      0.443585  0.500000  0.000000  0.943585

  missed anchors
  (candidates depend on k; ranks are those with k = 3, where every chunk is one)
     1  b.txt
        rank 3 of 3, 0.456650 behind rank 1: 0.486935 b.txt:1-1 (module)
        at k = 1 it was a candidate, behind the last hit
     2  docs/c.txt
        rank 2 of 3, 0.219432 behind rank 1: 0.724153 docs/c.txt:1-1 (module)
        at k = 1 it was a candidate, behind the last hit
     3  gone.txt
        matches no chunk, see above

  how the scores add up
  anchor  vector  keyword       rrf    cosine        ks  confidence/2    norm/2    penalty     score
       1       3        -  0.016129  0.000000  0.600000      0.245000  0.241935   0.000000  0.486935
       2       2        2  0.032787  0.707107  1.000000      0.413388  0.491804  -0.181039  0.724153
"""


def test_no_line_is_wider_than_100_columns_and_none_moves_the_cursor() -> None:
    words = " ".join(f"word{n}" for n in range(60))
    index = index_files({f"{n}/module.py": f"def f(): {words}\n" for n in range(9)})
    case = make_case(words, "8/module.py", "x.py\x1b[2J", k=3)
    case = Case(case.id, "word1 word2 \x1b[1m" + words[:60], case.anchors, case.k, case.line, note="a\nb")
    text = render_explanation_text(explain(index, case, "bm25", "vector", "hybrid", "bm25-plus"))
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b" not in text


def test_many_anchors_and_many_cuts_are_abridged_in_text() -> None:
    index = index_chunks(
        [make_chunk("a.py", "alpha", line, identity=f"{line:016x}") for line in range(1, 30)]
    )
    text = render_explanation_text(explain(index, make_case("alpha", *["a.py"] * 9, k=8), "hybrid"))
    assert "  1,2,3,4,5,…  a.py:1-1 (function_definition)\n" in text
    assert "\n        … 11 more\n" in text, "24 candidates, three kept, ten shown"
