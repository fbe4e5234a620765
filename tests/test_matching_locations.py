from __future__ import annotations

import random
from collections.abc import Sequence
from types import MappingProxyType

import pytest

from cce.domain.anchor import parse_anchor
from cce.domain.case import Case, FixtureSet
from cce.domain.outside import OutsideResult, Question
from cce.domain.ranking import Chunk, Hit, Location, Ranking
from cce.measurement.matching.drilldown import LocationView, drill_down
from cce.measurement.matching.matcher import Matcher
from cce.measurement.matching.matches import CaseMatch, TokenScore
from cce.measurement.metrics.graded import average_precision, ndcg, ndcg_linear
from cce.measurement.metrics.ranked import f1, hit, precision_at_k, recall, reciprocal_rank
from cce.measurement.scoring import SetScorer
from cce.retrieval.external.door import Door
from corpora import index_chunks, line_weights

FUNCTION, CLASS = "function_definition", "class_definition"


def chunk(path: str, first: int, last: int, kind: str = FUNCTION, text: bytes = b"") -> Chunk:
    return Chunk(f"{path}:{first}-{last}:{kind}", path, first, last, "function", kind, "python", text, 1)


def case(*expected: str, k: int = 10, grades: dict[str, int] | None = None) -> Case:
    anchors = tuple(parse_anchor(text) for text in expected)
    return Case("q1", "a query", anchors, k, line=1, grades=MappingProxyType(grades or {}))


def at(path: str, first: int | None = None, last: int | None = None, kind: str | None = None) -> Location:
    return Location(path, first, last, kind)


def matched(
    labelled: Case,
    chunks: Sequence[Chunk] | None,
    *found: Chunk | Location,
    allowed: frozenset[int] | None = None,
) -> CaseMatch:
    matcher = Matcher(chunks, line_weights(chunks or ()))
    ranking = tuple(Hit(each, None) for each in found)
    return matcher.match(labelled, ranking, matcher.ideal(labelled, allowed), allowed)


# A class 1-20 with the methods 2-9 and 11-20; a function 25-30 behind it.
CHUNKS = [chunk("a.py", 1, 20, CLASS), chunk("a.py", 2, 9), chunk("a.py", 11, 20), chunk("a.py", 25, 30)]


def test_an_anchor_without_a_kind_matches_by_path_and_lines() -> None:
    labelled = case("a.py", "a.py@5-6", "a.py@22-23", "b.py")
    match = matched(labelled, CHUNKS, at("a.py", 6, 7), at("a.py", 23, 23), at("a.py"), at("c.py", 1, 99))
    assert match.matches == ((0, 1), (0, 2), (0, 1, 2), ())


def test_an_anchor_with_a_kind_matches_through_a_chunk_of_that_kind() -> None:
    labelled = case(f"a.py#{CLASS}", f"#{FUNCTION}", f"a.py#{FUNCTION}@2-9", "a.py#module")
    # 1: the class alone. 10: between the methods. 21-24: no chunk. 19-26: two functions.
    found = (at("a.py", 1, 1), at("a.py", 10, 10), at("a.py", 21, 24), at("a.py", 19, 26), at("a.py", 9, 9))
    assert matched(labelled, CHUNKS, *found).matches == ((0,), (0,), (), (0, 1), (0, 1, 2))


def test_an_anchor_with_kind_and_lines_asks_for_both() -> None:
    # Line 3 lies in the method 2-9, which overlaps 8-9, but line 3 does not.
    labelled = case(f"a.py#{FUNCTION}@8-9")
    assert matched(labelled, CHUNKS, at("a.py", 3, 3), at("a.py", 8, 8)).matches == ((), (0,))


def test_a_kind_that_a_system_says_matches_nothing_where_there_is_a_corpus() -> None:
    assert matched(case("#module"), CHUNKS, at("a.py", 1, 2, "module")).matches == ((),)


def test_what_is_outside_of_the_corpus_matches_nothing() -> None:
    outside = Location("a.py", 1, 9, is_outside=True)
    assert matched(case("a.py", f"#{CLASS}"), CHUNKS, outside).matches == ((),)


def test_many_lines_of_one_function_gain_it_once() -> None:
    match = matched(case("a.py@25-30"), CHUNKS, *(at("a.py", line, line) for line in (25, 26, 27)))
    assert match.gains == (1, 0, 0)
    assert (ndcg(match), average_precision(match), precision_at_k(match)) == (1.0, 1.0, 0.3)


def test_a_location_gains_the_best_chunk_that_is_left() -> None:
    labelled = case("a.py", f"a.py#{FUNCTION}@11-20", grades={f"a.py#{FUNCTION}@11-20": 3})
    # The file has four relevant chunks: the second method has grade 3, the class, the first method and
    # the function behind have grade 1.
    match = matched(
        labelled, CHUNKS, at("a.py"), at("a.py", 12, 12), CHUNKS[2], at("a.py", 22, 22), CHUNKS[3]
    )
    assert match.matches == ((0, 1), (0, 1), (0, 1), (0,), (0,))
    assert match.gains == (3, 1, 0, 0, 1)
    assert match.ideal == (3, 1, 1, 1)


