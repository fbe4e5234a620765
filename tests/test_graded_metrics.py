from __future__ import annotations

import math
from collections.abc import Iterable
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.anchor import parse_anchor
from cce.domain.case import Case
from cce.domain.ranking import Chunk, Hit
from cce.measurement.matching.ideals import IndexedChunks
from cce.measurement.matching.matches import CaseMatch, match_case
from cce.measurement.metrics.graded import average_precision, ndcg, ndcg_linear
from cce.measurement.metrics.ranked import recall
from cce.numerals import format_score


def indexed(chunks: Iterable[Chunk]) -> IndexedChunks:
    return IndexedChunks(enumerate(chunks))


FUNCTION, CLASS = "function_definition", "class_definition"


def chunk(path: str, first: int = 1, last: int = 1, kind: str = FUNCTION) -> Chunk:
    return Chunk(f"{path}:{first}-{last}:{kind}", path, first, last, "function", kind, "python", b"", 1)


def case(*expected: str, k: int = 10, grades: dict[str, int] | None = None) -> Case:
    anchors = tuple(parse_anchor(text) for text in expected)
    return Case("q1", "a query", anchors, k, line=1, grades=MappingProxyType(grades or {}))


def match(returned: tuple[int, ...], everything: tuple[int, ...], k: int) -> CaseMatch:
    """A match with one anchor per grade 1 to 3, so that a hit matches the anchor of its grade."""
    matches = tuple((grade - 1,) if grade else () for grade in returned[:k])
    return CaseMatch(k, matches, (1, 2, 3), tuple(sorted(everything, reverse=True))[:k])


# The figures of Burges' gain 2^grade - 1: grade 2 gains 3, grade 1 gains 1.
# DCG = 3 / log2(3) + 1 / log2(4) + 3 / log2(6) = 1.892789 + 0.5 + 1.160558 = 3.553347
# ideal = 3 / log2(2) + 3 / log2(3) + 1 / log2(4) = 3 + 1.892789 + 0.5 = 5.392789
QUOTED = match((0, 2, 1, 0, 2), (2, 2, 1), k=5)


def test_ndcg_of_the_quoted_ranking() -> None:
    assert ndcg(QUOTED) == pytest.approx(3.553347 / 5.392789, abs=1e-6)
    assert format_score(ndcg(QUOTED) or 0) == "0.658907"


def test_linear_ndcg_of_the_quoted_ranking() -> None:
    # (2/log2(3) + 1/2 + 2/log2(6)) / (2 + 2/log2(3) + 1/2)
    assert ndcg_linear(QUOTED) == pytest.approx(2.535565 / 3.761860, abs=1e-6)
    assert format_score(ndcg_linear(QUOTED) or 0) == "0.674019"


def test_average_precision_of_the_quoted_ranking() -> None:
    # relevant at ranks 2, 3 and 5: (1/2 + 2/3 + 3/5) / 3
    assert average_precision(QUOTED) == pytest.approx((1 / 2 + 2 / 3 + 3 / 5) / 3, abs=1e-15)


@pytest.mark.parametrize(("k", "expected"), [(1, 0.0), (2, 0.5), (5, 1.0)])
def test_recall_of_the_two_best_chunks_grows_with_k(k: int, expected: float) -> None:
    best = CaseMatch(k, ((), (0,), (), (), (1,))[:k], (2, 2))
    assert recall(best) == expected


@pytest.mark.parametrize(
    ("k", "of_ndcg", "of_ap"),
    [
        (1, 0.0, 0.0),
        (2, 1.892789 / (3 + 1.892789), (1 / 2) / 2),
        (3, (1.892789 + 0.5) / 5.392789, (1 / 2 + 2 / 3) / 3),
        (10, 3.553347 / 5.392789, (1 / 2 + 2 / 3 + 3 / 5) / 3),
    ],
)
def test_the_cut_applies_to_the_ideal_as_well(k: int, of_ndcg: float, of_ap: float) -> None:
    cut = match((0, 2, 1, 0, 2), (2, 2, 1), k)
    assert ndcg(cut) == pytest.approx(of_ndcg, abs=1e-6)
    assert average_precision(cut) == pytest.approx(of_ap, abs=1e-15)


def test_more_relevant_chunks_than_k_still_allow_a_perfect_figure() -> None:
    full = match((1, 1), (1,) * 50, k=2)
    assert (ndcg(full), ndcg_linear(full), average_precision(full)) == (1.0, 1.0, 1.0)


def test_a_case_without_a_relevant_chunk_in_the_index_is_undefined() -> None:
    lost = match((0, 0), (), k=5)
    assert (ndcg(lost), ndcg_linear(lost), average_precision(lost)) == (None, None, None)


def test_an_empty_ranking_is_defined_and_zero() -> None:
    nothing = match((), (3,), k=5)
    assert (ndcg(nothing), ndcg_linear(nothing), average_precision(nothing)) == (0.0, 0.0, 0.0)


