from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.case import FixtureSet
from cce.domain.outside import ScopeRequest
from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.domain.scope import Scope
from cce.errors import UsageError
from cce.measurement.fixtures.reading import parse_fixture_set
from cce.retrieval.backends.bm25 import Bm25Backend
from cce.retrieval.backends.catalog import BACKENDS
from cce.retrieval.backends.hybrid import HybridBackend
from cce.retrieval.corpus.rule_lines import rule_of
from cce.retrieval.corpus.scopes import ScopedFiles
from cce.retrieval.indexing.index import Index
from cce.usecases.bench import BenchmarkPlan, run_benchmark
from cce.usecases.corpora import CorpusChoice
from cce.usecases.evaluate import Plan, evaluate
from cce.usecases.explain import ExplainPlan, run_explain
from cce.usecases.scopes import CaseScopes
from corpora import index_chunks, index_texts, make_chunk, paths, plain_hybrid, scored, unwatched
from trees import plant

FILES = ("a.py", "archive/old.py", "lib/gen/x.generated.js", "lib/x.js", "lib/x.md")


def held(include: list[str] | None, *exclude: str) -> list[str]:
    scope = Scope("s", None if include is None else tuple(include), exclude)
    return list(filter(ScopedFiles([scope]).holds, FILES))


# --- what a scope holds


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        (None, [], [*FILES]),
        ([], [], []),
        (["**"], [], [*FILES]),
        (None, ["archive/**", "**/*.generated.*"], ["a.py", "lib/x.js", "lib/x.md"]),
        (["lib/"], [], ["lib/gen/x.generated.js", "lib/x.js", "lib/x.md"]),
        (["lib/**"], ["gen/"], ["lib/x.js", "lib/x.md"]),
        (["/*.py"], [], ["a.py"]),
        (["*.py"], [], ["a.py", "archive/old.py"]),
        (["*.py", "!archive/*.py"], [], ["a.py"]),
        (None, ["*.js", "!lib/x.js"], ["a.py", "archive/old.py", "lib/x.js", "lib/x.md"]),
        (["A.PY"], [], []),
        (["[ab].py"], [], ["a.py"]),
        (["# a.py", "", "  "], [], []),
        (["lib/x.js "], [], ["lib/x.js"]),
        (["a["], [], []),
        (None, ["a["], [*FILES]),
        (["**"], ["**"], []),
    ],
)
def test_a_scope_holds_what_include_matches_and_exclude_does_not(
    include: list[str] | None, exclude: list[str], expected: list[str]
) -> None:
    assert held(include, *exclude) == expected


def test_a_path_is_held_by_the_patterns_whether_or_not_there_is_such_a_file() -> None:
    files = ScopedFiles([Scope("s", ("src/**",))])
    assert files.holds("src/never/was.py")
    assert not files.holds("lib/never/was.py")


def test_a_backslash_is_a_character_of_a_name() -> None:
    assert not ScopedFiles([Scope("s", ("src/**",))]).holds("src\\a.py")


def test_two_scopes_hold_what_both_do() -> None:
    files = ScopedFiles([Scope("s", ("lib/**",)), Scope("t", None, ("*.md",))])
    assert list(filter(files.holds, FILES)) == ["lib/gen/x.generated.js", "lib/x.js"]
    assert not any(map(ScopedFiles([Scope("s"), Scope("none", ())]).holds, FILES))


def test_allowed_are_the_chunks_of_files_that_are_held() -> None:
    by_file = {"a.py": [0, 1], "b.py": [2], "lib/c.py": [3, 4]}
    assert ScopedFiles([Scope("s", ("/*.py",), ("b.py",))]).positions(by_file) == {0, 1}
    assert ScopedFiles([Scope("s", ())]).positions(by_file) == frozenset()


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("!", "no pattern, write one as in a .gitignore file"),
        ("a\\", "no pattern, write one as in a .gitignore file"),
        ("[z-a]", "no pattern, write one as in a .gitignore file"),
        ("[[:alpha:]]", "no [:class:] and no backslash is read between brackets"),
        ("x[\\]]", "no [:class:] and no backslash is read between brackets"),
        ("a\nb", "a pattern is one line"),
        ("a\x00", "a pattern is one line"),
    ],
)
def test_a_pattern_that_cannot_be_read_is_an_error_that_names_it(pattern: str, fault: str) -> None:
    for scope in (Scope("s", (pattern,)), Scope("s", None, (pattern,))):
        with pytest.raises(UsageError) as caught:
            ScopedFiles([scope])
        shown = pattern.replace("\n", "\\n").replace("\x00", "\\x00")
        assert str(caught.value) == f"scope 's': pattern '{shown}': {fault}"


# --- notices


def test_patterns_that_match_no_file_are_named_once() -> None:
    scope = Scope("current", ("*.py", "src/**"), ("archiv/", "*.md", "archiv/", "# archiv", ""))
    assert ScopedFiles([scope]).notices(FILES) == [
        "scope 'current': patterns that match no file of the corpus: 'src/**', 'archiv/'"
    ]


