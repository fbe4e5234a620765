"""A set names a corpus in its own git work tree: elsewhere is refused in CI and warned of at a desk."""

from __future__ import annotations

from pathlib import Path

import pytest

from cce.work_tree import is_outside
from conftest import Run
from trees import link, plant, plant_empty

CASE = '{"id": "one", "query": "lend a card", "expected": ["a.py"]}\n'
POLICY = 'schema = "cce.gate/v1"\nfixtures = "set.jsonl"\nbackend = "bm25"\nbaseline = "b.json"\n'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A work tree `checkout` with a corpus, beside a folder of somebody else's."""
    plant(tmp_path, {"outside/a.py": "def lend(card): pass\n", "outside/deep/a.py": ""})
    plant(tmp_path / "checkout", {".git/config": "token\n", "src/a.py": "def lend(card): pass\n"})
    return tmp_path / "checkout"


def write_set(checkout: Path, corpus: str) -> str:
    plant(checkout, {"eval/set.jsonl": f'{{"schema": "cce.relevance/v1", "corpus": "{corpus}"}}\n{CASE}'})
    return "eval/set.jsonl"


INSIDE = ("../src", "..", ".", "../eval/../src", "./../src/", "../linked")
OUTSIDE = (
    *(
        "../../outside",
        "../..",
        "../../checkout-2",
        "../leaving",
        "../leaving/deep",
        "/proc/self",
        "/etc",
        "/",
    ),
    *("../.git", "../.git/hooks", "../../outside/../outside", "../missing/../../outside"),
)


@pytest.mark.parametrize("corpus", [*INSIDE, *OUTSIDE])
def test_a_corpus_is_inside_if_its_links_stay_inside(checkout: Path, corpus: str) -> None:
    link("src", checkout / "linked")
    link("../outside", checkout / "leaving")
    plant_empty(checkout / "eval", "set.jsonl")
    path = str(checkout / "eval" / corpus)
    assert is_outside(path, str(checkout / "eval" / "set.jsonl")) is (corpus in OUTSIDE)


def test_the_nearest_work_tree_counts_whatever_marks_it(checkout: Path) -> None:
    plant(
        checkout,
        {"module/.git": "gitdir: ../.git/modules/module\n", "module/set.jsonl": "", "module/src/a.py": ""},
    )
    file = str(checkout / "module" / "set.jsonl")
    assert not is_outside(str(checkout / "module" / "src"), file)
    assert is_outside(str(checkout / "src"), file)


def test_without_a_work_tree_nothing_is_outside(tmp_path: Path) -> None:
    if any((folder / ".git").exists() for folder in tmp_path.parents):
        pytest.skip("the folder for temporary files lies in a work tree")
    assert not is_outside("/etc", str(tmp_path / "set.jsonl"))


@pytest.mark.parametrize(
    "arguments",
    [
        *(
            ["relevance"],
            ["fixtures", "lint"],
            ["fixtures", "pin"],
            ["fixtures", "reanchor"],
            ["fixtures", "label"],
        ),
        *(["bench", "--repeat", "1"],),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("corpus", ["../../outside", "../leaving"])
def test_every_command_refuses_it_in_ci_and_warns_elsewhere(
    checkout: Path, run_cce: Run, arguments: list[str], corpus: str
) -> None:
    link("../outside", checkout / "leaving")
    path = write_set(checkout, corpus)
    warning = (
        f"eval/set.jsonl: its corpus '{corpus}' lies outside the git work tree that holds the set: if it"
    )
    refused = run_cce(*arguments, path, cwd=checkout, CI="true")
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert refused.stderr.decode().startswith(f"error: {warning}")
    warned = run_cce(*arguments, path, cwd=checkout, CI="")
    assert warned.returncode in (0, 1)
    assert warned.stderr.decode().count(f"warning: {warning}") == 1


def test_explain_and_a_gate_do_as_well(checkout: Path, run_cce: Run) -> None:
    write_set(checkout, "../../outside")
    plant(checkout, {"eval/gate.toml": POLICY})
    for arguments in (["explain", "eval/set.jsonl", "one"], ["gate", "eval/gate.toml", "--accept"]):
        assert run_cce(*arguments, cwd=checkout, CI="true").returncode == 2
        warned = run_cce(*arguments, cwd=checkout, CI="false")
        assert warned.returncode == 0
        assert warned.stderr.count(b"lies outside the git work tree") == 1


def test_what_was_typed_is_never_refused_nor_warned_of(checkout: Path, run_cce: Run) -> None:
    path = write_set(checkout, "../../outside")
    store = str(checkout / "store.json")
    assert run_cce("index", "../outside", "--store", store, cwd=checkout).returncode == 0
    for typed in (["--dir", "../outside"], ["--store", store]):
        result = run_cce("relevance", path, *typed, cwd=checkout, CI="true")
        assert (result.returncode, b"work tree" in result.stderr) == (0, False)


def test_a_corpus_within_the_work_tree_needs_no_word(checkout: Path, run_cce: Run) -> None:
    result = run_cce("relevance", write_set(checkout, "../src"), cwd=checkout, CI="true")
    assert (result.returncode, result.stderr) == (0, b"")
