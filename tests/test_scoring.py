from __future__ import annotations

import json
from typing import Any

import pytest

from cce.domain.anchor import parse_anchor
from cce.domain.case import Case, FixtureSet
from cce.domain.chunk import Chunk
from cce.domain.ranking import Hit, Ranking
from cce.domain.scores import METRICS, CaseScore, TokenScore
from cce.measurement.scoring import score_backend, summarize
from cce.numerals import format_score
from corpora import line_weights
from oracle import Oracle

NO_WEIGHTS = line_weights([])


def case(name: str, *expected: str, k: int = 10) -> Case:
    return Case(name, "a query", tuple(parse_anchor(text) for text in expected), k, line=1)


def fixture_set(*cases: Case) -> FixtureSet:
    return FixtureSet("set.jsonl", None, cases)


def ranking(*paths: str) -> Ranking:
    return tuple(
        Hit(Chunk(path, path, 1, 2, "module", "module", "plaintext", b"", 1), 1.0 / rank)
        for rank, path in enumerate(paths, start=1)
    )


def test_one_row_per_case_holds_every_figure() -> None:
    fixtures = fixture_set(case("first", "a.py", "b.py", k=4), case("second", "c.py@1-4", k=2))
    score = score_backend("bm25", fixtures, [ranking("x.py", "b.py", "a.py"), ranking("c.py")], NO_WEIGHTS)
    assert score.cases == (
        CaseScore("first", 4, 0.5, 1.0, 0.5, 2 / 3, 2, None),
        CaseScore("second", 2, 0.5, 1.0, 1.0, 2 / 3, 1, TokenScore(1.0, 0.5, 0.5)),
    )


def test_a_backend_gets_the_plain_means_of_its_rows() -> None:
    fixtures = fixture_set(case("first", "a.py", k=1), case("second", "b.py", "c.py", k=4))
    score = score_backend("bm25", fixtures, [ranking("a.py"), ranking("x.py", "b.py")], NO_WEIGHTS)
    assert score.backend == "bm25"
    assert score.figures == ((1 + 1 / 4) / 2, (1 + 1 / 2) / 2, (1 + 1 / 2) / 2, (1 + 1 / 3) / 2)


def test_a_case_with_an_empty_ranking_stays_in_the_mean() -> None:
    fixtures = fixture_set(case("first", "a.py", k=1), case("second", "a.py", k=1))
    score = score_backend("bm25", fixtures, [ranking("a.py"), ()], NO_WEIGHTS)
    assert score.figures == (0.5, 0.5, 0.5, 0.5)
    assert score.cases[1].first_relevant_rank is None


def test_token_figures_are_means_over_the_ranged_cases_only() -> None:
    fixtures = fixture_set(case("plain", "a.py"), case("half", "a.py@1-4"), case("none", "z.py@1-4"))
    score = score_backend("bm25", fixtures, [ranking("a.py")] * 3, NO_WEIGHTS)
    assert score.tokens == TokenScore(precision=0.5, recall=0.25, iou=0.25)
    assert score.n_ranged == 2
    assert score.cases[0].tokens is None


def test_a_set_without_ranges_has_no_token_figures() -> None:
    score = score_backend("bm25", fixture_set(case("plain", "a.py")), [ranking("a.py")], NO_WEIGHTS)
    assert (score.tokens, score.n_ranged) == (None, 0)


def test_rankings_must_be_one_per_case() -> None:
    with pytest.raises(ValueError, match="shorter"):
        score_backend("bm25", fixture_set(case("a", "a.py"), case("b", "b.py")), [()], NO_WEIGHTS)


def test_the_mean_of_ten_tenths_over_128_cases_is_the_same_on_every_python() -> None:
    # Left to right ten tenths make 0.9999999999999999; a compensated sum makes 1 and 0.007813.
    cases = [case(f"q{n}", "a.py") for n in range(128)]
    rankings = [ranking("a.py") if n < 10 else () for n in range(128)]
    score = score_backend("bm25", fixture_set(*cases), rankings, NO_WEIGHTS)
    assert [row.precision_at_k for row in score.cases] == [0.1] * 10 + [0.0] * 118
    assert format_score(score.precision_at_k) == "0.007812"


def test_a_summary_needs_a_case() -> None:
    with pytest.raises(ValueError, match="no mean"):
        summarize("bm25", [])


def lines_of(oracle: Oracle, name: str) -> list[dict[str, Any]]:
    text = (oracle.folder / name).read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def case_row(score: CaseScore) -> dict[str, object]:
    """A case as the reference reports spell it."""
    figures = {name: format_score(figure) for name, figure in zip(METRICS, score.figures, strict=True)}
    row: dict[str, object] = {
        "id": score.id,
        "k": score.k,
        "first_relevant_rank": score.first_relevant_rank,
        **figures,
    }
    if score.tokens is not None:
        tokens = {name: getattr(score.tokens, name) for name in ("precision", "recall", "iou")}
        row["tokens"] = {name: format_score(figure) for name, figure in tokens.items()}
    return row


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

    score = score_backend("hybrid", fixtures, rankings, line_weights(chunks))

    (hybrid,) = [each for each in report["backends"] if each["backend"] == "hybrid"]
    ids = [row["id"] for row in labelled]
    assert len(ids) == 5
    assert [case_row(row) for row in score.cases] == [row for row in hybrid["per_query"] if row["id"] in ids]