def test_a_hit_has_the_highest_grade_among_the_anchors_it_matches() -> None:
    labelled = case("a.py", "a.py@1-3", "b.py", grades={"a.py@1-3": 3, "a.py": 2})
    ranking = tuple(Hit(each, 1.0) for each in (chunk("a.py", 1, 2), chunk("a.py", 9, 9), chunk("c.py")))
    assert match_case(labelled, ranking).hit_grades == (3, 2, 0)


def test_a_duplicate_anchor_does_not_raise_a_grade() -> None:
    assert match_case(case("a.py", "a.py"), (Hit(chunk("a.py"), 1.0),)).hit_grades == (1,)


def test_the_ideal_counts_chunks_and_the_anchors_that_match_none() -> None:
    index = indexed([chunk("a.py", 1, 2), chunk("a.py", 4, 5), chunk("b.py")])
    assert index.ideal(case("a.py", "a.py")) == (1, 1)
    gone = case("a.py", "a.py", "nowhere.py", "b.py@2-9", "#module", "nowhere.py", grades={"nowhere.py": 3})
    assert index.ideal(gone) == (3, 1, 1, 1, 1)


def test_an_answer_that_disappears_raises_no_figure() -> None:
    # a.txt at rank 2: 1 / log2(3) = 0.63 over the ideal 1 + 0.63, whether b.txt is there or gone.
    labelled, hits = case("a.txt", "b.txt"), (Hit(chunk("x.txt"), 1.0), Hit(chunk("a.txt"), 1.0))
    both = indexed([chunk("a.txt"), chunk("b.txt"), chunk("x.txt")])
    gone = indexed([chunk("a.txt"), chunk("x.txt")])
    for index in (both, gone):
        judged = match_case(labelled, hits, index.ideal(labelled))
        assert format_score(ndcg(judged) or 0) == "0.386853"
        assert format_score(ndcg_linear(judged) or 0) == "0.386853"
        assert average_precision(judged) == (1 / 2) / 2


def test_where_every_answer_is_gone_figures_are_zero() -> None:
    labelled = case("a.txt")
    judged = match_case(labelled, (), indexed([]).ideal(labelled))
    assert (ndcg(judged), ndcg_linear(judged), average_precision(judged)) == (0.0, 0.0, 0.0)


def test_an_allowed_set_leaves_the_rest_out_of_the_ideal() -> None:
    index = indexed([chunk("a.py", n, n) for n in range(1, 4)] + [chunk("b.py")])
    labelled = case("a.py", "b.py", grades={"b.py": 2})
    assert index.ideal(labelled) == (2, 1, 1, 1)
    within = index.within(frozenset({1, 2}))
    assert within.ideal(labelled) == (2, 1, 1)  # b.py is an anchor without a chunk now
    assert within.sharing_a_line("a.py", 1, 3) == [(1, chunk("a.py", 2, 2)), (2, chunk("a.py", 3, 3))]
    assert index.within(frozenset()).ideal(labelled) == (2, 1)


def test_a_whole_file_gains_the_best_of_its_chunks() -> None:
    index = indexed([chunk("a.py", 1, 1), chunk("a.py", 2, 2), chunk("b.py", 1, 1, CLASS), chunk("c.py")])
    labelled = case("a.py", "a.py@2-2", f"#{CLASS}", grades={"a.py@2-2": 3})
    assert index.whole_files(labelled) == (3, 1)
    assert index.whole_files(labelled._replace(k=1)) == (3,)


def test_the_ideal_is_best_first_and_cut_at_k() -> None:
    index = indexed([chunk("a.py", n, n) for n in range(1, 6)])
    labelled = case("a.py", "a.py@4-5", k=3, grades={"a.py@4-5": 2})
    assert index.ideal(labelled) == (2, 2, 1)


def test_a_kind_anywhere_and_a_named_file_overlap_without_counting_twice() -> None:
    index = indexed(
        [chunk("a.py", 1, 1, CLASS), chunk("a.py", 2, 2), chunk("b.py", 1, 1, CLASS), chunk("b.py", 2, 2)]
    )
    labelled = case("a.py", f"#{CLASS}", grades={f"#{CLASS}": 3})
    assert index.ideal(labelled) == (3, 3, 1)


def test_an_index_without_a_relevant_chunk_has_an_ideal_of_anchors() -> None:
    assert indexed([]).ideal(case("a.py", "#module", "a.py@1-9")) == (1, 1, 1)
    assert indexed([chunk("b.py")]).ideal(case("a.py", "b.py@2-3", "#module", k=2)) == (1, 1)


def test_a_cut_off_beyond_all_numbers_and_a_huge_range_cost_nothing() -> None:
    index = indexed([chunk("a.py", n, n) for n in range(1, 4)])
    assert index.ideal(case("a.py@2-999999999999", k=10**30)) == (1, 1)


