from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cce.cli.main import main

CODE = "import os\n\n\ndef pin(a):\n    return a\n\n\ndef main():\n    pin(1)\n"
CASES: tuple[dict[str, Any], ...] = (
    {"id": "file", "query": "check the pin", "expected": ["a.py#function_definition@4-5"], "k": 3},
    {"id": "gone", "query": "notes", "expected": ["b.txt", "gone.txt"], "k": 3},
)
ANSWERS: dict[str, list[dict[str, Any]]] = {
    "file": [
        {"path": "x.py", "start": 1, "end": 2},
        {"path": "a.py", "start": 5, "end": 5},
        {"path": "a.py", "start": 4, "end": 4},
    ],
    "gone": [
        {"path": "a.py", "start": 1, "end": 1},
        {"path": "b.txt"},
        {"path": "a.py", "start": 2, "end": 2},
    ],
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(CODE)
    (tmp_path / "src" / "b.txt").write_text("notes\n")
    lines = [{"schema": "cce.relevance/v1", "corpus": "src"}, *CASES]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    head = {"schema": "cce.run/v1", "system": "mine"}
    answers = [{"id": case, "results": results} for case, results in ANSWERS.items()]
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in (head, *answers)))
    return tmp_path


def measured(place: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[str, str]:
    run = f"mine={place / 'run.jsonl'}"
    assert main(["relevance", str(place / "set.jsonl"), "--run", run, *options]) == 0
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_lines_of_one_function_count_in_precision_and_gain_once(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = measured(place, capsys, "--json", "--evidence", "--metrics", "mrr,ndcg,ap")
    report = json.loads(out)
    first, second = report["backends"][0]["per_query"]
    assert (first["precision_at_k"], first["mrr"], first["recall"]) == ("0.666667", "0.500000", "1.000000")
    # Expected 4-5, retrieved x.py 1-2, a.py 5 and 4: 5 tokens of `def pin(a):` and `    return a` (2 + 3).
    assert first["tokens"] == {"iou": "0.714286", "precision": "0.714286", "recall": "1.000000"}
    assert second["recall"] == "0.500000"
    metrics = report["evidence"]["backends"][0]["metrics"]
    # ndcg: 0.630930 for the function at rank 2, gained once; 0.386853 with gone.txt in the ideal.
    assert metrics["ndcg"]["mean"] == "0.508891"
    assert metrics["ap"]["mean"] == "0.375000"  # (1/2 + (1/2)/2) / 2
    assert "mine: 1 result lies outside of the corpus and matches nothing: 'x.py'" in err


def test_a_directory_and_a_store_of_it_give_the_same_figures(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(place / "index.json")
    assert main(["index", str(place / "src"), "--store", store]) == 0
    capsys.readouterr()
    figures = [
        json.loads(measured(place, capsys, "--json", *options)[0])["backends"]
        for options in ((), ("--store", store))
    ]
    assert figures[0] == figures[1]


def test_a_page_shows_the_lines_of_locations(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = place / "page.html"
    measured(place, capsys, "--report", f"html={page}")
    text = page.read_text()
    assert '"opening":' in text
    assert "    return a" in text
    assert '"x.py"' in text


def test_without_a_corpus_anchors_are_the_units(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = measured(place, capsys, "--no-corpus")
    assert "  corpus  : (none)\n  embedder: (none)\n" in out
    report = json.loads(measured(place, capsys, "--no-corpus", "--json")[0])
    first, second = report["backends"][0]["per_query"]
    assert first["recall"] == "0.000000"  # the run names no kind
    assert second["recall"] == "0.500000"
