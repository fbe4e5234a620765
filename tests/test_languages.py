from __future__ import annotations

import pytest

from cce.retrieval.chunking.languages import PACKS, language_pack

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
