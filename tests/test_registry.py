from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from importlib.metadata import EntryPoint
from pathlib import Path

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
from conftest import Run

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


def install_package(folder: Path, package: str, **plugins: str) -> None:
    """A package as an installer leaves it, which offers `name=module:attribute` in GROUP."""
    place = folder / f"{package}-1.0.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in plugins.items()]
    (place / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, ""]))


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that can be imported from."""
    monkeypatch.syspath_prepend(tmp_path / "packages")
    return tmp_path / "packages"


def test_a_package_with_a_built_in_name_is_refused_with_both_packages(packages: Path) -> None:
    install_package(packages, "rival", root="math:cos", other="math:sin")
    message = (
        "sort 'root' is offered by two packages, cce-relevance and rival: "
        "remove rival, or have it offer another name"
    )
    for ask in (SORTS.load, SORTS.__contains__):
        with pytest.raises(UsageError) as caught:
            ask("root")
        assert str(caught.value) == message
    assert SORTS.names() == ("root", "fraction", "other")
    assert "fraction" in SORTS
    assert SORTS.load("fraction") is Fraction
    assert SORTS.load("other") is math.sin


def test_two_packages_with_one_name_are_refused_and_their_other_names_work(packages: Path) -> None:
    install_package(packages, "zeta", twice="math:cos", mine="math:cos")
    install_package(packages, "alpha", twice="math:cos", yours="math:sin")
    message = (
        "sort 'twice' is offered by two packages, alpha and zeta: "
        "remove one of them, or have it offer another name"
    )
    for ask in (SORTS.load, SORTS.__contains__):
        with pytest.raises(UsageError) as caught:
            ask("twice")
        assert str(caught.value) == message
    assert (SORTS.load("mine"), SORTS.load("yours"), SORTS.load("root")) == (math.cos, math.sin, math.sqrt)


def test_a_package_that_is_found_twice_is_one(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_package(packages, "alpha", mine="math:cos")
    install_package(tmp_path / "older", "alpha", mine="math:sin")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "older")])
    assert SORTS.load("mine") is math.cos


def test_a_backend_with_a_built_in_name_ends_the_command(packages: Path, run_cce: Run) -> None:
    place = packages / "rival-1.0.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n")
    (place / "entry_points.txt").write_text("[cce.backends]\nhybrid = math:cos\n")
    paths = {"PYTHONPATH": str(packages)}
    for arguments in (["search", "fee", "--dir", "test_fixtures"], ["gate", "eval/gate.toml"]):
        result = run_cce(*arguments, **paths)
        assert result.returncode == 2
        assert (
            b"backend 'hybrid' is offered by two packages, cce-relevance and rival: remove" in result.stderr
        )
    assert run_cce("search", "fee", "--dir", "test_fixtures", "--backend", "bm25", **paths).returncode == 0


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
def test_neither_names_nor_backends_cost_a_library_before_an_index_is_ranked() -> None:
    heavy = {"numpy", "scipy", "pydantic", "tree_sitter", "tree_sitter_python", "rank_bm25", "click"}
    catalogs = (
        "from cce.retrieval.backends.catalog import BACKENDS\n"
        "from cce.retrieval.embedding.catalog import EMBEDDERS\n"
        "BACKENDS.names(); EMBEDDERS.names()"
    )
    assert not loaded_by(catalogs) & heavy
    assert not loaded_by(f"{catalogs}\nfor name in BACKENDS.names(): BACKENDS.load(name)") & heavy
