"""`cce bench`: its counts and its savings by hand; its times only have to be there and in order."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.benchmark import BackendBenchmark, Benchmark, Latency, Spread, TokenSaving
from cce.domain.ranking import Chunk
from cce.errors import CorpusError
from cce.report.json.benchmark import render_benchmark_json
from cce.report.text.benchmark import render_benchmark_text
from cce.retrieval.indexing.directory import index_directory
from cce.usecases.bench import (
    BenchmarkPlan,
    BenchQuery,
    made_questions,
    peak_memory,
    percentile,
    run_benchmark,
    token_saving,
)
from cce.usecases.corpora import CorpusChoice
from conftest import Run
from trees import plant

# 25 bytes a function, so 6 tokens; the file has 100 bytes: 25 tokens.
LOAD = "def load(a):\n    return a"
SAVE = "def save(b):\n    return b"
APP = f"{LOAD}\n{SAVE}\n{'#' * 47}\n"
NOTES = "load is told of here".ljust(40) + "\n"  # one chunk of 41 bytes: 10 tokens, all of its file

SAVING = TokenSaving(16, 35)
TEXT = """\
CCE bench — is it fast and cheap? (cce.bench/v1)
  corpus  : src (2 files, 3 chunks, 0.50 MB of text)
  queries : 20, of set.jsonl
  machine : cpython 3.11.7 on linux, 2 processors
  runs    : 3 timed runs after 1 warm-up; median [min .. max]
  index   : 0.250 [0.200 .. 0.400] s, 2.00 MB/s, from scratch without the cache
  memory  : 12.0 MB at most, the workers' aside

  ms a query; first builds what the backend needs and no backend before it built
  backend   first                     p50                     p95                     max
  bm25     10.000  1.000 [0.500 .. 1.500]  2.000 [1.750 .. 3.000]  5.000 [4.000 .. 9.000]

  tokens in the top k against those of the whole files they come from
  backend  top k  files  saved
  bm25        16     35  54.3%
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two files beside a set that asks for `load` with room for one, and then for all."""
    assert (len(LOAD), len(APP), len(NOTES)) == (25, 100, 41)
    plant(tmp_path, {"src/app.py": APP, "src/notes.md": NOTES})
    cases = [{"query": "load", "expected": ["app.py"], "k": k} for k in (1, 10)]
    lines = [{"schema": "cce.relevance/v1", "corpus": "src"}, *cases]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def measured(saving: TokenSaving = SAVING, **other: Any) -> Benchmark:
    """A benchmark with round figures."""
    latency = Latency(10.0, Spread(0.5, 1.0, 1.5), Spread(1.75, 2.0, 3.0), Spread(4.0, 5.0, 9.0))
    facts: dict[str, Any] = {
        "corpus": "src",
        "fixtures": "set.jsonl",
        "machine": "cpython 3.11.7 on linux, 2 processors",
        "n_files": 2,
        "n_chunks": 3,
        "n_bytes": 500_000,
        "n_queries": 20,
        "n_warm_ups": 1,
        "n_runs": 3,
        "index_seconds": Spread(0.2, 0.25, 0.4),
        "n_peak_bytes": 12_000_000,
        "backends": (BackendBenchmark("bm25", latency, saving),),
    }
    return Benchmark(**(facts | other))


def chunk(content: str, path: str = "a.py") -> Chunk:
    return Chunk("0" * 16, path, 1, 1, "function", "function_definition", "python", content.encode(), 1)


@pytest.mark.parametrize(
    ("percent", "expected"),
    [(1, 1), (50, 10), (51, 11), (95, 19), (96, 20), (100, 20)],
)
def test_a_percentile_of_twenty_is_the_nearest_rank(percent: int, expected: int) -> None:
    assert percentile(range(20, 0, -1), percent) == expected


def test_every_percentile_of_one_value_is_that_value() -> None:
    assert [percentile([7.0], percent) for percent in (1, 50, 100)] == [7.0, 7.0, 7.0]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=50), st.integers(1, 100))
def test_a_percentile_is_the_least_value_that_enough_do_not_exceed(values: list[float], percent: int) -> None:
    found = percentile(values, percent)
    assert sum(value <= found for value in values) * 100 >= percent * len(values)
    assert sum(value < found for value in values) * 100 < percent * len(values)


def test_a_spread_has_the_median_between_its_ends() -> None:
    assert Spread.of([3.0, 1.0, 2.0]) == Spread(1.0, 2.0, 3.0)
    assert Spread.of([4.0, 1.0]) == Spread(1.0, 2.5, 4.0)
    assert Spread.of([5.0]) == Spread(5.0, 5.0, 5.0)


def test_queries_are_made_of_evenly_spaced_chunks() -> None:
    chunks = [chunk(f"def f{number}(x):\n    pass") for number in range(10)]
    assert made_questions(chunks, n=3, k=5) == [
        BenchQuery("def f0 x", 5),
        BenchQuery("def f3 x", 5),
        BenchQuery("def f6 x", 5),
    ]


def test_more_queries_than_chunks_ask_for_every_chunk_once() -> None:
    assert [question.text for question in made_questions([chunk("a"), chunk("b")], n=5)] == ["a", "b"]


def test_a_query_is_the_first_line_with_a_token_cut_to_eight() -> None:
    texts = ["—\n\n  // One.two(three)\nfour", "a b c d e f g h i j", "...", "", "a b c d e f g h"]
    made = [question.text for question in made_questions([chunk(text) for text in texts])]
    assert made == ["one two three", "a b c d e f g h"]  # no token, no query; and none twice


def test_a_file_counts_once_a_query_and_a_hit_every_time(project: Path) -> None:
    index = index_directory(str(project / "src"), lambda *_: None).index
    load, save, notes = (
        next(hit for hit in map(_hit, index.chunks) if hit.chunk.content.startswith(start))
        for start in (b"def load", b"def save", b"load is")
    )
    assert token_saving([(load, save)], index) == TokenSaving(6 + 6, 25)
    assert token_saving([(load,), (save, notes), ()], index) == TokenSaving(6 + 6 + 10, 25 + 25 + 10)


def _hit(chunk: Chunk) -> Any:
    from cce.domain.ranking import Hit

    return Hit(chunk, 1.0)


@pytest.mark.parametrize(
    ("saving", "share", "shown"),
    [
        (TokenSaving(6, 24), 0.75, "75.0%"),
        (TokenSaving(10, 10), 0.0, "0.0%"),
        (TokenSaving(30, 20), -0.5, "-50.0%"),  # a class and its only method, side by side
        (TokenSaving(0, 0), None, "n/a"),
    ],
)
def test_the_saving_is_what_need_not_be_read(saving: TokenSaving, share: float | None, shown: str) -> None:
    assert saving.share == share
    assert render_benchmark_text(measured(saving)).endswith(f"{shown}\n")
    (backend,) = json.loads(render_benchmark_json(measured(saving)))["backends"]
    assert backend["tokens"]["saved"] == (None if share is None else f"{share:.6f}")


def test_the_text_is_aligned_to_the_letter() -> None:
    assert render_benchmark_text(measured()) == TEXT


def test_the_text_says_where_queries_and_figures_are_missing() -> None:
    text = render_benchmark_text(measured(fixtures=None, n_peak_bytes=None, n_runs=1))
    assert "  queries : 20, made of evenly spaced chunks\n" in text
    assert "  memory  : n/a\n" in text
    assert "  runs    : 1 timed run after 1 warm-up;" in text


def test_json_has_every_figure_with_sorted_keys() -> None:
    text = render_benchmark_json(measured())
    record = json.loads(text)
    assert text == json.dumps(record, indent=2, sort_keys=True) + "\n"
    (backend,) = record.pop("backends")
    assert backend == {
        "backend": "bm25",
        "latency_ms": {
            "first": "10.000000",
            "max": {"max": "9.000000", "median": "5.000000", "min": "4.000000"},
            "p50": {"max": "1.500000", "median": "1.000000", "min": "0.500000"},
            "p95": {"max": "3.000000", "median": "2.000000", "min": "1.750000"},
        },
        "tokens": {"in_files": 35, "in_hits": 16, "saved": "0.542857"},
    }
    assert record == {
        "chunks": 3,
        "corpus": "src",
        "files": 2,
        "fixtures": "set.jsonl",
        "index_mb_per_second": "2.000000",
        "index_seconds": {"max": "0.400000", "median": "0.250000", "min": "0.200000"},
        "machine": "cpython 3.11.7 on linux, 2 processors",
        "peak_memory_bytes": 12_000_000,
        "queries": 20,
        "runs": 3,
        "schema": "cce.bench/v1",
        "text_bytes": 500_000,
        "warm_ups": 1,
    }


def test_a_set_is_measured_on_its_own_corpus(project: Path, run_cce: Run) -> None:
    cache = project / "cache"
    result = run_cce("bench", "set.jsonl", "--repeat", "2", "--json", cwd=project, CCE_CACHE_DIR=str(cache))
    assert (result.returncode, result.stderr, cache.exists()) == (0, b"", False)
    record = json.loads(result.stdout)
    assert (record["corpus"], record["fixtures"], record["queries"], record["runs"]) == (
        "src",
        "set.jsonl",
        2,
        2,
    )
    assert (record["files"], record["chunks"], record["text_bytes"]) == (2, 3, 141)
    assert [each["backend"] for each in record["backends"]] == ["bm25", "vector", "hybrid"]
    # `load` is in the function (6 of the file's 25 tokens) and in the notes (10 of 10); k = 1 takes one.
    bm25, vector, _ = (each["tokens"] for each in record["backends"])
    one, other = (6, 25), (10, 10)
    both = (one[0] + other[0], one[1] + other[1])
    assert (bm25["in_hits"], bm25["in_files"]) in [
        tuple(map(sum, zip(first, both, strict=True))) for first in (one, other)
    ]
    assert vector["in_hits"] in (22 + 6, 22 + 10)  # with k = 10 all three chunks


def test_all_times_are_positive_and_in_order(project: Path) -> None:
    plan = BenchmarkPlan(None, ("hybrid",), n_runs=3, corpus=CorpusChoice(str(project / "src")))
    benchmark = run_benchmark(plan, lambda *_: None).benchmark
    (hybrid,) = benchmark.backends
    spreads = (benchmark.index_seconds, hybrid.latency.p50, hybrid.latency.p95, hybrid.latency.most)
    assert all(0 < spread.least <= spread.median <= spread.most for spread in spreads)
    assert hybrid.latency.p50.median <= hybrid.latency.p95.median <= hybrid.latency.most.median
    assert hybrid.latency.first > 0


def test_without_a_set_the_current_directory_is_asked(project: Path, run_cce: Run) -> None:
    result = run_cce("bench", "--repeat", "1", "--backend", "bm25", cwd=project / "src")
    assert (result.returncode, result.stderr) == (0, b"")
    lines = result.stdout.decode().splitlines()
    assert lines[1] == "  corpus  : . (2 files, 3 chunks, 0.00 MB of text)"
    assert lines[2] == "  queries : 3, made of evenly spaced chunks"
    assert lines[4].startswith("  runs    : 1 timed run after 1 warm-up;")


def test_the_directory_given_wins_over_that_of_the_set(project: Path, run_cce: Run) -> None:
    plant(project, {"other/one.py": LOAD})
    result = run_cce("bench", "set.jsonl", "--dir", "other", "--repeat", "1", "--json", cwd=project)
    record = json.loads(result.stdout)
    assert (record["corpus"], record["files"]) == ("other", 1)


def test_what_makes_figures_doubtful_is_said(project: Path, run_cce: Run) -> None:
    (project / "src" / "app.py").unlink()
    result = run_cce("bench", "set.jsonl", "--repeat", "1", cwd=project)
    assert result.returncode == 0
    assert b"warning: set.jsonl: 2 of 2 anchors match nothing" in result.stderr


def test_a_corpus_without_a_token_has_no_queries(tmp_path: Path) -> None:
    plant(tmp_path, {"a.md": "—\n"})
    with pytest.raises(CorpusError, match="no text to make queries of; name a directory"):
        run_benchmark(BenchmarkPlan(None, ("bm25",), 1, CorpusChoice(str(tmp_path))), lambda *_: None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--repeat", "0"], b"--repeat"),
        (["--dir", "nowhere"], b"nowhere: No such file or directory"),
        (["missing.jsonl"], b"missing.jsonl: cannot read the fixture set"),
        (["--backend", "hybird"], b"did you mean 'hybrid'?"),
    ],
)
def test_a_wrong_call_is_one_line(project: Path, run_cce: Run, arguments: list[str], message: bytes) -> None:
    result = run_cce("bench", *arguments, cwd=project)
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.startswith(b"error: ")
    assert result.stderr.count(b"\n") == 1
    assert message in result.stderr


def test_peak_memory_is_counted_in_bytes() -> None:
    pytest.importorskip("resource", reason="this system does not tell")
    most = peak_memory()
    assert most is not None
    assert 10_000_000 < most < 100_000_000_000  # an interpreter with numpy; in kibibytes it has less


@pytest.mark.process
def test_memory_of_the_parent_is_not_ours() -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("this system tells the parent's memory as ours")
    peak = "from cce.usecases.bench import peak_memory; print(peak_memory())"
    parent = f"""import subprocess, sys
held = b"x" * 300_000_000
subprocess.run([sys.executable, "-c", {peak!r}], check=True)"""
    shown = subprocess.run([sys.executable, "-c", parent], capture_output=True, check=True).stdout
    assert 10_000_000 < int(shown) < 200_000_000


def test_every_json_key_is_told_in_the_help(run_cce: Run) -> None:
    shown = run_cce("bench", "--help").stdout.decode()
    record = json.loads(render_benchmark_json(measured()))
    (backend,) = record["backends"]
    keys = [*record, "backend ", *(f"latency_ms.{key}" for key in backend["latency_ms"])]
    keys += [f"tokens.{key}" for key in backend["tokens"]]
    assert [key for key in keys if key not in shown] == []
