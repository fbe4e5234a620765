from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cce.retrieval.chunking.imports import c_imports
from cce.retrieval.chunking.languages import CHUNK_KINDS, PACKS, LanguagePack, language_pack
from cce.retrieval.indexing import cache
from cce.retrieval.indexing.cache import fingerprint

BY_EXTENSION = {
    ".py": "python",
    ".js": "javascript",
    ".jsx": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".rb": "ruby",
    ".rs": "rust",
    ".ts": "typescript",
    ".tsx": "typescript",
    ".c": "c",
    ".h": "c",
}


def test_the_extensions_are_those_of_the_table_and_no_two_packs_share_one() -> None:
    assert sorted(extension for pack in PACKS for extension in pack.extensions) == sorted(BY_EXTENSION)


@pytest.mark.parametrize(("extension", "name"), BY_EXTENSION.items())
def test_an_extension_names_its_language(extension: str, name: str) -> None:
    pack = language_pack(f"src/deep.er/name{extension}")
    assert pack is not None
    assert pack.name == name
    assert language_pack(f"NAME{extension.upper()}") is pack


@pytest.mark.parametrize("path", ["x.tar.py", ".hidden.py", "a b.py", "é.py", "..py", "dir/.x.py"])
def test_only_the_last_dot_of_the_base_name_counts(path: str) -> None:
    pack = language_pack(path)
    assert pack is not None
    assert pack.name == "python"


@pytest.mark.parametrize(
    "path",
    [".py", "src/.py", ".PY", "py", "Makefile", "a.", "a.py/b", "a.py.txt", "a.pyi", "a.cpp", "a.hpp", ""],
)
def test_other_names_have_no_language(path: str) -> None:
    assert language_pack(path) is None


# Runs an own code with a further row in the table, in front of all others so that positions shift.
WITH_A_ROW = """
import sys
from importlib.util import find_spec, module_from_spec
name = "cce.retrieval.chunking.languages"
spec = find_spec(name)
source = open(spec.origin, encoding="utf-8").read()
functions = "('method_declaration', 'function_declaration')"
row = f"PACKS = (LanguagePack('go', ('.go',), 'tree_sitter_go', 'language', {functions}, ('type_spec',)),"
assert source.count("PACKS = (\\n") == 1
module = sys.modules[name] = module_from_spec(spec)
exec(compile(source.replace("PACKS = (\\n", row), spec.origin, "exec"), module.__dict__)
from cce.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
GO = 'package main\n\nimport "fmt"\n\ntype Desk struct{}\n\nfunc lend(id int) int {\n\treturn id\n}\n'


def kinds_found(code: list[str], corpus: Path, folder: Path) -> dict[str, list[str]]:
    """By path the kinds of the chunks that an index of `corpus` has, by a Python that runs `code`."""
    store = folder / "store.json"
    command = [sys.executable, *code, "index", str(corpus), "--store", str(store)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    found: dict[str, list[str]] = {}
    for chunk in json.loads(store.read_bytes())["chunks"]:
        found.setdefault(chunk["file_path"], []).append(chunk["kind"])
    return found


@pytest.mark.process
def test_one_row_makes_a_language_and_no_cache_of_before_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCE_CACHE_DIR", str(tmp_path / "cache"))
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.py").write_text("import os\n\n\ndef a():\n    pass\n\n\nclass B:\n    pass\n")
    (corpus / "b.go").write_text(GO)
    (corpus / "c.go").write_text(GO * 1_600)  # so much that a query looks for the chunks
    python = ["function_definition", "class_definition"]
    plain, more = ["-m", "cce"], ["-c", WITH_A_ROW]
    first = kinds_found(plain, corpus, tmp_path)
    assert first == {"a.py": python, "b.go": ["module"], "c.go": ["module"]}
    go = ["type_spec", "function_declaration"]
    assert kinds_found(more, corpus, tmp_path) == {"a.py": python, "b.go": go, "c.go": go * 1_600}
    assert kinds_found(more, corpus, tmp_path) == {"a.py": python, "b.go": go, "c.go": go * 1_600}
    assert kinds_found(plain, corpus, tmp_path) == first


CHANGES: list[dict[str, Any]] = [
    {"name": "snake"},
    {"extensions": (".py", ".pyi")},
    {"grammar_package": "tree_sitter_starlark"},
    {"functions": ("function_definition", "lambda")},
    {"classes": ()},
    {"imports": ("import_statement",)},
    {"import_rule": c_imports},
    {"import_rule": None},
    {"holders": ()},
]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_whatever_changes_in_a_row_no_snapshot_of_before_is_taken(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fingerprint()
    monkeypatch.setattr(cache, "PACKS", (PACKS[0]._replace(**changes), *PACKS[1:]))
    assert fingerprint.__wrapped__() != before


def test_the_order_of_rows_and_of_kinds_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint()
    assert fingerprint.__wrapped__() == before
    monkeypatch.setattr(cache, "PACKS", (PACKS[1], PACKS[0], *PACKS[2:]))
    assert fingerprint.__wrapped__() != before
    monkeypatch.undo()
    monkeypatch.setattr(cache, "CHUNK_KINDS", CHUNK_KINDS[::-1])
    assert fingerprint.__wrapped__() != before


def test_a_row_needs_neither_imports_nor_a_rule() -> None:
    pack = LanguagePack("go", (".go",), "tree_sitter_go", "language", ("function_declaration",), ())
    assert (pack.imports, pack.import_rule, pack.holders) == ((), None, ())