def test_a_negated_pattern_matches_the_files_that_it_takes_back() -> None:
    assert ScopedFiles([Scope("s", ("**", "!*.md"))]).notices(FILES) == []
    assert ScopedFiles([Scope("s", ("**", "!*.txt"))]).notices(FILES) == [
        "scope 's': patterns that match no file of the corpus: '!*.txt'"
    ]


def test_a_bracket_that_nothing_closes_is_named_as_that() -> None:
    assert ScopedFiles([Scope("s", None, ("a[", "x[!.py", "\\[x"))]).notices(("[x", "a.py")) == [
        "scope 's': patterns with a '[' that nothing closes, which match nothing: 'a[', 'x[!.py'"
    ]


def test_at_most_five_patterns_are_shown() -> None:
    scope = Scope("s", None, tuple(f"{n}.md" for n in range(7)))
    (notice,) = ScopedFiles([scope]).notices(FILES)
    assert notice.endswith(": '0.md', '1.md', '2.md', '3.md', '4.md', … 2 more")


def test_every_scope_has_its_own_notices() -> None:
    files = ScopedFiles([Scope("s", ("*.c",)), Scope("t", None, ("*.h",)), Scope("s", ("*.c",))])
    assert [notice[:9] for notice in files.notices(FILES)] == ["scope 's'", "scope 't'"]


# --- what travels to a system


def test_one_scope_travels_as_it_is() -> None:
    scope = Scope("current", ("lib/**",), ("*.md",))
    assert ScopedFiles([scope]).request(FILES) == ScopeRequest("current", None, ("lib/**",), ("*.md",))
    assert ScopedFiles([scope, scope]).request(None, "kestrel").tenant == "kestrel"
    assert ScopedFiles([Scope("none", ())]).request(FILES).include == ()


def test_two_scopes_travel_as_one_where_their_patterns_can_be_joined() -> None:
    scopes = [Scope("s", ("lib/**",), ("*.md",)), Scope("t", None, ("gen/",))]
    assert ScopedFiles(scopes).request(FILES) == ScopeRequest(None, None, ("lib/**",), ("*.md", "gen/"))


def test_two_scopes_whose_patterns_cannot_be_joined_travel_as_their_files() -> None:
    both_include = [Scope("s", ("lib/**",)), Scope("t", ("*.js", "a.py"))]
    expected = ("/lib/gen/x.generated.js", "/lib/x.js")
    assert ScopedFiles(both_include).request(FILES) == ScopeRequest(None, None, expected, ())
    takes_back = [Scope("s", None, ("lib/",)), Scope("t", None, ("*.md", "!lib/x.md"))]
    assert ScopedFiles(takes_back).request(FILES).include == ("/a.py", "/archive/old.py")
    assert ScopedFiles(both_include).request(None) == ScopeRequest("t", None, ("*.js", "a.py"), ())


_NAMES = st.text("ab*?[]!# \\.", min_size=1, max_size=5).filter(lambda name: name not in (".", ".."))


@given(st.lists(_NAMES, min_size=1, max_size=6, unique=True), st.data())
def test_files_that_travel_by_name_are_exactly_these(names: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.frozensets(st.sampled_from(names)))
    request = ScopeRequest(None, None, tuple(map(rule_of, sorted(chosen))), ())
    files = ScopedFiles([Scope("sent", request.include)])
    assert set(filter(files.holds, names)) == chosen


# --- before the ranking: every list is filtered before it is cut


WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "a.py"]), max_size=4).map(" ".join)
PLACES = st.sampled_from(["lib/a.py", "lib/b.py", "old/c.py", "old/test_d.py", "e.py"])


@st.composite
def indexes(draw: st.DrawFn) -> Index:
    """Chunks of some files, in path order, whose files import each other."""
    chunks = []
    for path in sorted(draw(st.frozensets(PLACES, min_size=1))):
        texts = draw(st.lists(WORDS, min_size=1, max_size=5))
        chunks += [make_chunk(path, text, line) for line, text in enumerate(texts, start=1)]
    names = st.lists(st.sampled_from("abce"), max_size=2).map(tuple)
    return index_chunks(chunks, {chunk.file_path: draw(names) for chunk in chunks})


SCOPES = st.sampled_from(
    [
        Scope("all"),
        Scope("none", ()),
        Scope("lib", ("lib/",)),
        Scope("new", None, ("old/",)),
        Scope("one", ("old/test_d.py",)),
    ]
)


@settings(deadline=None, max_examples=200)
@given(indexes(), SCOPES, WORDS, st.integers(1, 4))
@pytest.mark.parametrize("name", [name for name in BACKENDS.names() if name != "hybrid"])
def test_a_filtered_ranking_is_the_whole_one_without_what_is_outside(
    name: str, index: Index, scope: Scope, query: str, k: int
) -> None:
    files = ScopedFiles([scope])
    backend = BACKENDS.load(name)(index)
    allowed = files.positions(index.positions_by_file)
    everything = backend.rank(Query(query), len(index.chunks))
    assert backend.rank(Query(query, allowed), k) == files.within(everything)[:k]


