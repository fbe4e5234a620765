"""Metrics with a cut-off: the first K results whatever the case's k, and what was judged irrelevant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cce.cli.main import main
from cce.domain.anchor import Anchor, parse_anchor
from cce.domain.case import Case, FixtureSet
from cce.domain.evidence import EvidenceOptions
from cce.domain.ranking import Chunk, Hit, Ranking
from cce.errors import UnknownNameError, UsageError
from cce.measurement.evidence.gathering import gather_evidence
from cce.measurement.metrics.catalog import catalog_order, largest_cutoff, metric_called, metric_entries
from cce.measurement.scoring import SetScorer
from corpora import line_weights
from score_rows import score_of_columns


def chunks(*names: str) -> list[Chunk]:
    return [Chunk(name, f"{name}.py", 1, 2, "module", "module", "python", b"x\ny\n", 1) for name in names]


def ranking(names: str) -> Ranking:
    return tuple(Hit(chunk, 1.0) for chunk in chunks(*names))


def scored(
    metric: str, found: str, deep: str | None = None, k: int = 5, irrelevant: tuple[Anchor, ...] = ()
) -> float | None:
    """The figure of one case: grade 2 for a and b, grade 1 for c, over an index of the chunks a to h."""
    case = Case(
        "q", "q", tuple(map(parse_anchor, ("a.py", "b.py", "c.py"))), k, 1, grades={"a.py": 2, "b.py": 2}
    )
    case = case._replace(irrelevant=irrelevant)
    scorer = SetScorer(FixtureSet("s", None, (case,)), chunks(*"abcdefgh"), (metric,), line_weights([]))
    deeper = None if deep is None else [ranking(deep)]
    return scorer.score("x", [ranking(found)], deeper).case(0).figures[metric]


GRADED = "xaycb"  # the grades 0, 2, 0, 1, 2 at the ranks 1 to 5


@pytest.mark.parametrize(
    ("metric", "figure"),
    [
        ("recall@1", 0.0),
        ("recall@2", 1 / 3),
        ("recall@5", 1.0),
        ("precision@2", 0.5),
        ("precision@10", 3 / 10),
        ("mrr@1", 0.0),
        ("mrr@2", 0.5),
        ("hit@1", 0.0),
        ("hit@2", 1.0),
        ("f1@2", 2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3)),
        ("ap@2", (1 / 2) / 2),
        ("ap@5", (1 / 2 + 2 / 4 + 3 / 5) / 3),
    ],
)
def test_a_metric_with_a_cutoff_reads_so_many_results(metric: str, figure: float) -> None:
    assert scored(metric, GRADED, GRADED) == pytest.approx(figure, abs=1e-12)


def test_the_ideal_is_cut_where_the_results_are() -> None:
    # Ideal grades 2, 2, 1. At 2 the DCG is 3 / log2(3) over 3 + 3 / log2(3); linear 2 / log2(3) likewise.
    assert scored("ndcg@2", GRADED) == pytest.approx(0.386853, abs=5e-7)
    assert scored("ndcg_linear@2", GRADED) == pytest.approx(0.386853, abs=5e-7)
    assert scored("ndcg@5", GRADED) == scored("ndcg", GRADED)


def test_a_cutoff_above_k_reads_the_deep_ranking_and_all_else_the_first() -> None:
    # Asked for two, the system finds nothing; asked for four it puts other results first.
    assert scored("recall@4", "xy", "abcx", k=2) == 1.0
    assert scored("recall@2", "xy", "abcx", k=2) == 0.0
    assert scored("recall", "xy", "abcx", k=2) == 0.0
    assert scored("recall@1", "xy", "abcx", k=2) == 0.0


def test_an_ideal_reaches_beyond_the_k_of_a_case() -> None:
    # k = 1, and all three relevant chunks lead the deep ranking.
    assert scored("ndcg@3", "x", "abc", k=1) == 1.0
    assert scored("ap@3", "x", "abx", k=1) == pytest.approx(2 / 3)


def test_the_largest_cutoff_is_what_systems_are_asked_for_once_more() -> None:
    assert largest_cutoff(("mrr", "recall@5", "ndcg@20", "hit@3")) == 20
    assert largest_cutoff(("mrr", "recall")) is None


@pytest.mark.parametrize("name", ["recall@1", "ndcg@10000", "precision@5", "token_iou@3", "judged@7"])
def test_a_name_with_a_cutoff_prints_as_it_was_read(name: str) -> None:
    metric = metric_called(name)
    assert (metric.name, metric.cutoff) == (name, int(name.partition("@")[2]))
    assert metric.needs_index


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("recal@5", "unknown metric 'recal@5'; did you mean 'recall@5'? (known: precision_at_k, recall,"),
        ("wombat@5", "unknown metric 'wombat@5' (known: "),
        ("precision", "unknown metric 'precision'; did you mean 'precision_at_k'?"),
        (
            "precision_at_k@5",
            "metric 'precision_at_k@5': with a cut-off it is called precision, write precision@5",
        ),
        ("recall@", "metric 'recall@': the cut-off must be an integer from 1 to 10000, write recall@5"),
        ("recall@0", "metric 'recall@0': the cut-off must be an integer from 1 to 10000, write recall@5"),
        ("recall@05", "metric 'recall@05': the cut-off must be"),
        ("recall@-1", "metric 'recall@-1': the cut-off must be"),
        ("recall@10001", "metric 'recall@10001': the cut-off must be"),
        ("recall@" + "9" * 5000, "metric 'recall@999"),
        ("recall@5@5", "metric 'recall@5@5': the cut-off must be"),
        ("recall@٥", "metric 'recall@٥': the cut-off must be"),
        ("judged", "metric 'judged' needs a cut-off, write judged@10"),
        ("irrelevant_hits", "metric 'irrelevant_hits' needs a cut-off, write irrelevant_hits@10"),
    ],
)
def test_a_name_that_is_no_metric_gets_help(name: str, message: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        metric_called(name)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 400


def test_cutoffs_stand_after_their_metric_and_rise() -> None:
    names = ["judged@1", "recall@10", "recall@2", "precision@3", "recall", "precision_at_k"]
    assert sorted(names, key=catalog_order) == [
        *("precision_at_k", "precision@3", "recall", "recall@2", "recall@10", "judged@1"),
    ]


def test_the_list_of_metrics_has_those_that_need_a_cutoff() -> None:
    rows = {entry.name: entry for entry in metric_entries()}
    assert rows["judged@K"].range == (0, 1)
    assert "irrelevant_hits@K" in rows
    assert "judged" not in rows


# Places that somebody judged not to answer.

IRRELEVANT = (parse_anchor("d.py"), parse_anchor("e.py"))


def test_a_result_is_judged_if_it_matches_an_anchor_or_an_irrelevant_place() -> None:
    assert scored("judged@3", "adx", irrelevant=IRRELEVANT) == pytest.approx(2 / 3)
    assert scored("judged@1", "xad", irrelevant=IRRELEVANT) == 0.0
    assert scored("judged@5", "xad", irrelevant=IRRELEVANT) == pytest.approx(2 / 3)  # of three results


def test_judged_is_undefined_without_results() -> None:
    assert scored("judged@3", "", irrelevant=IRRELEVANT) is None


def test_irrelevant_hits_are_counted_within_the_cutoff() -> None:
    assert scored("irrelevant_hits@1", "ade", irrelevant=IRRELEVANT) == 0.0
    assert scored("irrelevant_hits@3", "ade", irrelevant=IRRELEVANT) == 2.0
    assert scored("irrelevant_hits@3", "", irrelevant=IRRELEVANT) == 0.0
    assert metric_called("irrelevant_hits@3").range == (0, 3)


def test_a_place_that_is_both_relevant_and_irrelevant_is_relevant() -> None:
    both = (parse_anchor(" a.py"), parse_anchor("d.py"))  # another spelling of a.py
    assert scored("irrelevant_hits@2", "ad", irrelevant=both) == 1.0
    assert scored("judged@2", "ad", irrelevant=both) == 1.0
    assert scored("recall@2", "ad", irrelevant=both) == pytest.approx(1 / 3)


def test_irrelevant_hits_have_a_mean_and_no_comparison() -> None:
    columns: dict[str, Sequence[float]] = {"mrr": (1.0, 0.5), "irrelevant_hits@5": (0.0, 3.0)}
    pair = score_of_columns("a", columns), score_of_columns("b", columns)
    evidence = gather_evidence(EvidenceOptions(("mrr", "irrelevant_hits@5")), pair, pair)
    assert evidence.backends[0].metrics["irrelevant_hits@5"].mean == 1.5
    assert evidence.compare is not None
    assert list(evidence.compare.metrics) == ["mrr"]


def test_a_comparison_by_a_metric_with_a_mean_only_is_refused() -> None:
    score = score_of_columns("a", {"irrelevant_hits@5": (1.0,)})
    with pytest.raises(UsageError, match="irrelevant_hits@5, which has a mean only"):
        gather_evidence(EvidenceOptions(("irrelevant_hits@5",)), (score, score), (score, score))


# The command line.


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("config", "orders", "letter"):
        path = tmp_path / "src" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"def load_{name}(path):\n    return path  # load {name}\n")
    write_set(tmp_path)
    return tmp_path


def write_set(folder: Path) -> None:
    # Each query finds all three files, its own first; k = 1.
    lines: list[dict[str, object]] = [{"schema": "cce.relevance/v1", "corpus": "src"}]
    for name, other in (("config", "orders"), ("orders", "letter"), ("letter", "config")):
        entry = {"id": name, "query": f"load {name}", "expected": [f"{name}.py"], "k": 1, "tags": ["t"]}
        lines.append({**entry, "irrelevant": [f"{other}.py"]})
    (folder / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_relevance_weighs_metrics_with_cutoffs(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metrics = "recall@3,precision@3,irrelevant_hits@3,judged@3,mrr"
    code = main(["relevance", "set.jsonl", "--backend", "bm25", "--evidence", "--metrics", metrics, "--json"])
    (backend,) = json.loads(capsys.readouterr().out)["evidence"]["backends"]
    assert code == 0
    assert {name: row["mean"] for name, row in backend["metrics"].items()} == {
        "recall@3": "1.000000",
        "precision@3": "0.333333",
        "irrelevant_hits@3": "1.000000",
        "judged@3": "0.666667",
        "mrr": "1.000000",
    }


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html", "junit", "github"])
def test_every_report_takes_metrics_with_cutoffs(project: Path, form: str) -> None:
    metrics = "recall@3,irrelevant_hits@3"
    command = ["relevance", "set.jsonl", "--compare", "bm25,vector", "--evidence", "--metrics", metrics]
    assert main([*command, "--report", f"{form}=out"]) == 0
    assert (project / "out").read_text()


def test_compare_says_that_a_saved_report_lacks_them(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["relevance", "set.jsonl", "--report", "json=a.json"]) == 0
    assert (
        main(["compare", "a.json", "a.json", "--backend", "bm25", "--evidence", "--metrics", "recall@3"]) == 2
    )
    assert "metric 'recall@3' needs the rankings" in capsys.readouterr().err


POLICY = 'schema = "cce.gate/v1"\nfixtures = "set.jsonl"\nbackend = "bm25"\nbaseline = "baseline.json"\n'


def gate(folder: Path, more: str, *options: str) -> int:
    (folder / "gate.toml").write_text(POLICY + more)
    return main(["gate", "gate.toml", *options])


def test_a_ceiling_forbids_irrelevant_hits(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate(project, '[ceiling]\n"irrelevant_hits@1" = 0\n', "--accept") == 0
    capsys.readouterr()
    assert gate(project, '[slices.t.ceiling]\n"irrelevant_hits@3" = 0.5\n') == 1
    assert capsys.readouterr().out == (
        "GATE: BLOCK\n  block:  slice t: irrelevant_hits@3 1.000000 is above its ceiling 0.500000, "
        "as are 3 cases (config, orders, letter)\n"
    )


def test_a_baseline_keeps_the_figures_of_every_metric_that_its_policy_names(project: Path) -> None:
    more = '[floor]\nndcg = 0\n[drop]\n"recall@3" = 0\n[evidence]\nmetrics = ["mrr", "judged@3"]\n'
    assert gate(project, more, "--accept") == 0
    figures = json.loads((project / "baseline.json").read_bytes())["figures"]
    ones = dict.fromkeys(("config", "orders", "letter"), "1.000000")
    assert figures == {
        "bm25": {"ndcg": ones, "recall@3": ones, "judged@3": dict.fromkeys(ones, "0.666667")},
    }


def test_a_fall_of_a_metric_with_a_cutoff_blocks(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = '[drop]\nndcg = 0.1\n"recall@3" = 0.1\n'
    assert gate(project, more, "--accept") == 0
    (project / "src" / "letter.py").write_text("def nothing():\n    return 0\n")
    capsys.readouterr()
    assert gate(project, more) == 1
    out = capsys.readouterr().out
    assert (
        "recall@3 fell by 0.333333 from 1.000000 to 0.666667, limit 0.100000; worse for 1 case (letter)"
        in out
    )
    assert "ndcg fell by 0.333333" in out


@pytest.mark.parametrize("more", ["[drop]\nndcg = 0.1\n", '[evidence]\nmetrics = ["ndcg"]\n'])
def test_a_baseline_without_the_figures_names_accept(
    project: Path, capsys: pytest.CaptureFixture[str], more: str
) -> None:
    assert gate(project, "", "--accept") == 0
    capsys.readouterr()
    assert gate(project, more) == 2
    assert capsys.readouterr().err == (
        "error: baseline.json: holds no figures of ndcg to hold against: "
        "accept a baseline that does with --accept\n"
    )
    assert gate(project, more, "--accept") == 0
    assert gate(project, more) in (0, 1)


def test_a_floor_needs_no_figures_of_the_baseline(project: Path) -> None:
    assert gate(project, "", "--accept") == 0
    assert gate(project, '[floor]\n"ndcg@3" = 0.5\n') == 0


def test_a_wrong_figure_in_a_baseline_is_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate(project, "[drop]\nndcg = 0\n", "--accept") == 0
    saved = json.loads((project / "baseline.json").read_bytes())
    saved["figures"]["bm25"]["ndcg"]["config"] = 1
    (project / "baseline.json").write_text(json.dumps(saved))
    capsys.readouterr()
    assert gate(project, "[drop]\nndcg = 0\n") == 2
    assert "baseline.json: figures" in capsys.readouterr().err


@given(st.text("abcdefghxyz", max_size=12), st.integers(1, 12))
def test_figures_stay_within_their_range_and_grow_with_the_cutoff(found: str, cutoff: int) -> None:
    unique = "".join(dict.fromkeys(found))
    for name in ("precision", "recall", "mrr", "hit", "f1", "ndcg", "ndcg_linear", "ap", "judged"):
        figure = scored(f"{name}@{cutoff}", unique, unique)
        assert figure is None or 0 <= figure <= 1
    for name in ("recall", "mrr", "hit", "irrelevant_hits"):
        less, more = (
            scored(f"{name}@{k}", unique, unique, irrelevant=IRRELEVANT) for k in (cutoff, cutoff + 1)
        )
        assert less is not None
        assert more is not None
        assert less <= more
