from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from cce.domain.anchor import parse_anchor
from cce.domain.case import Case, FixtureSet
from cce.domain.ranking import Chunk, Hit, Ranking
from cce.domain.scores import METRICS, TOKEN_METRICS, BackendScore, CaseScore
from cce.measurement.scoring import SetScorer, summarize
from cce.numerals import format_score
from corpora import line_weights
from oracle import Oracle


def case(name: str, *expected: str, k: int = 10) -> Case:
    return Case(name, "a query", tuple(parse_anchor(text) for text in expected), k, line=1)


def fixture_set(*cases: Case) -> FixtureSet:
    return FixtureSet("set.jsonl", None, cases)


def ranking(*paths: str) -> Ranking:
    return tuple(
        Hit(Chunk(path, path, 1, 2, "module", "module", "plaintext", b"", 1), 1.0 / rank)
        for rank, path in enumerate(paths, start=1)
    )


def scored(fixtures: FixtureSet, rankings: Sequence[Ranking]) -> BackendScore:
    return SetScorer(fixtures, (), (), line_weights([])).score("bm25", rankings)


def figures(score: BackendScore, position: int) -> tuple[float | None, ...]:
    return tuple(score.case(position).figures[name] for name in METRICS)


def means(score: BackendScore) -> tuple[float, ...]:
    return tuple(score.mean(name) for name in METRICS)


def test_one_row_per_case_holds_every_figure() -> None:
    fixtures = fixture_set(case("first", "a.py", "b.py", k=4), case("second", "c.py@1-4", k=2))
    score = scored(fixtures, [ranking("x.py", "b.py", "a.py"), ranking("c.py")])
    assert (score.ids, score.ks, score.first_relevant_ranks) == (("first", "second"), (4, 2), (2, 1))
    assert figures(score, 0) == (0.5, 1.0, 0.5, 2 / 3)
    assert figures(score, 1) == (0.5, 1.0, 1.0, 2 / 3)
    assert [score.columns[name] for name in TOKEN_METRICS] == [(None, 1.0), (None, 0.5), (None, 0.5)]


def test_a_backend_gets_the_plain_means_of_its_rows() -> None:
    fixtures = fixture_set(case("first", "a.py", k=1), case("second", "b.py", "c.py", k=4))
    score = scored(fixtures, [ranking("a.py"), ranking("x.py", "b.py")])
    assert score.backend == "bm25"
    assert means(score) == ((1 + 1 / 4) / 2, (1 + 1 / 2) / 2, (1 + 1 / 2) / 2, (1 + 1 / 3) / 2)


def test_a_case_with_an_empty_ranking_stays_in_the_mean() -> None:
    fixtures = fixture_set(case("first", "a.py", k=1), case("second", "a.py", k=1))
    score = scored(fixtures, [ranking("a.py"), ()])
    assert means(score) == (0.5, 0.5, 0.5, 0.5)
    assert score.first_relevant_ranks == (1, None)


def test_token_figures_are_means_over_the_ranged_cases_only() -> None:
    fixtures = fixture_set(case("plain", "a.py"), case("half", "a.py@1-4"), case("none", "z.py@1-4"))
    score = scored(fixtures, [ranking("a.py")] * 3)
    assert [score.mean(name) for name in TOKEN_METRICS] == [0.5, 0.25, 0.25]
    assert score.n_ranged == 2
    assert score.case(0).figures["token_iou"] is None


def test_a_set_without_ranges_has_no_token_figures() -> None:
    score = scored(fixture_set(case("plain", "a.py")), [ranking("a.py")])
    assert (set(score.columns), score.n_ranged) == (set(METRICS), 0)


def test_rankings_must_be_one_per_case() -> None:
    with pytest.raises(ValueError, match="shorter"):
        scored(fixture_set(case("a", "a.py"), case("b", "b.py")), [()])


def test_the_mean_of_ten_tenths_over_128_cases_is_the_same_on_every_python() -> None:
    # Left to right ten tenths make 0.9999999999999999; a compensated sum makes 1 and 0.007813.
    cases = [case(f"q{n}", "a.py") for n in range(128)]
    rankings = [ranking("a.py") if n < 10 else () for n in range(128)]
    score = scored(fixture_set(*cases), rankings)
    assert list(score.columns["precision_at_k"]) == [0.1] * 10 + [0.0] * 118
    assert format_score(score.mean("precision_at_k")) == "0.007812"


def test_the_mean_of_a_metric_that_no_case_has_is_undefined() -> None:
    score = summarize("bm25", ["q1"], [10], [None], {"mrr": (None,)})
    assert score.means == {"mrr": None}
    with pytest.raises(ValueError, match="mrr is undefined for every case"):
        score.mean("mrr")


def lines_of(oracle: Oracle, name: str) -> list[dict[str, Any]]:
    text = (oracle.folder / name).read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def case_row(score: CaseScore) -> dict[str, object]:
    """A case as the reference reports spell it."""

    def spelled(names: Iterable[str]) -> dict[str, str]:
        figures = {name.removeprefix("token_"): score.figures[name] for name in names}
        return {name: format_score(figure) for name, figure in figures.items() if figure is not None}

    row: dict[str, object] = {
        "id": score.id,
        "k": score.k,
        "first_relevant_rank": score.first_relevant_rank,
        **spelled(METRICS),
    }
    return {**row, "tokens": tokens} if (tokens := spelled(TOKEN_METRICS)) else row


def test_rankings_of_another_implementation_score_as_it_reported(oracle: Oracle) -> None:
    (index,) = lines_of(oracle, "reports/express.index.json")
    report = json.loads((oracle.folder / "reports/express.json").read_text("utf-8"))
    chunks = [
        Chunk(**{**row, "content": row["content"].encode()})
        for row in ({key: row[key] for key in row if key != "embedding"} for row in index["chunks"])
    ]
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    found = {
        (row["query"], row["top_k"]): [by_id[hit["chunk_id"]] for hit in row["output"]["results"]]
        for row in lines_of(oracle, "reports/express.search.jsonl")
        if row["graph"]
    }
    labelled = [
        row for row in lines_of(oracle, "sets/express.jsonl") if (row.get("query"), row.get("k", 10)) in found
    ]
    fixtures = fixture_set(*(case(row["id"], *row["expected"], k=row.get("k", 10)) for row in labelled))
    rankings = [tuple(Hit(each, 1.0) for each in found[row["query"], row.get("k", 10)]) for row in labelled]

    score = SetScorer(fixtures, chunks, (), line_weights(chunks)).score("hybrid", rankings)

    (hybrid,) = [each for each in report["backends"] if each["backend"] == "hybrid"]
    ids = [row["id"] for row in labelled]
    assert len(ids) == 5
    assert [case_row(score.case(at)) for at in range(5)] == [
        row for row in hybrid["per_query"] if row["id"] in ids
    ]