def test_ties_go_to_the_first_chunk_in_index_order() -> None:
    # The class is gained by the first line, so the class itself gains nothing and its methods still do.
    match = matched(case("a.py"), CHUNKS, at("a.py", 2, 2), CHUNKS[0], CHUNKS[1])
    assert match.gains == (1, 0, 1)


def test_a_location_that_misses_the_lines_of_the_anchor_gains_nothing() -> None:
    match = matched(case("a.py@8-9"), CHUNKS, at("a.py", 3, 3))
    assert (match.matches, match.gains) == (((),), (0,))


def test_a_line_in_no_chunk_is_relevant_and_gains_nothing() -> None:
    match = matched(case("a.py@22-23"), CHUNKS, at("a.py", 22, 22))
    assert (hit(match), recall(match), match.gains, match.ideal) == (1.0, 1.0, (0,), (1,))
    assert (ndcg(match), average_precision(match)) == (0.0, 0.0)


def test_only_allowed_chunks_are_gained() -> None:
    match = matched(case("a.py"), CHUNKS, at("a.py"), at("a.py"), allowed=frozenset({1}))
    assert (match.gains, match.ideal) == ((1, 0), (1,))


def test_equal_chunks_are_gained_one_by_one() -> None:
    twins = [chunk("a.rs", 1, 1), chunk("a.rs", 1, 1)]
    match = matched(case("a.rs"), twins, *twins, at("a.rs"))
    assert (match.gains, match.ideal) == ((1, 1, 0), (1, 1))


def test_lines_of_a_location_weigh_what_the_corpus_says_and_one_outside_of_chunks() -> None:
    # Lines 1 and 2 weigh 2 each. Retrieved: 2-4, which weighs 2 + 1 + 1; expected: 1-2.
    indexed = [chunk("a.py", 1, 2, text=b"12345678\n12345678")]
    match = matched(case("a.py@1-2"), indexed, at("a.py", 2, 4))
    assert match.tokens == TokenScore(precision=2 / 4, recall=2 / 4, iou=2 / 6)


def test_lines_outside_of_the_corpus_weigh_one_each() -> None:
    outside = Location("x.py", 1, 3, is_outside=True)
    match = matched(case("a.py@1-1"), [chunk("a.py", 1, 1)], outside, at("a.py", 1, 1))
    assert match.tokens == TokenScore(precision=1 / 4, recall=1.0, iou=1 / 4)


def test_without_a_corpus_each_anchor_is_gained_once_and_the_best_first() -> None:
    labelled = case("a.py@1-5", "a.py@10-15", "b.py", grades={"a.py@10-15": 3, "b.py": 2})
    match = matched(labelled, None, at("a.py"), at("a.py", 11, 11), at("a.py", 4, 4), at("b.py"), at("b.py"))
    assert match.matches == ((0, 1), (1,), (0,), (2,), (2,))
    assert match.gains == (3, 0, 1, 2, 0)
    assert match.ideal == (3, 2, 1)


def test_without_a_corpus_equal_anchors_are_one_unit() -> None:
    match = matched(case("a.py", "a.py", "b.py"), None, at("a.py"), at("b.py"))
    assert (match.gains, match.ideal, ndcg(match), recall(match)) == ((1, 1), (1, 1), 1.0, 1.0)


def test_without_a_corpus_a_kind_matches_only_a_result_that_gives_it() -> None:
    labelled = case(f"a.py#{FUNCTION}", f"#{CLASS}", f"a.py#{FUNCTION}@3-4")
    found = (at("a.py", 1, 2, FUNCTION), at("a.py", 1, 2), at("x.py", kind=CLASS), at("a.py", 4, 4, FUNCTION))
    assert matched(labelled, None, *found).matches == ((0,), (), (1,), (0, 2))


def test_without_a_corpus_a_line_weighs_one_and_unknown_lines_leave_the_token_figures_out() -> None:
    labelled = case("a.py@1-2")
    assert matched(labelled, None, at("a.py", 2, 4)).tokens == TokenScore(1 / 3, 1 / 2, 1 / 4)
    whole = matched(labelled, None, at("a.py"))
    assert (whole.matches, whole.tokens) == (((0,),), None)


def test_a_set_is_scored_without_a_corpus() -> None:
    cases = (case("a.py@1-2"), case("b.py", grades={"b.py": 2})._replace(id="q2"))
    scorer = SetScorer(FixtureSet("s.jsonl", None, cases), None, ("ndcg", "ap"), line_weights([]))
    rankings: list[Ranking] = [(Hit(at("a.py"), 1.0),), (Hit(at("x"), 1.0), Hit(at("b.py"), 0.5))]
    score = scorer.score("mine", rankings)
    assert score.columns["mrr"] == (1.0, 0.5)
    assert score.columns["ap"] == (1.0, 0.5)
    assert score.columns["token_iou"] == (None, None)
    assert score.n_ranged == 0
    assert scorer.most_ndcg_of_whole_files() is None