PATHS = st.sampled_from(["a.py", "b.py", "c.py"])
KINDS = st.sampled_from([FUNCTION, CLASS])
SPANS = st.tuples(st.integers(1, 12), st.integers(0, 6)).map(lambda pair: (pair[0], sum(pair)))
RANGED = st.builds(lambda path, span: f"{path}@{span[0]}-{span[1]}", PATHS, SPANS)
RANGED_KIND = st.builds(lambda path, kind, span: f"{path}#{kind}@{span[0]}-{span[1]}", PATHS, KINDS, SPANS)
OF_KIND = st.builds(lambda kind: f"#{kind}", KINDS)
PATH_KIND = st.builds(lambda path, kind: f"{path}#{kind}", PATHS, KINDS)
ANCHORS = st.dictionaries(
    st.one_of(PATHS, OF_KIND, PATH_KIND, RANGED, RANGED_KIND), st.integers(1, 3), min_size=1, max_size=8
)
CHUNKS = st.lists(
    st.builds(lambda path, span, kind: chunk(path, span[0], span[1], kind), PATHS, SPANS, KINDS), max_size=14
)


@given(ANCHORS, CHUNKS, st.integers(1, 16))
@settings(deadline=None, max_examples=150)
def test_counting_by_file_and_kind_finds_what_judging_every_chunk_finds(
    grades: dict[str, int], chunks: list[Chunk], k: int
) -> None:
    labelled = case(*grades, k=k, grades=grades)
    everything = match_case(case(*grades, k=99, grades=grades), tuple(Hit(each, 1.0) for each in chunks))
    matched = set().union(*everything.matches)
    gone = [grade for at, grade in enumerate(everything.grades) if at not in matched]
    relevant = sorted([*(grade for grade in everything.hit_grades if grade), *gone], reverse=True)
    assert indexed(chunks).ideal(labelled) == tuple(relevant[:k])


GRADED_RUNS = st.tuples(
    st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 3), max_size=6), st.integers(1, 14)
)


def from_scratch(returned: list[int], elsewhere: list[int], k: int, *, linear: bool) -> float | None:
    """DCG over ideal DCG, written down a second time."""

    def gained(grade: int) -> float:
        return float(grade) if linear else 2.0**grade - 1.0

    everything = sorted(returned + elsewhere, reverse=True)
    ideal = math.fsum(gained(g) / math.log(n + 2, 2) for n, g in enumerate(everything) if n < k)
    reached = math.fsum(gained(g) / math.log(n + 2, 2) for n, g in enumerate(returned) if n < k)
    return reached / ideal if ideal else None


@given(GRADED_RUNS)
@settings(deadline=None, max_examples=150)
def test_ndcg_is_what_a_second_reading_of_its_definition_gives(run: tuple[list[int], list[int], int]) -> None:
    returned, elsewhere, k = run
    judged = match(tuple(returned), tuple(g for g in returned + elsewhere if g), k)
    for metric, linear in ((ndcg, False), (ndcg_linear, True)):
        expected = from_scratch(returned, elsewhere, k, linear=linear)
        figure = metric(judged)
        assert (figure is None) == (expected is None)
        assert figure is None or figure == pytest.approx(expected, abs=1e-12)
        assert figure is None or 0.0 <= figure <= 1.0


@given(GRADED_RUNS)
@settings(deadline=None, max_examples=100)
def test_trec_eval_agrees(run: tuple[list[int], list[int], int]) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="trec_eval's own figures need pytrec_eval")
    returned, elsewhere, k = run
    grades = {f"d{n}": grade for n, grade in enumerate(returned + elsewhere)}
    n_relevant = sum(1 for grade in grades.values() if grade)
    if not returned or not n_relevant:
        return  # trec_eval leaves a query without results out and calls the undefined 0
    scored = {f"d{n}": float(-n) for n in range(len(returned))}
    judged = match(tuple(returned), tuple(g for g in grades.values() if g), k)

    def of_trec(gains: dict[str, int], measure: str) -> float:
        evaluator = pytrec_eval.RelevanceEvaluator({"q": gains}, {f"{measure}.{k}"})
        return float(evaluator.evaluate({"q": scored})["q"][f"{measure}_{k}"])

    burges = {name: 2**grade - 1 for name, grade in grades.items()}
    assert ndcg_linear(judged) == pytest.approx(of_trec(grades, "ndcg_cut"), abs=1e-9)
    # trec_eval knows no other gain than the grade, so it is handed the gains as grades.
    assert ndcg(judged) == pytest.approx(of_trec(burges, "ndcg_cut"), abs=1e-9)
    # It divides by all relevant documents, even where only k could have been returned.
    reachable = of_trec(grades, "map_cut") * n_relevant / min(k, n_relevant)
    assert average_precision(judged) == pytest.approx(reachable, abs=1e-9)
