from __future__ import annotations

from types import MappingProxyType

from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.anchor import parse_anchor
from cce.domain.case import Case
from cce.domain.ranking import Chunk, Hit, Ranking
from cce.measurement.matching.matches import CaseMatch, match_case

FUNCTION = "function_definition"
CLASS = "class_definition"


def case(*expected: str, k: int = 10, grades: dict[str, int] | None = None) -> Case:
    anchors = tuple(parse_anchor(text) for text in expected)
    return Case("q1", "a query", anchors, k, line=1, grades=MappingProxyType(grades or {}))


def hit(path: str, first: int = 1, last: int = 1, kind: str = FUNCTION) -> Hit:
    return Hit(Chunk(f"{path}:{first}", path, first, last, "function", kind, "python", b"", 1), 1.0)


def test_every_form_of_anchor_matches_what_it_names() -> None:
    labelled = case("a.py", f"a.py#{CLASS}", f"#{FUNCTION}", "a.py@3-5", f"a.py#{CLASS}@3-5")
    ranking = (hit("a.py", 5, 9), hit("a.py", 1, 9, CLASS), hit("b.py", 4, 4), hit("b.py", 4, 4, CLASS))
    assert match_case(labelled, ranking).matches == ((0, 2, 3), (0, 1, 3, 4), (2,), ())


def test_a_range_matches_from_its_first_to_its_last_line() -> None:
    labelled = case("a.py@10-20")
    spans = [(1, 9), (1, 10), (20, 30), (21, 30), (12, 13), (1, 99)]
    ranking = tuple(hit("a.py", first, last) for first, last in spans)
    assert match_case(labelled, ranking).matches == ((), (0,), (0,), (), (0,), (0,))


def test_a_short_range_behind_a_long_one_does_not_hide_it() -> None:
    labelled = case("a.py@2-3", "a.py@1-100", "a.py@50-51")
    assert match_case(labelled, (hit("a.py", 60, 61),)).matches == ((1,),)


def test_only_the_first_k_hits_are_judged() -> None:
    match = match_case(case("a.py", k=2), (hit("b.py"), hit("c.py"), hit("a.py")))
    assert match.matches == ((), ())


def test_fewer_hits_than_k_and_none_at_all_are_fine() -> None:
    assert match_case(case("a.py", k=10**30), (hit("a.py"),)) == CaseMatch(10**30, ((0,),), (1,))
    assert match_case(case("a.py", k=3), ()) == CaseMatch(3, (), (1,))


def test_duplicate_anchors_count_twice() -> None:
    match = match_case(case("a.py", "a.py", "b.py"), (hit("a.py"),))
    assert match.matches == ((0, 1),)
    assert match.n_anchors == 3


def test_an_anchor_without_a_grade_has_grade_one() -> None:
    assert match_case(case("a.py", "b.py@1-2", "c.py", grades={"b.py@1-2": 3}), ()).grades == (1, 3, 1)


def test_other_spellings_of_a_path_never_match() -> None:
    labelled = case("./a.py", "../a.py", "/a.py", "A.PY", "src\\a.py", "C#/a.py", "a.py@3-4#method")
    assert match_case(labelled, (hit("a.py", 1, 9), hit("C", kind=CLASS))).matches == ((), ())


def test_a_huge_range_costs_nothing() -> None:
    assert match_case(case("a.py@1-999999999999"), (hit("a.py", 7, 8),)).matches == ((0,),)


def test_ten_thousand_hits_and_a_thousand_anchors_meet_only_in_their_own_files() -> None:
    labelled = case(*(f"d{n}.py@{n + 1}-{n + 2}" for n in range(1000)), k=10_000)
    ranking = tuple(hit(f"d{n % 1000}.py", n % 1000 + 1, n % 1000 + 1) for n in range(10_000))
    assert match_case(labelled, ranking).matches == tuple((n % 1000,) for n in range(10_000))


PATHS = st.sampled_from(["a.py", "b.py", "c.py"])
KINDS = st.sampled_from([FUNCTION, CLASS])
SPANS = st.tuples(st.integers(1, 12), st.integers(0, 6)).map(lambda pair: (pair[0], sum(pair)))
RANGED = st.builds(lambda path, span: f"{path}@{span[0]}-{span[1]}", PATHS, SPANS)
RANGED_KIND = st.builds(lambda path, kind, span: f"{path}#{kind}@{span[0]}-{span[1]}", PATHS, KINDS, SPANS)
KIND = st.builds(lambda kind: f"#{kind}", KINDS)
PATH_KIND = st.builds(lambda path, kind: f"{path}#{kind}", PATHS, KINDS)
ANCHORS = st.lists(st.one_of(PATHS, KIND, PATH_KIND, RANGED, RANGED_KIND), min_size=1, max_size=12)
HITS = st.builds(lambda path, span, kind: hit(path, span[0], span[1], kind), PATHS, SPANS, KINDS)


@given(ANCHORS, st.lists(HITS, max_size=12).map(tuple), st.integers(1, 14))
@settings(deadline=None, max_examples=150)
def test_the_lookup_finds_what_trying_every_pair_finds(texts: list[str], ranking: Ranking, k: int) -> None:
    labelled = case(*texts, k=k)
    every_pair = tuple(
        tuple(n for n, anchor in enumerate(labelled.anchors) if anchor.matches(ranked.indexed))
        for ranked in ranking[:k]
    )
    assert match_case(labelled, ranking).matches == every_pair
