"""`cce explain` as it is installed: exit codes, what goes where, and the JSON it promises."""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from trees import write_set


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a corpus and a set that names it."""
    (tmp_path / "src" / "docs").mkdir(parents=True)
    (tmp_path / "src" / "login.py").write_bytes(b"def login(user):\n    return user\n")
    (tmp_path / "src" / "docs" / "login.md").write_bytes(b"How a user is let in: login\n")
    (tmp_path / "src" / "pay.py").write_bytes(b"def pay():\n    pass\n")
    write_set(
        tmp_path, {"id": "login", "query": "user login", "expected": ["login.py@1-2", "pay.py"], "k": 2}
    )
    return tmp_path


def explained(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert isinstance(record, dict)
    assert done.stdout.decode() == json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    return record


def test_the_three_backends_are_explained_in_order(folder: Path, run_cce: Run) -> None:
    done = run_cce("explain", "set.jsonl", "login", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert text.startswith(
        "CCE explain — one case in full (cce.relevance/v1)\n  case    : login (set.jsonl:2)\n"
    )
    heads = [line for line in text.splitlines() if " anchors matched within k = 2" in line]
    assert heads == [f"{name}: 1 of 2 anchors matched within k = 2" for name in ("bm25", "vector", "hybrid")]


def test_backends_are_those_asked_for(folder: Path, run_cce: Run) -> None:
    done = run_cce("explain", "set.jsonl", "login", "--backend", "bm25-l,vector", "--json", cwd=folder)
    classic, vector = explained(done)["backends"]
    assert (classic["backend"], vector["backend"]) == ("bm25-l", "vector")
    # Of a classic only the score is known.
    assert all(hit["shares"] == [] and hit["parts"] is None for hit in classic["results"])


def test_the_json_has_every_part_of_a_hybrid_score(folder: Path, run_cce: Run) -> None:
    record = explained(run_cce("explain", "set.jsonl", "login", "--backend", "hybrid", "--json", cwd=folder))
    assert (record["schema"], record["id"], record["line"], record["k"]) == ("cce.explain/v1", "login", 2, 2)
    (hybrid,) = record["backends"]
    first = hybrid["results"][0]
    assert (first["rank"], first["file_path"], first["anchors"]) == (1, "login.py", ["login.py@1-2"])
    # Query (1, 1), chunk (def 1, login 1, user 2, return 1): cosine 3 / sqrt(2 * 7).
    assert first["parts"] == {
        "graph": False,
        "vector_rank": 1,
        "keyword_rank": 1,
        "rrf": "0.033333",
        "norm": "1.000000",
        "cosine": "0.801784",
        "vs": "0.900892",
        "ks": "1.000000",
        "confidence": "0.850446",
        "penalty": "1.000000",
    }
    (miss,) = hybrid["missed"]
    assert (miss["anchor"], miss["best"]["rank"], miss["ranked"], miss["fate"]) == ("pay.py", 3, 3, "behind")


def test_shown_shares_sum_to_the_shown_score(folder: Path, run_cce: Run) -> None:
    done = run_cce("explain", "set.jsonl", "login", "--backend", "bm25,hybrid", "--json", cwd=folder)
    hits = [hit for backend in explained(done)["backends"] for hit in backend["results"]]
    assert len(hits) == 4
    for hit in hits:
        assert sum(Decimal(share["share"]) for share in hit["shares"]) == Decimal(hit["score"])


def test_a_store_explains_as_its_directory_does(folder: Path, run_cce: Run) -> None:
    run_cce("index", "src", "--store", "kept.json", cwd=folder)
    of_store = explained(
        run_cce("explain", "set.jsonl", "login", "--store", "kept.json", "--json", cwd=folder)
    )
    of_directory = explained(run_cce("explain", "set.jsonl", "login", "--dir", "src", "--json", cwd=folder))
    assert of_store == {**of_directory, "corpus": "kept.json"}


def test_an_unknown_id_exits_2_and_names_the_nearest(folder: Path, run_cce: Run) -> None:
    done = run_cce("explain", "set.jsonl", "logni", cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"error: set.jsonl: unknown case 'logni'; did you mean 'login'? (known: login)\n"


def test_of_an_id_used_twice_the_first_is_explained_and_the_rest_named(folder: Path, run_cce: Run) -> None:
    case: dict[str, object] = {"id": "login", "query": "user login", "expected": ["login.py"]}
    write_set(folder, case, {**case, "query": "other"}, {**case, "id": "x"}, case)
    done = run_cce("explain", "set.jsonl", "login", "--json", cwd=folder)
    assert (explained(done)["line"], explained(done)["query"]) == (2, "user login")
    assert done.stderr == (
        b"warning: set.jsonl: 3 cases have the id 'login' (lines 2, 3, 5); the first is explained, give each"
        b" case its own id\n"
    )


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("--dir", "src", "--store", "x"), b"--dir and --store exclude each other"),
        (("--backend", "bm52"), b"unknown backend 'bm52'; did you mean 'bm25'?"),
        (("--backend", ","), b"--backend names no backend"),
        (("--dir", "gone"), b"gone"),
        (("--store", "gone"), b"gone"),
    ],
)
def test_wrong_usage_exits_2_with_one_line(
    folder: Path, run_cce: Run, arguments: tuple[str, ...], fault: bytes
) -> None:
    done = run_cce("explain", "set.jsonl", "login", *arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: ")
    assert fault in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_a_case_without_an_id_is_called_by_its_line(folder: Path, run_cce: Run) -> None:
    write_set(folder, {"query": "user login", "expected": ["login.py"]})
    assert explained(run_cce("explain", "set.jsonl", "q2", "--json", cwd=folder))["line"] == 2


@pytest.mark.process
def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom cce.cli.main import main\nmain(['explain', '--help'])\n"
        "print([name for name in ('numpy', 'pydantic', 'scipy', 'tree_sitter') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.splitlines()[-1] == b"[]"
