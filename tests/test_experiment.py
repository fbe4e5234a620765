"""Tables of systems: rows, the choice of the cheapest, derived rows, and the part that is held out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from cce.domain.case import Case, FixtureSet
from cce.domain.costs import Costs
from cce.domain.evidence import EvidenceOptions
from cce.domain.experiment import Experiment
from cce.domain.scores import BackendScore
from cce.domain.second_stage import SecondStage
from cce.errors import CceError, UsageError
from cce.measurement.evidence.power import critical_t
from cce.measurement.evidence.randomisation import exact_flip_p
from cce.measurement.experiments import choose, experiment_rows
from cce.report.html.experiment import cost_plot, curves, render_experiment_html
from cce.retrieval.systems.catalogue import Catalogue
from cce.retrieval.systems.derived import combinations, parse_change, parse_variation, with_rows
from cce.retrieval.systems.file import parse_systems
from cce.usecases.experiment import split_cases
from score_rows import score_of_columns

MRR = EvidenceOptions(metrics=("mrr",))


def score(name: str, figures: Sequence[float]) -> BackendScore:
    return score_of_columns(name, {"mrr": tuple(figures)})


def costs(**pairs: float) -> dict[str, Costs]:
    return {name: Costs(n_pairs, 100.0) for name, n_pairs in pairs.items()}


# Rows


def test_a_family_of_one_row_has_the_p_of_its_own_test() -> None:
    a, b = score("a", [0, 0, 0, 0, 0, 0, 0]), score("b", [1, 1, 1, 1, 1, 1, 0.5])
    _, row = experiment_rows(MRR, [a, b], costs(a=0, b=1), "mrr", "a")
    # All of the 2^7 sign patterns but two are less extreme.
    assert row.differences["mrr"].adjusted_p == exact_flip_p([1, 1, 1, 1, 1, 1, 1]) == 2 / 128


def test_more_rows_raise_p_and_each_metric_is_a_family_of_its_own() -> None:
    options = EvidenceOptions(metrics=("mrr", "recall"))
    a = score_of_columns("a", {"mrr": (0.0,) * 7, "recall": (0.0,) * 7})
    b = score_of_columns("b", {"mrr": (1.0,) * 7, "recall": (0.5, 0, 0, 0, 0, 0, 0)})
    c = score_of_columns("c", {"mrr": (0, 1.0, 0, 0.5, 0, 0, 0), "recall": (1.0,) * 7})
    rows = experiment_rows(options, [a, b, c], costs(a=0, b=0, c=0), "mrr", "a")
    assert [sorted(row.differences) for row in rows] == [[], ["mrr", "recall"], ["mrr", "recall"]]
    assert rows[1].differences["mrr"].adjusted_p == 2 / 128
    # recall of b has nothing to do with how mrr of b is judged.
    alone = experiment_rows(MRR, [a, b, c], costs(a=0, b=0, c=0), "mrr", "a")
    assert alone[1].differences["mrr"] == rows[1].differences["mrr"]


def test_a_row_has_the_means_the_interval_and_the_costs_of_its_system() -> None:
    (row,) = experiment_rows(MRR, [score("a", [0, 1, 0.5, 0.5])], costs(a=16), "mrr", "a")
    assert (row.name, row.means, row.differences) == ("a", {"mrr": 0.5}, {})
    assert (row.interval.mean, row.interval.n, row.costs.pairs) == (0.5, 4, 16)


def test_the_baseline_may_stand_anywhere() -> None:
    a, b = score("a", [0, 0, 1]), score("b", [1, 0, 1])
    rows = experiment_rows(MRR, [a, b], costs(a=0, b=0), "mrr", "b")
    assert [row.name for row in rows] == ["a", "b"]
    assert rows[0].differences["mrr"].worse == ("q1",)
    assert rows[1].differences == {}


# The cheapest row


def chosen(scores: Sequence[BackendScore], prices: Mapping[str, Costs], min_effect: float) -> str | None:
    choice = choose(EvidenceOptions(metrics=("mrr",), min_effect=min_effect), scores, prices, "mrr")
    return None if choice is None else choice.row


EQUAL = [score("dear", [0.5] * 60), score("cheap", [0.5] * 60)]


def test_the_cheapest_of_equal_rows_is_chosen() -> None:
    assert chosen(EQUAL, costs(dear=20, cheap=3), 0.1) == "cheap"
    assert chosen(EQUAL, costs(dear=3, cheap=20), 0.1) == "dear"
    assert chosen(EQUAL, costs(dear=3, cheap=3), 0.1) == "dear"  # the order of the table decides


def test_nothing_is_chosen_without_a_limit() -> None:
    assert chosen(EQUAL, costs(dear=20, cheap=3), 0) is None


def test_the_bound_is_that_of_the_deltas_and_one_lost_case_by_hand() -> None:
    scores = [score("best", [0.5] * 9), score("other", [0.5] * 9)]
    options = EvidenceOptions(metrics=("mrr",), min_effect=0.9, alpha=0.05)
    choice = choose(options, scores, costs(best=2, other=1), "mrr")
    assert choice is not None
    # Nine deltas of 0 and one of -1: mean -0.1, sd sqrt(0.9 / 9), standard error 0.1.
    bound = -0.1 - critical_t(9, 0.05) * math.sqrt(0.1 / 10)
    assert choice.bounds["other"] == pytest.approx(bound, abs=1e-6)
    assert choice.bounds["best"] is None
    assert (choice.row, choice.best) == ("other", "best")


def test_alpha_is_shared_by_the_rows_that_are_held_against_the_best() -> None:
    names = ["best", "b", "c", "d"]
    options = EvidenceOptions(metrics=("mrr",), min_effect=0.9, alpha=0.06)
    choice = choose(options, [score(name, [0.5] * 9) for name in names], costs(best=9, b=1, c=2, d=3), "mrr")
    assert choice is not None
    assert choice.bounds["b"] == pytest.approx(-0.1 - critical_t(9, 0.02) * 0.1, abs=1e-6)


def test_a_row_that_may_lose_too_much_is_not_chosen_and_the_cases_needed_are_told() -> None:
    dear, cheap = score("dear", [1, 1, 1, 0.5, 0.5, 1]), score("cheap", [1, 0, 1, 0.5, 1, 1])
    options = EvidenceOptions(metrics=("mrr",), min_effect=0.1)
    choice = choose(options, [dear, cheap], costs(dear=20, cheap=3), "mrr")
    assert choice is not None
    assert (choice.row, choice.best) == ("dear", "dear")
    assert choice.n_needed is not None
    assert choice.n_needed > 100


def test_estimates_decide_only_where_every_row_has_one() -> None:
    both = {"dear": Costs(1, 1, 9.0, "ms"), "cheap": Costs(5, 5, 2.0, "ms")}
    assert chosen(EQUAL, both, 0.1) == "cheap"
    assert chosen(EQUAL, {**both, "cheap": Costs(5, 5)}, 0.1) == "dear"
    assert chosen(EQUAL, {"dear": Costs(5, 9), "cheap": Costs(5, 8)}, 0.1) == "cheap"


# Rows that change a system


SYSTEMS = """schema = "cce.systems/v1"
[system.base]
backend = "hybrid"
options = { graph = false }
rerank = "overlap"
depth = 10
final = 5
collapse = true
scope = "code"
[scope.code]
include = ["src/**"]
[scope.small]
include = ["src/a/**"]
[ablate]
changes = ["rerank=none", "max_words=8"]
"""
CATALOGUE = Catalogue(parse_systems(SYSTEMS.encode(), "systems.toml"))


def changed(*typed: str) -> tuple[str, Catalogue]:
    row = [parse_change("--change", each) for each in typed]
    catalogue, (name,) = with_rows(CATALOGUE, "base", [row])
    return name, catalogue


def test_a_changed_key_stands_in_place_of_the_systems_own() -> None:
    name, catalogue = changed("final=10", "collapse=false", "max_words=8")
    table = catalogue.resolve(name).table
    assert name == "final=10 collapse=false max_words=8"
    assert (table.final, table.collapse) == (10, False)
    assert table.stage == SecondStage("overlap", None, 10, 8)
    assert (name in catalogue, name in CATALOGUE) == (True, False)


def test_values_are_toml_or_else_texts() -> None:
    assert parse_change("--change", "options.graph=true").value == "true"
    assert parse_change("--change", "max_words = 8") == ("max_words", "8", "max_words=8")
    assert parse_change("--change", "rerank=none").value == '"none"'
    assert parse_change("--change", 'rerank="none"').value == '"none"'
    assert parse_change("--change", "scope=a\nb=1").value == '"a\\nb=1"'


def test_options_are_changed_one_by_one() -> None:
    name, catalogue = changed("options.keyword=2")
    assert catalogue.resolve(name).table.source.options == {"graph": False, "keyword": 2}  # type: ignore[union-attr]


def test_another_scope_narrows_the_systems_own() -> None:
    name, catalogue = changed("scope=small")
    assert [scope.name for scope in catalogue.resolve(name).scopes] == ["code", "small"]


def test_no_reranker_takes_the_stage_away() -> None:
    name, catalogue = changed("rerank=none")
    assert not catalogue.resolve(name).table.stage.is_active


def test_the_file_may_name_what_an_ablation_changes() -> None:
    assert CATALOGUE.changes == ("rerank=none", "max_words=8")


def test_a_sweep_has_every_combination_and_the_last_key_varies_fastest() -> None:
    variations = [parse_variation("--vary", "depth=3,10"), parse_variation("--vary", "final=1,5")]
    names = [" ".join(change.text for change in row) for row in combinations(variations)]
    assert names == ["depth=3 final=1", "depth=3 final=5", "depth=10 final=1", "depth=10 final=5"]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("depth", "--change takes KEY=VALUE, as in max_words=8 or rerank=none; got 'depth'"),
        ("=3", "--change takes KEY=VALUE"),
        ("depth=", "--change takes KEY=VALUE"),
        ("Depth=3", "--change takes KEY=VALUE"),
        ("dept=3", "--change dept=3: unknown key 'dept'; did you mean 'depth'?"),
        ("backend=bm25", "--change backend=bm25: unknown key 'backend'"),
        ("final=0", "final=0: final: must be a number of results, 1 or more, got 0"),
        ("scope=smal", "scope=smal: scope: unknown scope 'smal'; did you mean 'small'?"),
        ("rerank=overlp", "rerank=overlp.rerank: unknown reranker 'overlp'; did you mean 'overlap'?"),
    ],
)
def test_a_change_that_cannot_be_says_why(typed: str, message: str) -> None:
    with pytest.raises(CceError) as caught:
        changed(typed)
    assert str(caught.value).startswith(message)


def test_a_value_twice_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^--vary depth=3,3: a value stands twice, leave one$"):
        parse_variation("--vary", "depth=3,3")


# The part to choose on


def cases(**tags: tuple[str, ...]) -> FixtureSet:
    made = [Case(id=name, line=1, query="q", k=1, anchors=(), tags=each) for name, each in tags.items()]
    return FixtureSet("set.jsonl", None, tuple(made))


LETTERS = cases(a=("x",), b=(), c=("x", "y"), g=(), h=())


def test_a_tag_chooses_its_cases() -> None:
    tuned, rest = split_cases(LETTERS, "x")
    assert [case.id for case in tuned.cases] == ["a", "c"]
    assert [case.id for case in rest.cases] == ["b", "g", "h"]


def test_a_share_chooses_by_the_digest_of_the_id() -> None:
    # The first 8 bytes of SHA-256 over 2^64: a 0.7914, b 0.2427, c 0.1816, g 0.8009, h 0.6666.
    assert [case.id for case in split_cases(LETTERS, "0.5")[0].cases] == ["b", "c"]
    assert [case.id for case in split_cases(LETTERS, "0.7")[0].cases] == ["b", "c", "h"]


@pytest.mark.parametrize(
    ("tune", "message"),
    [
        ("1", "--tune takes a tag, or a share between 0 and 1 such as 0.5; got '1'"),
        ("0", "--tune takes a tag"),
        ("nan", "--tune takes a tag"),
        ("z", "--tune z: no case is among those to choose on, name another part"),
        ("0.9", "--tune 0.9: every case is among those to choose on, name another part"),
    ],
)
def test_a_part_that_cannot_be_chosen_on_is_refused(tune: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        split_cases(LETTERS, tune)
    assert str(caught.value).startswith(message)


# The page


def page_of(verb: str, names: Sequence[str], pairs: Sequence[float], min_effect: float = 0.0) -> Experiment:
    scores = [score(name, [0.5] * 60) for name in names]
    prices = {name: Costs(n_pairs, 100.0) for name, n_pairs in zip(names, pairs, strict=True)}
    options = EvidenceOptions(metrics=("mrr",), min_effect=min_effect)
    rows = experiment_rows(options, scores, prices, "mrr", names[0])
    choice = choose(options, scores, prices, "mrr")
    return Experiment(
        verb,
        "set.jsonl",
        "src",
        "hash",
        60,
        ("mrr",),
        "mrr",
        names[0],
        options,
        rows,
        choice,
        notes=("a <note>",),
    )


def test_cost_is_drawn_from_nothing_to_the_dearest_row() -> None:
    plot = cost_plot(page_of("experiment", ["a", "b", "c"], [0, 5, 20]))
    assert plot.title == "MRR against scored pairs a query"
    # 88 per cent of the width lie between the margins of 6 per cent: 6, 6 + 88 / 4 and 94.
    assert [point.x for point in plot.points] == ["6.00%", "28.00%", "94.00%"]
    assert {point.y for point in plot.points} == {"50.00%"}
    assert [point.tone for point in plot.points] == ["base", "version", "version"]


def test_a_sweep_over_numbers_has_a_curve_per_metric_and_a_line_per_rest() -> None:
    names = ["depth=3 final=1", "depth=3 final=5", "depth=10 final=1", "depth=10 final=5"]
    (curve,) = curves(page_of("sweep", names, [3, 3, 10, 10]))
    assert (curve.title, curve.left, curve.right) == ("MRR by depth", "3", "10")
    ends = [(a.title.partition(":")[0], b.title.partition(":")[0]) for a, b in curve.lines]
    assert ends == [("depth=3 final=1", "depth=10 final=1"), ("depth=3 final=5", "depth=10 final=5")]


@pytest.mark.parametrize(
    ("verb", "names"),
    [
        ("ablate", ["depth=3", "depth=5"]),
        ("sweep", ["rerank=none", "rerank=overlap"]),
        ("sweep", ["depth=3"]),
    ],
)
def test_other_rows_have_no_curve(verb: str, names: list[str]) -> None:
    assert list(curves(page_of(verb, names, [1] * len(names)))) == []


def test_the_page_marks_the_chosen_row_escapes_text_and_has_no_script() -> None:
    page = render_experiment_html(page_of("experiment", ["<b>dear", "cheap"], [20, 3], 0.1))
    assert page.count('<tr class="marked">') == 1
    assert '<tr class="marked"><th scope="row" class="foreign">cheap</th>' in page
    assert "<b>dear" not in page
    assert "&lt;b&gt;dear" in page
    assert "a &lt;note&gt;" in page
    assert "<script" not in page
    assert "default-src 'none'" in page.replace("&#39;", "'")
