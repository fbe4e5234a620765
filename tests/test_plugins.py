"""Packages of other people: the one of eval/plugins.md as it is printed there, and faulty ones."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import cce.plugins
from conftest import ROOT, Run
from test_readme import as_pattern, blocks, without_trailing_blanks

PAGE = ROOT / "eval" / "plugins.md"
MAX_LINES_PER_EXAMPLE = 25

Install = Callable[[Mapping[str, str], Mapping[str, str]], dict[str, str]]


def printed_files() -> dict[str, str]:
    """The files that the page shows, by name."""
    found = re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    return dict(found)


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Lay a package as an installer would; returns the environment in which Python finds it."""

    def lay(modules: Mapping[str, str], entry_points: Mapping[str, str]) -> dict[str, str]:
        site = tmp_path / "site"
        for name, text in modules.items():
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            (site / name).write_text(text, "utf-8")
        record = site / "my_search-0.1.0.dist-info"
        record.mkdir()
        (record / "METADATA").write_text("Metadata-Version: 2.1\nName: my-search\nVersion: 0.1.0\n")
        lines = [f"[{group}]\nmine = {value}\n" for group, value in entry_points.items()]
        (record / "entry_points.txt").write_text("".join(lines))
        return {"PYTHONPATH": str(site)}

    return lay


@pytest.mark.process
def test_the_package_of_the_page_does_what_the_page_shows(
    install: Install, run_cce: Run, tmp_path: Path
) -> None:
    files = printed_files()
    assert list(files) == [
        *("pyproject.toml", "my_search/backend.py", "my_search/embedder.py", "my_search/metric.py"),
        *("my_search/reranker.py", "mine.toml"),
    ]
    (tmp_path / "mine.toml").write_text(files["mine.toml"])
    groups = tomllib.loads(files["pyproject.toml"])["project"]["entry-points"]
    environment = install(files, {group: points["mine"] for group, points in groups.items()})
    for name in ("eval", "test_fixtures"):
        (tmp_path / name).symlink_to(ROOT / name)
    shown = [body for _, _, language, body in blocks(PAGE) if language == "console"]
    steps = [part.partition("\n") for body in shown for part in re.split(r"^\$ ", body, flags=re.M)[1:]]
    assert len(steps) == 5
    for command, _, output in steps:
        result = run_cce(*command.split()[1:], cwd=tmp_path, **environment)
        printed = result.stdout.decode()
        assert result.returncode == 0, result.stderr.decode()
        assert re.fullmatch(as_pattern(output), without_trailing_blanks(printed)), printed


def test_each_example_of_the_page_is_short() -> None:
    lengths = {name: text.count("\n") for name, text in printed_files().items() if name.endswith(".py")}
    assert {name: n for name, n in lengths.items() if n >= MAX_LINES_PER_EXAMPLE} == {}


def test_the_examples_import_nothing_of_cce_but_the_stable_names() -> None:
    imports = re.findall(r"^(?:from|import) (cce[\w.]*)", "\n".join(printed_files().values()), re.M)
    assert set(imports) == {"cce.plugins"}


def test_every_stable_name_is_there_and_says_what_it_is() -> None:
    assert cce.plugins.__all__ == sorted(cce.plugins.__all__)
    unsaid = [name for name in cce.plugins.__all__ if not getattr(cce.plugins, name).__doc__]
    assert unsaid == []


@pytest.mark.process
def test_the_stable_names_cost_no_heavy_library() -> None:
    script = "import sys, cce.plugins; print(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy = {"numpy", "scipy", "pydantic", "tree_sitter", "click", "jinja2", "msgspec"}
    assert heavy & set(run.stdout.split()) == set()


RANKINGS = {
    "its first hit k times": ("return hits(0) * k", "rank 2 repeats"),
    "more than k hits": ("return hits(*range(k + 1))", "4 results for k = 3; a ranking has at most k"),
    "a score of NaN": ("return hits(0, score=float('nan'))", "the score at rank 1 is nan"),
    "a wrong type": ("return [0]", "rank 1 must be a Hit, got int"),
    "an error": ("raise ValueError('two\\nlines')", "ValueError: two"),
    "a refused connection": ("raise ConnectionRefusedError('refused')", "ConnectionRefusedError: refused"),
    "a broken pipe": ("raise BrokenPipeError('gone')", "BrokenPipeError: gone"),
}
BACKEND = """
from cce.plugins import Hit


class Mine:
    def __init__(self, index):
        self.index = index

    def rank(self, query, k):
        def hits(*positions, score=1.0):
            return [Hit(self.index.chunks[position], score) for position in positions]

        {answer}
"""


