from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from cce.cli.main import main
from cce.domain.query import Query
from cce.measurement.fixtures.reading import read_fixture_set
from cce.measurement.metrics.catalog import CATALOG
from cce.numerals import format_score
from cce.retrieval.indexing.directory import index_directory
from cce.retrieval.systems.opening import open_system
from conftest import ROOT, Run
from corpora import unwatched

Capture = pytest.CaptureFixture[bytes]

CODE = ROOT / "eval" / "code.jsonl"
SAMPLES = ROOT / "test_fixtures" / "samples"
ALL = ",".join(CATALOG)


def printed(capture: Capture, *arguments: str) -> str:
    assert main(arguments) == 0
    out, err = capture.readouterr()
    assert err == b""
    return out.decode()


def refused(capture: Capture, *arguments: str) -> str:
    assert main(arguments) == 2
    out, err = capture.readouterr()
    assert out == b""
    (line,) = err.decode().splitlines()
    return line.removeprefix("error: ")


def evidence(capture: Capture, *arguments: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(printed(capture, "relevance", str(CODE), "--json", *arguments))
    added: dict[str, Any] = fields["evidence"]
    return added


def test_evidence_only_adds_to_the_text_report(capsysbinary: Capture) -> None:
    plain = printed(capsysbinary, "relevance", str(CODE), "--compare", "bm25,hybrid")
    with_evidence = printed(capsysbinary, "relevance", str(CODE), "--compare", "bm25,hybrid", "--evidence")
    assert with_evidence.startswith(plain + "\n  evidence (alpha 0.050000, ")


def test_evidence_only_adds_a_key_to_the_json_report(capsysbinary: Capture) -> None:
    plain = json.loads(printed(capsysbinary, "relevance", str(CODE), "--json"))
    fields = json.loads(printed(capsysbinary, "relevance", str(CODE), "--json", "--evidence"))
    assert set(fields) - set(plain) == {"evidence"}
    del fields["evidence"]
    assert fields == plain


def test_two_backends_that_return_the_same_results_are_identical(
    tmp_path: Path, capsysbinary: Capture
) -> None:
    # One file, one chunk: there is nothing to rank differently.
    (tmp_path / "only.txt").write_text("the fee of a late return\n")
    (tmp_path / "set.jsonl").write_text('{"query": "late fee", "expected": ["only.txt"]}\n')
    shown = printed(
        capsysbinary,
        "relevance",
        str(tmp_path / "set.jsonl"),
        *("--dir", str(tmp_path), "--compare", "bm25,vector", "--evidence", "--metrics", "mrr"),
    )
    assert "Verdict: identical, every case has the same results in the same order.\n" in shown


def test_the_means_of_the_evidence_are_those_of_the_report(capsysbinary: Capture) -> None:
    fields = json.loads(
        printed(capsysbinary, "relevance", str(CODE), "--json", "--evidence", "--metrics", ALL)
    )
    for backend, weighed in zip(fields["backends"], fields["evidence"]["backends"], strict=True):
        metrics = weighed["metrics"]
        for name in ("precision_at_k", "recall", "mrr", "f1"):
            assert metrics[name]["mean"] == backend[name]
        for name in ("iou", "precision", "recall"):
            assert metrics[f"token_{name}"]["mean"] == backend["tokens"][name]
            assert metrics[f"token_{name}"]["n"] == backend["tokens"]["queries"]


def test_graded_means_are_what_a_walk_over_every_chunk_gives(capsysbinary: Capture) -> None:
    fixtures = read_fixture_set(str(CODE))
    index = index_directory(str(SAMPLES), unwatched).index
    system = open_system("bm25", index)
    rankings = [system.rank(Query(case.query), case.k) for case in fixtures.cases]
    figures: dict[str, list[float]] = {"ndcg": [], "ndcg_linear": [], "ap": [], "hit": []}
    for case, ranking in zip(fixtures.cases, rankings, strict=True):

        def grade(chunk: Any, case: Any = case) -> int:
            return max((case.grades.get(a.text, 1) for a in case.anchors if a.matches(chunk)), default=0)

        returned = [grade(hit.chunk) for hit in ranking]
        ideal = sorted(map(grade, index.chunks), reverse=True)[: case.k]
        discounts = [1 / math.log2(rank + 1) for rank in range(1, case.k + 1)]
        for name, gains in (("ndcg", (0, 1, 3, 7)), ("ndcg_linear", (0, 1, 2, 3))):
            reached, best = (
                sum(gains[g] * d for g, d in zip(grades, discounts, strict=False))
                for grades in (returned, ideal)
            )
            figures[name].append(reached / best)
        ranks = [rank for rank, g in enumerate(returned, start=1) if g]
        figures["ap"].append(
            sum(n / rank for n, rank in enumerate(ranks, start=1)) / sum(1 for g in ideal if g)
        )
        figures["hit"].append(1.0 if ranks else 0.0)

    weighed = evidence(
        capsysbinary, "--backend", "bm25", "--evidence", "--metrics", "ndcg,ndcg_linear,ap,hit"
    )

    for name, of_cases in figures.items():
        assert weighed["backends"][0]["metrics"][name]["mean"] == format_score(sum(of_cases) / len(of_cases))
        assert weighed["backends"][0]["metrics"][name]["n"] == 24


def test_a_case_that_nothing_in_the_index_answers_counts_as_zero_in_graded_metrics(
    tmp_path: Path, capsysbinary: Capture
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("def load_config(path):\n    return path\n")
    cases = [
        {"id": "found", "query": "load_config", "expected": ["app.py"]},
        {"id": "lost", "query": "load_config", "expected": ["gone.py"]},
    ]
    fixtures = tmp_path / "set.jsonl"
    fixtures.write_text("".join(json.dumps(case) + "\n" for case in cases))
    arguments = ("--dir", str(tmp_path / "src"), "--backend", "bm25", "--evidence", "--metrics", "ndcg,mrr")
    assert main(["relevance", str(fixtures), *arguments]) == 0
    text = capsysbinary.readouterr().out.decode()
    assert "  bm25     ndcg        2         0  0.500000  [0.000000, 1.000000]\n" in text
    assert "  bm25     mrr         2         0  0.500000  [0.000000, 1.000000]\n" in text


def test_metrics_come_in_the_order_asked_for_and_once(capsysbinary: Capture) -> None:
    weighed = evidence(capsysbinary, "--evidence", "--metrics", "ndcg, mrr,ndcg", "--backend", "bm25")
    assert weighed["metrics"] == ["ndcg", "mrr"]
    assert set(weighed["backends"][0]["metrics"]) == {"ndcg", "mrr"}


def test_settings_are_those_asked_for(capsysbinary: Capture) -> None:
    settings = ("--alpha", "0.01", "--min-effect", "0.02", "--seed", "7", "--resamples", "50")
    weighed = evidence(capsysbinary, "--backend", "bm25", "--evidence", *settings)
    assert [weighed[name] for name in ("alpha", "min_effect", "seed", "resamples")] == [
        *("0.010000", "0.020000"),
        *(7, 50),
    ]


def test_without_a_comparison_there_is_none_in_the_evidence(capsysbinary: Capture) -> None:
    weighed = evidence(capsysbinary, "--evidence", "--metrics", "mrr")
    assert "compare" not in weighed
    assert all("compare" not in each for each in weighed["slices"])
    assert [each["backend"] for each in weighed["backends"]] == ["bm25", "vector", "hybrid"]


def test_slices_are_the_tags_of_the_set_in_byte_order(capsysbinary: Capture) -> None:
    weighed = evidence(capsysbinary, "--compare", "bm25,hybrid", "--evidence", "--metrics", "mrr")
    tags = [each["tag"] for each in weighed["slices"]]
    assert tags == sorted(tags)
    symbol = weighed["slices"][tags.index("symbol")]
    lines = [json.loads(line) for line in CODE.read_text("utf-8").splitlines()]
    assert symbol["n"] == sum(1 for line in lines if "symbol" in line.get("tags", ()))
    compared = symbol["compare"]["mrr"]
    assert compared["better"] + compared["worse"] + compared["tied"] == symbol["n"]


def test_the_same_seed_gives_the_same_bytes(capsysbinary: Capture) -> None:
    arguments = ("relevance", str(CODE), "--compare", "vector,hybrid", "--evidence", "--resamples", "500")
    first = printed(capsysbinary, *arguments)
    assert printed(capsysbinary, *arguments) == first
    assert printed(capsysbinary, *arguments, "--seed", "1") != first


def test_the_installed_command_gives_the_same_bytes(run_cce: Run, capsysbinary: Capture) -> None:
    arguments = ("relevance", str(CODE), "--compare", "bm25,vector", "--evidence", "--metrics", "mrr")
    result = run_cce(*arguments, PYTHONHASHSEED="3", LC_ALL="C", PYTHONUTF8="0")
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.decode() == printed(capsysbinary, *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metrics", "ndgc"], "unknown metric 'ndgc'; did you mean 'ndcg'? (known: precision_at_k, recall"),
        (["--metrics", "mrr,P@k"], "unknown metric 'P@k'"),
        (["--metrics", " , "], "--metrics names no metric"),
        (["--alpha", "0"], "--alpha must lie between 0 and 1"),
        (["--alpha", "1"], "--alpha must lie between 0 and 1"),
        (["--alpha", "nan"], "--alpha must lie between 0 and 1"),
        (["--alpha", "five"], "'five' is not a valid float"),
        (["--min-effect", "-0.1"], "--min-effect must"),
        (["--min-effect", "nan"], "--min-effect must"),
        (["--resamples", "0"], "--resamples must"),
        (["--resamples", "1.5"], "'1.5' is not a valid integer"),
        (["--seed", "-1"], "--seed must"),
        (["--seed", "4294967296"], "--seed must"),
    ],
)
def test_a_wrong_setting_is_one_line_with_the_way_out(
    capsysbinary: Capture, arguments: list[str], message: str
) -> None:
    assert message in refused(capsysbinary, "relevance", str(CODE), "--evidence", *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--metrics", "mrr"],
        ["--alpha", "0.1"],
        ["--min-effect", "0"],
        ["--seed", "0"],
        ["--resamples", "10"],
    ],
)
def test_a_setting_without_evidence_is_refused_and_says_so(
    capsysbinary: Capture, arguments: list[str]
) -> None:
    message = refused(capsysbinary, "relevance", str(CODE), *arguments)
    assert message == f"{arguments[0]} says how to weigh the evidence: add --evidence, or leave it out"


def test_a_grade_of_an_anchor_that_is_not_expected_is_refused(tmp_path: Path, capsysbinary: Capture) -> None:
    case = {"query": "load", "expected": ["a.py"], "grades": {"b.py": 2}}
    fixtures = tmp_path / "set.jsonl"
    fixtures.write_text(json.dumps(case) + "\n")
    message = refused(capsysbinary, "relevance", str(fixtures), "--dir", str(SAMPLES), "--evidence")
    assert "set.jsonl:1: grades names 'b.py', which is not in expected" in message


def test_metrics_lists_every_metric_aligned(capsysbinary: Capture) -> None:
    header, *lines = printed(capsysbinary, "metrics").splitlines()
    cut_only = ["judged@K", "irrelevant_hits@K"]
    assert [line.split()[0] for line in lines] == [*CATALOG, *cut_only]
    column = header.index("definition")
    definitions = [metric.definition for metric in CATALOG.values()]
    assert [line[column:] for line in lines[: len(CATALOG)]] == definitions
    assert all("0 to 1" in line[:column] and line[column - 1] == " " for line in lines)


def test_metrics_as_json_say_which_need_the_index(capsysbinary: Capture) -> None:
    rows = json.loads(printed(capsysbinary, "metrics", "--json"))["metrics"]
    cut_only = ["judged@K", "irrelevant_hits@K"]
    assert [row["name"] for row in rows] == [*CATALOG, *cut_only]
    needing = [row["name"] for row in rows if row["needs_index"]]
    assert needing == ["ndcg", "ndcg_linear", "ap", *cut_only]
    assert rows[0] == {
        "name": "precision_at_k",
        "definition": "relevant results / k",
        "range": [0, 1],
        "needs_index": False,
    }
