"""Whole reports over the sample corpora, byte for byte, from the installed command."""

from __future__ import annotations

import pytest

from conftest import Run
from golden import Goldens

COMMANDS = {
    "code.txt": "relevance eval/code.jsonl",
    "code.json": "relevance eval/code.jsonl --json",
    "code.bm25-hybrid.txt": "relevance eval/code.jsonl --compare bm25,hybrid",
    "code.bm25-hybrid.json": "relevance eval/code.jsonl --compare bm25,hybrid --json",
    "code.classics.txt": "relevance eval/code.jsonl --backend bm25,bm25-okapi,bm25-plus,bm25-l",
    "docs.txt": "relevance eval/docs.jsonl",
    "docs.json": "relevance eval/docs.jsonl --json",
    "docs.bm25-vector.txt": "relevance eval/docs.jsonl --compare bm25,vector",
    "code.evidence.txt": "relevance eval/code.jsonl --compare bm25,hybrid --evidence",
    "code.evidence.json": "relevance eval/code.jsonl --compare bm25,hybrid --evidence --json",
    "gate.txt": "gate eval/gate.toml",
    "gate.json": "gate eval/gate.toml --json",
    "gate.md": "gate eval/gate.toml --report markdown=-",
    "gate.html": "gate eval/gate.toml --report html=-",
    "gate.junit.xml": "gate eval/gate.toml --report junit=-",
    "gate.github.txt": "gate eval/gate.toml --report github=-",
    "gate-docs.txt": "gate eval/gate-docs.toml",
    "metrics.txt": "metrics",
    "samples.conformance.json": "conformance test_fixtures/samples -o -",
    "handbook.conformance.json": "conformance test_fixtures/handbook -o -",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_report_is_the_golden(name: str, goldens: Goldens, run_cce: Run) -> None:
    result = run_cce(*COMMANDS[name].split())
    assert (result.returncode, result.stderr) == (0, b"")
    goldens.check(name, result.stdout)


def test_every_golden_belongs_to_a_command(goldens: Goldens) -> None:
    assert goldens.orphans(set(COMMANDS)) == set()