def told(run: Run, environment: Mapping[str, str], *arguments: str) -> str:
    """The one line that a run which ends with 2 has on standard error; it prints no report."""
    result = run(*arguments, **environment)
    assert result.returncode == 2, result.stdout.decode() + result.stderr.decode()
    assert result.stdout == b""
    lines = result.stderr.decode().splitlines()
    assert len(lines) == 1, lines
    return lines[0]


@pytest.mark.process
@pytest.mark.parametrize(("answer", "law"), RANKINGS.values(), ids=RANKINGS)
def test_a_backend_that_breaks_a_law_is_named_with_its_package(
    answer: str, law: str, install: Install, run_cce: Run
) -> None:
    environment = install({"faulty.py": BACKEND.format(answer=answer)}, {"cce.backends": "faulty:Mine"})
    line = told(run_cce, environment, "relevance", "eval/docs.jsonl", "--backend", "bm25,mine")
    assert line.startswith("error: backend 'mine' of package 'my-search': ")
    assert law in line


EMBEDDERS = {
    "a wrong width": ("return np.ones((len(texts), 3)) / 3**0.5", "vectors have the shape ("),
    "a wrong norm": ("return np.ones((len(texts), 2))", "has the norm 1.41421, expected 1 or 0"),
    "NaN": ("return np.full((len(texts), 2), np.nan)", "has the norm nan, expected 1 or 0"),
    "text": ("return 'vectors'", "vectors must be numbers, one row per text"),
    "a time-out": ("raise TimeoutError('timed out')", "TimeoutError: timed out"),
}
EMBEDDER = """
import numpy as np


class Mine:
    name = "mine"
    dimension = 2

    def __init__(self, *, model=None):
        pass

    def embed(self, texts):
        {answer}
"""


@pytest.mark.process
@pytest.mark.parametrize(("answer", "law"), EMBEDDERS.values(), ids=EMBEDDERS)
def test_an_embedder_that_breaks_a_law_is_named_with_its_package(
    answer: str, law: str, install: Install, run_cce: Run, tmp_path: Path
) -> None:
    environment = install({"faulty.py": EMBEDDER.format(answer=answer)}, {"cce.embedders": "faulty:Mine"})
    store = str(tmp_path / "store.json")
    line = told(
        run_cce, environment, "index", "test_fixtures/handbook", "--store", store, "--embedder", "mine"
    )
    assert line.startswith("error: embedder 'mine' of package 'my-search': ")
    assert law in line


FIGURES = {
    "more than 1": ("return 1.5", "the figure 1.5 is outside its range 0 to 1"),
    "less than 0": ("return -0.1", "the figure -0.1 is outside its range 0 to 1"),
    "NaN": ("return float('nan')", "a figure is a finite float or None, got nan"),
    "text": ("return '1'", "a figure is a finite float or None, got '1'"),
    "an error": ("return 1 / 0", "ZeroDivisionError: "),
}
METRIC = """
from cce.plugins import Metric


def figure(match):
    {answer}


MINE = Metric("mine", "a faulty figure", figure)
"""


@pytest.mark.process
@pytest.mark.parametrize(("answer", "law"), FIGURES.values(), ids=FIGURES)
def test_a_metric_that_breaks_a_law_is_named_with_its_package(
    answer: str, law: str, install: Install, run_cce: Run
) -> None:
    environment = install({"faulty.py": METRIC.format(answer=answer)}, {"cce.metrics": "faulty:MINE"})
    arguments = ("relevance", "eval/docs.jsonl", "--backend", "bm25", "--evidence", "--metrics", "mine")
    line = told(run_cce, environment, *arguments)
    assert line.startswith("error: metric 'mine' of package 'my-search': ")
    assert law in line


@pytest.mark.process
def test_a_plug_in_that_cannot_be_imported_is_named_with_its_package(install: Install, run_cce: Run) -> None:
    environment = install({"faulty.py": "import no_such_module\n"}, {"cce.backends": "faulty:Mine"})
    line = told(run_cce, environment, "relevance", "eval/docs.jsonl", "--backend", "mine")
    assert "'mine'" in line
    assert "No module named 'no_such_module'" in line


@pytest.mark.process
def test_a_built_in_name_cannot_be_taken(install: Install, run_cce: Run) -> None:
    environment = install({"faulty.py": BACKEND.format(answer="return ()")}, {})
    points = Path(environment["PYTHONPATH"]) / "my_search-0.1.0.dist-info" / "entry_points.txt"
    points.write_text(
        textwrap.dedent("""\
        [cce.backends]
        bm25 = faulty:Mine
        """)
    )
    line = told(run_cce, environment, "relevance", "eval/docs.jsonl", "--backend", "bm25")
    assert "backend 'bm25' is offered by two packages, cce-relevance and my-search" in line
