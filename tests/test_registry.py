from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from cce.errors import CceError, UnknownNameError, UsageError
from cce.registry import Registry, unknown_name
from cce.retrieval.backends.bm25 import Bm25Backend
from cce.retrieval.backends.catalog import BACKENDS, DEFAULT_BACKENDS
from cce.retrieval.backends.classic import Bm25LBackend, Bm25OkapiBackend, Bm25PlusBackend
from cce.retrieval.backends.hybrid import HybridBackend
from cce.retrieval.backends.vector import VectorBackend
from cce.retrieval.embedding.catalog import EMBEDDERS
from cce.retrieval.embedding.hashing import HashEmbedder

GROUP = "cce.test-sorts"
SORTS: Registry[object] = Registry("sort", {"root": "math:sqrt", "fraction": "fractions:Fraction"}, GROUP)


def install(monkeypatch: pytest.MonkeyPatch, **plugins: str) -> None:
    """Pretend that other packages offer `name=module:attribute` in GROUP."""

    def entry_points(*, group: str) -> list[EntryPoint]:
        return [EntryPoint(name, value, group) for name, value in plugins.items() if group == GROUP]

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)


def test_the_backends_are_the_ones_of_the_catalog() -> None:
    assert {name: BACKENDS.load(name) for name in BACKENDS.names()} == {
        "bm25": Bm25Backend,
        "vector": VectorBackend,
        "hybrid": HybridBackend,
        "bm25-okapi": Bm25OkapiBackend,
        "bm25-plus": Bm25PlusBackend,
        "bm25-l": Bm25LBackend,
    }
    assert BACKENDS.names()[:3] == DEFAULT_BACKENDS == ("bm25", "vector", "hybrid")


def test_the_hash_embedder_is_in_the_catalog() -> None:
    assert EMBEDDERS.load("hash") is HashEmbedder


def test_a_typing_error_gets_the_nearest_name_and_all_of_them() -> None:
    with pytest.raises(UnknownNameError) as caught:
        BACKENDS.load("hybird")
    assert str(caught.value) == (
        "unknown backend 'hybird'; did you mean 'hybrid'?"
        " (known: bm25, vector, hybrid, bm25-okapi, bm25-plus, bm25-l)"
    )
    assert isinstance(caught.value, UsageError)


@pytest.mark.parametrize("name", ["", "xyz", "BM25-LIKE-NOTHING-ELSE", "a\nb"])
def test_a_name_like_no_other_gets_no_guess_on_one_line(name: str) -> None:
    message = unknown_name("sort", name, ["root", "fraction"])
    assert message == f"unknown sort {name!r} (known: root, fraction)"
    assert "\n" not in message


def test_entry_points_come_behind_the_built_in_ones_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, zeta="math:cos", alpha="math:sin")
    assert SORTS.names() == ("root", "fraction", "alpha", "zeta")
    assert SORTS.load("alpha")(0.0) == 0.0  # type: ignore[operator]
    with pytest.raises(
        UnknownNameError, match=r"did you mean 'zeta'\? \(known: root, fraction, alpha, zeta\)"
    ):
        SORTS.load("zetta")


def test_a_built_in_name_cannot_be_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    import math

    install(monkeypatch, root="math:cos")
    assert SORTS.names() == ("root", "fraction")
    assert SORTS.load("root") is math.sqrt


def test_entry_points_of_other_groups_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, alpha="math:sin")
    other: Registry[object] = Registry("sort", {}, "cce.other")
    assert other.names() == ()
    with pytest.raises(UnknownNameError):
        other.load("alpha")


@pytest.mark.parametrize("value", ["fractions:Fraction.from_float", "fractions:Fraction.from_float [extra]"])
def test_an_entry_point_is_read_as_packaging_defines_it(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, alpha=value)
    assert SORTS.load("alpha")(0.5) == 0.5  # type: ignore[operator]


@pytest.mark.parametrize("value", ["no_such_module_of_ours:Backend", "math:no_such_attribute"])
def test_a_plug_in_that_does_not_load_is_named(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, alpha=value)
    with pytest.raises(CceError, match="alpha"):
        SORTS.load("alpha")


def loaded_by(code: str) -> set[str]:
    """Top-level modules in memory after `code`."""
    script = f"import sys\n{code}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    return set(result.stdout.split())


@pytest.mark.process
def test_names_cost_no_library_and_a_backend_only_its_own() -> None:
    heavy = {"numpy", "scipy", "pydantic", "tree_sitter", "tree_sitter_language_pack", "rank_bm25", "click"}
    catalogs = (
        "from cce.retrieval.backends.catalog import BACKENDS\n"
        "from cce.retrieval.embedding.catalog import EMBEDDERS\n"
        "BACKENDS.names(); EMBEDDERS.names()"
    )
    assert not loaded_by(catalogs) & heavy
    assert not loaded_by(f"{catalogs}\nBACKENDS.load('hybrid')") & heavy
    assert loaded_by(f"{catalogs}\nBACKENDS.load('bm25-okapi')") & heavy == {"numpy"}