def test_whole_files_cannot_reach_more_than_their_best_chunks() -> None:
    # Two relevant functions in one file: 1 of (1 + 1/log2(3)); one in its own file: all.
    chunks = [chunk("a.py", 1, 2), chunk("a.py", 4, 5), chunk("b.py", 1, 2)]
    cases = (case("a.py"), case("b.py")._replace(id="q2"))
    scorer = SetScorer(FixtureSet("s.jsonl", None, cases), chunks, (), line_weights([]))
    assert scorer.most_ndcg_of_whole_files() == pytest.approx((1 / (1 + 0.63093) + 1) / 2, abs=1e-5)


def test_a_page_shows_the_lines_of_the_corpus_or_else_the_text_of_the_system() -> None:
    matcher = Matcher(CHUNKS, line_weights([]))
    view = LocationView(matcher, lambda path, first, last: f"{path} {first} to {last}\n".encode())
    found = Location("a.py", 3, 99, "said", likeness=CLASS)
    hits = (Hit(found, None), Hit(Location("x.py", text="its text", is_outside=True), 2.0))
    [shown] = drill_down((case("a.py@3-4"),), {"mine": [hits]}, view)
    first, second = shown.rankings[0].hits
    assert (first.kind, first.score, first.matches, first.opening) == (CLASS, None, (0,), "a.py 3 to 7")
    assert (second.path, second.first_line, second.kind) == ("x.py", None, "-")


def test_a_page_of_outside_text_shows_it() -> None:
    hits = (Hit(Location("x.py", text="its text", is_outside=True), 2.0),)
    [shown] = drill_down((case("a.py"),), {"mine": [hits]})
    assert shown.rankings[0].hits[0].opening == "its text"


def _random_place(dice: random.Random) -> tuple[str, int, int, str]:
    first = dice.randint(1, 12)
    return dice.choice("ab"), first, first + dice.randint(0, 6), dice.choice((FUNCTION, CLASS))


def _random_anchor(dice: random.Random) -> str:
    path, first, last, kind = _random_place(dice)
    forms = (path, f"{path}#{kind}", f"#{kind}", f"{path}@{first}-{last}", f"{path}#{kind}@{first}-{last}")
    return dice.choice(forms)


def _random_result(dice: random.Random) -> OutsideResult:
    path, first, last, kind = _random_place(dice)
    if dice.random() < 0.1:
        path = "outside"
    said = kind if dice.random() < 0.3 else None
    return OutsideResult(path, kind=said) if dice.random() < 0.2 else OutsideResult(path, first, last, said)


@pytest.mark.process  # 50,000 cases take longer than a second
@pytest.mark.parametrize("has_corpus", [True, False])
def test_no_figure_exceeds_one_whatever_a_system_returns(has_corpus: bool) -> None:
    dice = random.Random(16)
    n_gained = 0
    for _ in range(1_000):
        index = index_chunks([chunk(*_random_place(dice)) for _ in range(dice.randint(0, 8))])
        matcher = Matcher(index.chunks if has_corpus else None, line_weights(index.chunks))
        door = Door(index if has_corpus else None, "mine", labelled=["a", "b"])
        allowed = frozenset(n for n in range(len(index.chunks)) if dice.random() < 0.8)
        within = allowed if has_corpus and dice.random() < 0.3 else None
        for _ in range(25):
            anchors = dict.fromkeys(_random_anchor(dice) for _ in range(dice.randint(1, 4)))
            labelled = case(*anchors, k=dice.randint(1, 8), grades={a: dice.randint(1, 3) for a in anchors})
            found = [_random_result(dice) for _ in range(dice.randint(0, 9))]
            ranking = door.ranking(Question("q1", "a query", labelled.k), found, within)
            match = matcher.match(labelled, ranking, matcher.ideal(labelled, within), within)
            n_gained += _check_laws(match)
    assert n_gained > 10_000


def _check_laws(match: CaseMatch) -> int:
    """No figure is above 1, and what is gained is part of the ideal; the number of hits that gain."""
    figures = [metric(match) for metric in (ndcg, ndcg_linear, average_precision)]
    figures += [metric(match) for metric in (precision_at_k, recall, reciprocal_rank, f1, hit)]
    figures += match.tokens or ()
    assert all(figure is not None and 0.0 <= figure <= 1.0 + 1e-12 for figure in figures), match
    gains = sorted((gain for gain in match.gains if gain), reverse=True)
    assert len(gains) <= len(match.ideal), match
    assert all(gain <= unit for gain, unit in zip(gains, match.ideal, strict=False)), match
    assert all(found for found, gain in zip(match.matches, match.gains, strict=True) if gain), match
    return len(gains)
