"""What a page says of a missed anchor: its text, and the rank that it would have had."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cce.domain.case import FixtureSet
from cce.domain.drilldown import ShownMiss
from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.domain.scope import Scope
from cce.domain.systems import RunFile, SystemsFile, SystemTable, Variant
from cce.measurement.fixtures.reading import parse_fixture_set
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.catalogue import Catalogue
from cce.retrieval.systems.opening import open_system
from cce.usecases.drilldown import drill_into
from conftest import Run
from corpora import index_chunks, make_chunk
from trees import plant


def set_of(*expected: str, k: int = 1, query: str = "alpha", **more: str) -> FixtureSet:
    line = {"id": "c", "query": query, "expected": expected, "k": k, **more}
    return parse_fixture_set(json.dumps(line).encode(), "set.jsonl")


def shorter_first(n: int) -> Index:
    """Texts of rising length, so that bm25 for `alpha` ranks 0.txt first; only the last lacks the word."""
    texts = ["alpha" + " x" * position for position in range(n)]
    chunks = [make_chunk(f"{position}.txt", text) for position, text in enumerate(texts)]
    return index_chunks([*chunks, make_chunk("none.txt", "beta\ngamma")])


def misses(
    fixtures: FixtureSet, index: Index, name: str = "bm25", catalogue: Catalogue | None = None
) -> list[tuple[int, int | None, str | None]]:
    catalogue = catalogue or Catalogue()
    ranked: tuple[Ranking, ...] = tuple(
        open_system("bm25", index).rank(Query(case.query), case.k) for case in fixtures.cases
    )
    (shown,) = drill_into(fixtures, {name: ranked}, index, catalogue)
    return [(miss.anchor, miss.rank, miss.reason) for miss in shown.rankings[0].misses]


def test_a_missed_anchor_has_the_rank_at_which_it_would_have_come() -> None:
    assert misses(set_of("0.txt", "3.txt", "1.txt"), shorter_first(5)) == [(1, 4, None), (2, 2, None)]


def test_an_anchor_has_the_rank_of_its_best_chunk() -> None:
    assert misses(set_of("0.txt", "#function_definition", k=1), shorter_first(3)) == []
    assert misses(set_of("2.txt#function_definition"), shorter_first(3)) == [(0, 3, None)]


def test_what_is_not_ranked_says_why() -> None:
    fixtures = set_of("none.txt", "gone.txt", "0.txt")
    assert misses(fixtures, shorter_first(3)) == [
        (0, None, "not ranked at all"),
        (1, None, "matches nothing in the index"),
    ]


def test_a_rank_is_looked_for_among_the_first_hundred_or_ten_times_k() -> None:
    index = shorter_first(130)
    assert misses(set_of("99.txt"), index) == [(0, 100, None)]
    assert misses(set_of("100.txt"), index) == [(0, None, "not among the first 100")]
    assert misses(set_of("119.txt", k=12), index) == [(0, 120, None)]


def test_a_system_that_is_not_ours_is_not_asked_again() -> None:
    run = SystemTable("mine", RunFile("never-read.jsonl"), "--run")
    catalogue = Catalogue(runs=[run])
    assert misses(set_of("1.txt"), shorter_first(3), "mine", catalogue) == [
        (0, None, "its rank is not known")
    ]


def test_a_scope_of_the_system_or_of_the_case_counts() -> None:
    scope = Scope("odd", ("1.txt", "3.txt"))
    table = SystemTable("odd", Variant("bm25"), "s.toml", scope="odd")
    catalogue = Catalogue(SystemsFile("s.toml", {"odd": table}, {"odd": scope}))
    # Within the scope 3.txt is the second, and 2.txt is outside.
    expected = [(0, 2, None), (1, None, "outside the scope")]
    assert misses(set_of("3.txt", "2.txt"), shorter_first(5), "odd", catalogue) == expected
    assert misses(set_of("3.txt", "2.txt", scope="odd"), shorter_first(5), "bm25", catalogue) == expected


def test_a_missed_anchor_shows_the_text_that_it_stands_for() -> None:
    fixtures, index = set_of("none.txt"), shorter_first(2)
    (shown,) = drill_into(fixtures, {"bm25": [()]}, index, Catalogue())
    assert shown.rankings[0].misses == (
        ShownMiss(0, None, "not ranked at all", "none.txt", 1, 2, "function_definition", "beta\ngamma"),
    )


def test_without_a_corpus_nothing_is_known_of_what_was_missed() -> None:
    (shown,) = drill_into(set_of("a.txt"), {"mine": [()]}, None, Catalogue())
    assert shown.rankings[0].misses == (ShownMiss(0),)


@pytest.mark.parametrize("name", ["vector", "hybrid", "bm25-plus"])
def test_every_backend_of_ours_gives_ranks(name: str) -> None:
    index = shorter_first(4)
    ((_, rank, reason),) = misses(set_of("3.txt"), index, name)
    ranked = open_system(name, index).rank(Query("alpha"), 100)
    assert reason is None
    assert rank is not None
    assert ranked[rank - 1].chunk.file_path == "3.txt"


@pytest.mark.process
def test_the_page_of_a_command_has_the_ranks(tmp_path: Path, run_cce: Run) -> None:
    files = {f"src/{n}.txt": "alpha" + " x" * n for n in range(5)}
    case = {"id": "c", "query": "alpha", "expected": ["3.txt", "gone.txt"], "k": 2}
    plant(tmp_path, {**files, "set.jsonl": json.dumps(case)})
    options = ("--dir", "src", "--backend", "bm25", "--report", "html=page.html")
    assert run_cce("relevance", "set.jsonl", *options, cwd=tmp_path).returncode == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    data = json.loads(page.partition('id="payload">')[2].partition("</script>")[0])
    ((_, hits, misses),) = data["cases"][0][4]
    assert len(hits) == 2
    assert [(which, rank, reason) for which, rank, _, reason in misses] == [
        (0, 4, 0),
        (1, 0, "matches nothing in the index"),
    ]
    path, first, last, _, opening = data["chunks"][misses[0][2]]
    assert (data["paths"][path], first, last, opening) == ("3.txt", 1, 1, "alpha x x x")
