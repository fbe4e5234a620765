from __future__ import annotations

import json

import pytest

from cce.domain.case import FixtureSet
from cce.domain.ranking import Chunk, Hit, Location, Ranking
from cce.domain.scope import Scope
from cce.domain.scores import METRICS, BackendScore
from cce.measurement.fixtures.reading import parse_fixture_set
from cce.measurement.matching.scoping import scope_notice
from cce.measurement.scoring import SetScorer
from cce.numerals import format_score
from cce.usecases.scopes import CaseScopes
from corpora import index_chunks, line_weights, make_chunk

# Two functions in a.py, and an old copy of the first.
FIRST, SECOND = make_chunk("a.py", "def f(): pass", 1), make_chunk("a.py", "def g(): pass", 3)
B = make_chunk("b.py", "def h(): pass")
OLD = make_chunk("old/a.py", "def f(): pass")
CHUNKS = (FIRST, SECOND, B, OLD)
CURRENT = Scope("current", None, ("old/",))
ALL = ("ndcg", "ap", "hit")


def set_of(*expected: list[str], k: int = 2) -> FixtureSet:
    """One case per list of anchors, with the ids c1, c2, ..."""
    lines = [
        json.dumps({"id": f"c{n}", "query": "q", "expected": anchors, "k": k})
        for n, anchors in enumerate(expected, start=1)
    ]
    return parse_fixture_set("\n".join(lines).encode(), "set.jsonl")


def ranking(*found: Chunk | Location) -> Ranking:
    return tuple(Hit(each, 1.0) for each in found)


def score(fixtures: FixtureSet, *rankings: Ranking, scope: Scope | None = CURRENT) -> BackendScore:
    scorer = SetScorer(fixtures, CHUNKS, ALL, line_weights(CHUNKS))
    others = [] if scope is None else [scope]
    scoped = CaseScopes({}, index_chunks(CHUNKS)).scoped(fixtures.cases, others)
    return scorer.score("mine", rankings, None, scoped)


def figures(score: BackendScore, case: int = 0) -> dict[str, str | None]:
    found = score.case(case).figures
    return {name: None if value is None else format_score(value) for name, value in found.items()}


def test_an_anchor_outside_the_scope_leaves_recall_and_ideal() -> None:
    # In scope: the two chunks of a.py. Returned: one of them, and b.py.
    # recall 1/1; ndcg 1 / (1 + 1/log2 3); ap (1/1) / 2
    found = score(set_of(["a.py", "old/a.py"]), ranking(FIRST, B))
    expected = {"recall": "1.000000", "ndcg": "0.613147", "ap": "0.500000"}
    assert expected.items() <= figures(found).items()
    # Without the scope the old copy is a third relevant chunk and a second anchor; k = 2 cuts the ideal.
    whole = score(set_of(["a.py", "old/a.py"]), ranking(FIRST, B), scope=None)
    assert {"recall": "0.500000", "ndcg": "0.613147", "ap": "0.500000"}.items() <= figures(whole).items()
    # With k = 3 it counts: ap 1/2 in the scope, 1/3 without it.
    deep = set_of(["a.py", "old/a.py"], k=3)
    assert figures(score(deep, ranking(FIRST, B)))["ap"] == "0.500000"
    assert figures(score(deep, ranking(FIRST, B), scope=None))["ap"] == "0.333333"


def test_outside_is_what_the_patterns_say_whether_or_not_there_is_such_a_file() -> None:
    # old/gone.py leaves; gone.py is an answer that disappeared, and stays in recall and in the ideal.
    left = score(set_of(["b.py", "old/gone.py"]), ranking(B))
    assert (figures(left)["recall"], figures(left)["ndcg"]) == ("1.000000", "1.000000")
    lost = score(set_of(["b.py", "gone.py"]), ranking(B))
    assert (figures(lost)["recall"], figures(lost)["ndcg"]) == ("0.500000", "0.613147")