@settings(deadline=None, max_examples=400)
@given(indexes(), SCOPES, WORDS, st.integers(1, 4), st.booleans())
def test_hybrid_filters_both_lists_and_the_graph_before_it_cuts_them(
    index: Index, scope: Scope, query: str, k: int, use_graph: bool
) -> None:
    files = ScopedFiles([scope])
    allowed = files.positions(index.positions_by_file)
    found = HybridBackend(index).search(Query(query, allowed), k, use_graph=use_graph)
    assert scored(found) == plain_hybrid(index, query, k, use_graph=use_graph, allowed=files.holds)
    assert all(files.holds(path) for path in paths(found))


def test_idf_and_mean_length_stay_those_of_the_whole_index() -> None:
    index = index_texts("alpha beta", "alpha", "gamma gamma gamma")
    files = ScopedFiles([Scope("s", ("0.txt",))])
    backend = Bm25Backend(index)
    whole = {hit.chunk.file_path: hit.score for hit in backend.rank(Query("alpha"), 3)}
    (hit,) = backend.rank(Query("alpha", files.positions(index.positions_by_file)), 3)
    assert hit.score == whole["0.txt"]


def test_before_finds_what_after_drops() -> None:
    # Three old copies stand above the current text: k = 3 filtered afterwards has nothing left.
    texts = {
        "archive/0.txt": "alpha",
        "archive/1.txt": "alpha",
        "archive/2.txt": "alpha",
        "new.txt": "alpha b c",
    }
    index = index_chunks([make_chunk(path, text) for path, text in texts.items()])
    files = ScopedFiles([Scope("current", None, ("archive/**",))])
    backend = Bm25Backend(index)
    before = backend.rank(Query("alpha", files.positions(index.positions_by_file)), 3)
    after: Ranking = files.within(backend.rank(Query("alpha"), 3))
    assert (paths(before), paths(after)) == (["new.txt"], [])


# --- scopes that cases name


def set_of(*scopes: str | None) -> FixtureSet:
    """One case per name, on lines 1, 2, ..."""
    lines = [
        {"query": "alpha", "expected": ["a.py"]} | ({} if scope is None else {"scope": scope})
        for scope in scopes
    ]
    return parse_fixture_set("\n".join(map(json.dumps, lines)).encode(), "set.jsonl")


LIB, NEW = Scope("lib", ("lib/",)), Scope("new", None, ("old/",))


def small_index() -> Index:
    return index_chunks([make_chunk(path, "alpha") for path in ("e.py", "lib/a.py", "lib/b.py", "old/c.py")])


def test_a_case_and_a_system_limit_together() -> None:
    fixtures = set_of(None, "new", "lib")
    scopes = CaseScopes({"lib": LIB, "new": NEW}, small_index(), "s.toml")

    def allowed(*others: Scope) -> list[list[int] | None]:
        found = [scopes.allowed(case, others) for case in fixtures.cases]
        return [None if positions is None else sorted(positions) for positions in found]

    assert allowed() == [None, [0, 1, 2], [1, 2]]
    assert allowed(NEW) == [[0, 1, 2], [0, 1, 2], [1, 2]]
    assert allowed(Scope("archive", ("old/",))) == [[3], [], []]


def test_only_scopes_in_use_are_looked_at_for_idle_patterns() -> None:
    fixtures = set_of("lib", None)
    idle = Scope("idle", ("nowhere/",))
    scopes = CaseScopes({"lib": LIB, "idle": idle}, small_index(), "s.toml")
    scopes.scoped(fixtures.cases)
    assert scopes.notices() == ()
    scopes.scoped(fixtures.cases, [idle])
    assert scopes.notices() == ("scope 'idle': patterns that match no file of the corpus: 'nowhere/'",)


@pytest.mark.parametrize(
    ("known", "path", "message"),
    [
        (
            {},
            None,
            "set.jsonl:2: scope 'nwe': a systems file defines it, name one with --systems FILE",
        ),
        (
            {"lib": LIB, "new": NEW},
            "s.toml",
            "set.jsonl:2: unknown scope 'nwe'; did you mean 'new'? (known: lib, new); s.toml defines them",
        ),
    ],
)
def test_an_unknown_scope_is_an_error_that_says_where_scopes_are(
    known: dict[str, Scope], path: str | None, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        CaseScopes(known, small_index(), path).require_known(set_of(None, "nwe"))
    assert str(caught.value) == message


def test_a_case_with_a_scope_is_explained_and_timed_within_it(tmp_path: Path) -> None:
    plant(tmp_path, {"corpus/a.py": "alpha", "set.jsonl": '{"query":"q","expected":["a.py"],"scope":"s"}'})
    corpus = CorpusChoice(str(tmp_path / "corpus"))
    path = str(tmp_path / "set.jsonl")
    for run in (
        partial(evaluate, Plan(path, ("bm25",), is_comparison=False, corpus=corpus)),
        partial(run_explain, ExplainPlan(path, "q1", ("bm25",), corpus)),
        partial(run_benchmark, BenchmarkPlan(path, ("bm25",), 1, corpus)),
    ):
        with pytest.raises(UsageError, match=r"set\.jsonl:1: scope 's': a systems file defines it"):
            run(unwatched)
