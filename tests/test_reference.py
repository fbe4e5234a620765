"""Parity with another implementation of the same contract, byte for byte, over public packages."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from cce.measurement.fixtures.reading import read_fixture_set
from cce.report.json.listings import render_conformance
from cce.report.json.report_v2 import render_json
from cce.report.text.report import render_text
from cce.retrieval.indexing.directory import IndexedCorpus, index_directory
from cce.retrieval.indexing.index import Index
from cce.usecases.evaluate import Plan, measure_systems, report_on
from conftest import Run
from corpora import unwatched
from oracle import Oracle

pytestmark = pytest.mark.process  # corpora of whole packages

CORPORA = ["express", "flask", "psutil", "requests", "ruby-sinatra", "rxjs", "serde_derive"]
DEFAULT = ("bm25", "vector", "hybrid")


@cache
def indexed_corpus(directory: str) -> IndexedCorpus:
    return index_directory(directory, unwatched)


def index_of(directory: str) -> Index:
    return indexed_corpus(directory).index


def as_ours(conformance: bytes) -> bytes:
    """The only field in which two implementations may differ."""
    return conformance.replace(b'"impl_language": "rust"', b'"impl_language": "python"', 1)


def report(oracle: Oracle, name: str, backends: tuple[str, ...], render: object) -> bytes:
    fixtures = read_fixture_set(str(oracle.folder / "sets" / f"{name}.jsonl"))
    plan = Plan(fixtures.path, backends, is_comparison=len(backends) == 2)
    indexed = indexed_corpus(str(oracle.unpack(name) / name))
    assert callable(render)
    measurement = measure_systems(plan, fixtures, indexed.index, unwatched)
    return str(render(report_on(plan, fixtures, name, indexed, measurement))).encode()


def test_the_corpora_are_the_ones_compared_here(oracle: Oracle) -> None:
    assert oracle.names == CORPORA


@pytest.mark.parametrize("name", CORPORA)
def test_chunks_are_the_same(oracle: Oracle, name: str) -> None:
    index = index_of(str(oracle.unpack(name) / name))
    expected = as_ours(oracle.read(f"reports/{name}.conformance.json"))
    assert render_conformance(index.chunks).encode() == expected


@pytest.mark.parametrize("name", CORPORA)
def test_json_report_is_the_same(oracle: Oracle, name: str) -> None:
    assert report(oracle, name, DEFAULT, render_json) == oracle.read(f"reports/{name}.json")


@pytest.mark.parametrize("name", CORPORA)
def test_json_comparison_is_the_same(oracle: Oracle, name: str) -> None:
    expected = oracle.read(f"reports/{name}.bm25-hybrid.json")
    assert report(oracle, name, ("bm25", "hybrid"), render_json) == expected


@pytest.mark.parametrize("name", CORPORA)
def test_text_comparison_is_the_same(oracle: Oracle, name: str) -> None:
    expected = oracle.read(f"reports/{name}.vector-bm25.txt")
    assert report(oracle, name, ("vector", "bm25"), render_text) == expected


@pytest.mark.parametrize("name", ["express", "ruby-sinatra"])
def test_the_command_prints_the_same(oracle: Oracle, name: str, run_cce: Run) -> None:
    fixtures = str(oracle.folder / "sets" / f"{name}.jsonl")
    result = run_cce("relevance", fixtures, "--dir", name, "--json", cwd=oracle.unpack(name))
    assert result.returncode == 0
    assert result.stdout == oracle.read(f"reports/{name}.json")


@pytest.mark.parametrize(
    ("golden", "arguments"),
    [
        ("code.golden.json", ["code.jsonl", "--json"]),
        ("docs.json", ["docs.jsonl", "--json"]),
        ("docs.bm25-hybrid.txt", ["docs.jsonl", "--compare", "bm25,hybrid"]),
    ],
)
def test_the_starter_sets_print_the_same(
    oracle: Oracle, golden: str, arguments: list[str], run_cce: Run
) -> None:
    fixtures, *options = arguments
    result = run_cce("relevance", f"eval/relevance/{fixtures}", *options, cwd=oracle.folder / "starter")
    assert result.stdout == oracle.read(f"starter/{golden}")


def test_the_starter_chunks_are_the_same(oracle: Oracle, run_cce: Run, tmp_path: Path) -> None:
    output = tmp_path / "conformance.json"
    samples = oracle.folder / "starter" / "test" / "fixture" / "samples"
    run_cce("conformance", ".", "-o", os.fspath(output), cwd=samples)
    assert output.read_bytes() == as_ours(oracle.read("starter/samples.conformance.json"))


def test_no_reference_file_was_left_out(oracle: Oracle) -> None:
    # The store and its searches have tests of their own.
    elsewhere = {"reports/express.index.json", "reports/express.search.jsonl"}
    assert oracle.reports() - oracle.compared - elsewhere == set()