def test_an_anchor_without_a_path_never_leaves_but_its_chunks_outside_do() -> None:
    # Four functions, three of them in the scope: with k = 4 ap is (1/1 + 2/2 + 3/3) / 3.
    everything = set_of(["#function_definition"], k=4)
    assert figures(score(everything, ranking(FIRST, SECOND, B)))["ap"] == "1.000000"
    assert figures(score(everything, ranking(FIRST, SECOND, B), scope=None))["ap"] == "0.750000"
    # Where the scope has no such chunk the anchor is one unit that nothing can gain.
    none = score(everything, (), scope=Scope("none", ()))
    assert {"recall": "0.000000", "ndcg": "0.000000", "hit": "0.000000"}.items() <= figures(none).items()


def test_a_case_without_an_anchor_left_scores_0_in_the_report_and_in_nothing_else() -> None:
    fixtures = set_of(["old/a.py@1-1"], ["b.py@1-1"])
    found = score(fixtures, ranking(FIRST), ranking(B))
    assert figures(found, 0) == {
        **dict.fromkeys(METRICS, "0.000000"),
        **dict.fromkeys(("token_precision", "token_recall", "token_iou", *ALL)),
    }
    assert found.first_relevant_ranks == (None, 1)
    # 1/2 of the two cases in the four figures; the others are means over the one that has an anchor.
    assert found.means["recall"] == 0.5
    assert [found.means[name] for name in ("hit", "ndcg", "token_iou")] == [1.0, 1.0, 1.0]


def test_lines_outside_the_scope_are_not_expected() -> None:
    # b.py has one line of 13 bytes: it weighs 3 tokens, as does the old copy's.
    fixtures = set_of(["b.py@1-1", "old/a.py@1-1"])
    assert figures(score(fixtures, ranking(B)))["token_recall"] == "1.000000"
    assert figures(score(fixtures, ranking(B), scope=None))["token_recall"] == "0.500000"


def test_a_location_gains_a_chunk_of_the_scope_only() -> None:
    # Lines of b.py match its anchor; lines of the old copy have nothing to gain.
    fixtures = set_of(["#function_definition"], k=1)
    inside = score(fixtures, ranking(Location("b.py", 1, 1)))
    outside = score(fixtures, ranking(Location("old/a.py", 1, 1)))
    assert (figures(inside)["ndcg"], figures(outside)["ndcg"]) == ("1.000000", "0.000000")


def test_grades_stay_with_their_anchors() -> None:
    line = {"query": "q", "expected": ["old/a.py", "b.py", "a.py@1-1"], "grades": {"b.py": 2}, "k": 2}
    fixtures = parse_fixture_set(json.dumps(line).encode(), "set.jsonl")
    # Gains 1 and 3 where the ideal is 3 and 1: (1 + 3/log2 3) / (3 + 1/log2 3) = 0.796708
    assert figures(score(fixtures, ranking(FIRST, B)))["ndcg"] == "0.796708"


def test_without_a_scope_nothing_changes() -> None:
    fixtures = set_of(["a.py", "old/a.py"], ["gone.py"])
    scoped = CaseScopes({}, index_chunks(CHUNKS)).scoped(fixtures.cases)
    assert scoped is None
    everything = score(fixtures, ranking(FIRST), ranking(OLD), scope=Scope("everything"))
    assert everything == score(fixtures, ranking(FIRST), ranking(OLD), scope=None)


@pytest.mark.parametrize(
    ("expected", "notice"),
    [
        ([["a.py"]], None),
        (
            [["old/a.py"], ["a.py"]],
            "mine: 1 case has no anchor in the scope: c1; "
            "scores 0 in P@k, recall, MRR and F1, and is left out of all other metrics",
        ),
        (
            [["old/a.py"]] * 7,
            "mine: 7 cases have no anchor in the scope: c1, c2, c3, c4, c5, …; "
            "score 0 in P@k, recall, MRR and F1, and are left out of all other metrics",
        ),
    ],
)
def test_cases_without_an_anchor_left_are_counted_in_a_notice(
    expected: list[list[str]], notice: str | None
) -> None:
    cases = set_of(*expected).cases
    scoped = CaseScopes({}, index_chunks(CHUNKS)).scoped(cases, [CURRENT])
    assert scoped is not None
    assert scope_notice("mine", scoped) == notice
