"""Outputs: through no link that nobody typed, over no input, and never unseen in the next run."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cce.cli.main import main
from cce.report.catalog import MARKS, RENDERERS
from cce.retrieval.corpus.source_files import walk
from full_reports import FLOOR, MISSED, full_report, gated
from trees import POSIX_NAMES, link, needs_fifo, plant

RC = "export PATH=/bin\n"
LINES = [
    {"schema": "cce.relevance/v1", "corpus": "src"},
    {"id": "load", "query": "load", "expected": ["a.py"], "k": 1},
]
SET = "".join(json.dumps(line) + "\n" for line in LINES)
POLICY = 'schema = "cce.gate/v1"\nfixtures = "set.jsonl"\nbackend = "bm25"\nbaseline = "{}"\n'
LINKED = (
    "is a link, and a default store is not used through one; remove it, or name the store with --store FILE"
)

Ask = Callable[[str], "tuple[int, str, str]"]


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a set and a corpus of one file, beside a home folder."""
    plant(tmp_path, {"home/.bashrc": RC})
    files: dict[str, str | bytes] = {"src/a.py": "def load():\n    return 1\n", "set.jsonl": SET}
    root = plant(tmp_path / "repo", {**files, "gate.toml": POLICY.format("base.json")})
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """`cce ...`: exit code, standard output, standard error."""

    def run(typed: str) -> tuple[int, str, str]:
        code = main(shlex.split(typed))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def refused(answer: tuple[int, str, str]) -> str:
    """The one line of an answer that is none."""
    code, out, err = answer
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    return line.removeprefix("error: ")


def measured(answer: tuple[int, str, str]) -> str:
    """Standard error of an answer."""
    code, _, err = answer
    assert code == 0, err
    return err


def home(repo: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in (repo.parent / "home").iterdir()}


# Links.


def test_a_store_is_not_written_through_a_linked_folder(repo: Path, ask: Ask) -> None:
    link("../../home", repo / "src" / ".cce")
    assert refused(ask("index src")) == f"src/.cce: {LINKED}"
    assert home(repo) == {".bashrc": RC}


@pytest.mark.parametrize("target", [".bashrc", "new"])
def test_a_store_is_not_written_through_a_linked_file(repo: Path, ask: Ask, target: str) -> None:
    (repo / "src" / ".cce").mkdir()
    link(f"../../../home/{target}", repo / "src" / ".cce" / "index.json")
    assert refused(ask("index src")) == f"src/.cce/index.json: {LINKED}"
    assert home(repo) == {".bashrc": RC}


@pytest.mark.parametrize("command", ["search load --dir src", "stats --dir src"])
def test_a_store_behind_a_link_is_not_taken_for_the_one_of_the_directory(
    repo: Path, ask: Ask, command: str
) -> None:
    assert measured(ask("index src --store ../home/st.json")) == ""
    (repo / "src" / ".cce").mkdir()
    link("../../../home/st.json", repo / "src" / ".cce" / "index.json")
    assert refused(ask(command)) == f"src/.cce/index.json: {LINKED}"
    named = command.replace("--dir src", "--store src/.cce/index.json")
    assert measured(ask(named)) == ""


def test_a_typed_store_may_be_a_link_and_stays_one(repo: Path, ask: Ask) -> None:
    plant(repo.parent, {"home/st.json": ""})
    link("../home/st.json", repo / "st.json")
    assert measured(ask("index src --store st.json")) == ""
    assert (repo / "st.json").is_symlink()
    assert json.loads(home(repo)["st.json"])["chunks"][0]["file_path"] == "a.py"


def test_a_linked_corpus_is_indexed_where_it_is(repo: Path, ask: Ask) -> None:
    link("src", repo / "other")
    assert measured(ask("index other")) == ""
    assert {path.name for path in (repo / "src" / ".cce").iterdir()} == {".gitignore", "index.json"}


@needs_fifo
def test_a_pipe_in_the_place_of_a_store_is_not_waited_for(repo: Path, ask: Ask) -> None:
    (repo / "src" / ".cce").mkdir()
    os.mkfifo(repo / "src" / ".cce" / "index.json")
    assert "src/.cce/index.json: cannot be written: is not a regular file; " in refused(ask("index src"))


@pytest.mark.parametrize("target", ["../home/.bashrc", "../home/new", "src/a.py"])
def test_a_chunk_list_is_not_written_through_a_link(repo: Path, ask: Ask, target: str) -> None:
    link(target, repo / "conformance.json")
    assert refused(ask("conformance src")) == (
        "conformance.json: is a link, and a default output is not written through one; "
        "remove it, or name a file with -o"
    )
    assert home(repo) == {".bashrc": RC}


def test_a_typed_chunk_list_may_be_a_link_and_stays_one(repo: Path, ask: Ask) -> None:
    link("../home/new", repo / "conformance.json")
    assert measured(ask("conformance src -o conformance.json")) == ""
    assert (repo / "conformance.json").is_symlink()
    assert home(repo)["new"].startswith('{\n  "spec_version": "2.0"')


@pytest.mark.parametrize(
    ("name", "target", "baseline"),
    [("base.json", "../home/new", "base.json"), ("runs", "../home", "./runs/new.json")],
)
def test_a_baseline_is_not_accepted_through_a_link(
    repo: Path, ask: Ask, name: str, target: str, baseline: str
) -> None:
    plant(repo, {"gate.toml": POLICY.format(baseline)})
    link(target, repo / name)
    assert refused(ask("gate gate.toml --accept")) == (
        f"{name}: is a link, and no baseline is accepted through one; "
        "name the file that it leads to in gate.toml"
    )
    assert home(repo) == {".bashrc": RC}


# Inputs.


@pytest.mark.parametrize("full", [full_report(), gated(), gated(MISSED), gated(FLOOR)])
def test_each_report_bears_the_mark_of_its_own_format_and_of_no_other(full: Any) -> None:
    for name, render in RENDERERS.items():
        text = render(full).encode()
        assert [form for form, mark in MARKS.items() if re.match(mark, text)] == [name]


@pytest.mark.parametrize(
    ("command", "noun"),
    [
        ("relevance set.jsonl --report html=./src/../set.jsonl", "fixture set"),
        ("relevance set.jsonl --store st.json --report json=st.json", "store"),
        ("relevance set.jsonl --report json=hard.jsonl", "fixture set"),
        ("gate gate.toml --report text=gate.toml", "policy"),
        ("gate gate.toml --report json=base.json", "baseline"),
        ("compare base.json base.json --report json=base.json", "old report"),
    ],
)
def test_a_report_replaces_nothing_that_is_read(repo: Path, ask: Ask, command: str, noun: str) -> None:
    measured(ask("gate gate.toml --accept"))
    measured(ask("index src --store st.json"))
    os.link("set.jsonl", "hard.jsonl")
    before = {path.name: path.read_bytes() for path in repo.iterdir() if path.is_file()}
    assert f"would replace the {noun}, name another file" in refused(ask(command))
    assert {path.name: path.read_bytes() for path in repo.iterdir() if path.is_file()} == before


def test_a_report_does_not_replace_the_store_that_the_policy_names(repo: Path, ask: Ask) -> None:
    measured(ask("index src --store st.json"))
    plant(repo, {"gate.toml": POLICY.format("base.json") + 'store = "st.json"\n'})
    measured(ask("gate gate.toml --accept"))
    before = (repo / "st.json").read_bytes()
    assert refused(ask("gate gate.toml --report json=st.json")) == (
        "--report json=st.json: would replace the store, name another file"
    )
    assert (repo / "st.json").read_bytes() == before


@pytest.mark.parametrize("name", ["a.py", ".env", "other.jsonl", "sub/.gitignore"])
@pytest.mark.parametrize("form", RENDERERS)
def test_a_report_replaces_no_file_of_the_corpus(repo: Path, ask: Ask, name: str, form: str) -> None:
    plant(repo / "src", {name: "kept\n"})
    fault = refused(ask(f"relevance set.jsonl --report {form}=src/{name}"))
    reason = "change which files are indexed" if "ignore" in name else "replace a file of the corpus src"
    assert fault == f"--report {form}=src/{name}: would {reason}, name another file"
    assert (repo / "src" / name).read_text() == "kept\n"


def test_a_refused_report_costs_no_measuring(repo: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("measured")

    monkeypatch.setattr("cce.usecases.corpora.index_directory", fail)
    for command in (
        "relevance set.jsonl --report html=src/a.py",
        "gate gate.toml --accept --report html=src/a.py",
        "conformance src -o src/a.py",
        "index src --store src/a.py",
    ):
        assert refused(ask(command)).split(": ")[0].removeprefix("--report html=") == "src/a.py"


@pytest.mark.parametrize("form", RENDERERS)
def test_an_older_report_of_the_format_and_an_empty_file_are_replaced_in_a_corpus(
    repo: Path, ask: Ask, form: str
) -> None:
    plant(repo / "src", {"r": "", "other": ""})
    measured(ask(f"relevance set.jsonl --backend bm25 --report {form}=src/r"))
    first = (repo / "src" / "r").read_bytes()
    measured(ask(f"relevance set.jsonl --backend vector --report {form}=src/r"))
    assert (repo / "src" / "r").read_bytes() != first
    other = "text" if form == "html" else "html"
    assert "would replace a file of the corpus src" in refused(
        ask(f"relevance set.jsonl --report {other}=src/r")
    )


def test_what_the_rules_keep_out_of_the_corpus_may_be_replaced(repo: Path, ask: Ask) -> None:
    plant(repo / "src", {".gitignore": "/out/\n", "out/r.html": "somebody's\n"})
    assert measured(ask("relevance set.jsonl --report html=src/out/r.html")) == ""


def test_a_report_beside_the_corpus_may_be_replaced_whatever_it_is(repo: Path, ask: Ask) -> None:
    plant(repo, {"notes.md": "kept outside\n"})
    assert measured(ask("relevance set.jsonl --report markdown=notes.md")) == ""


FOREIGN = "is there already and is no index store; name another file with --store, or remove it first"


@pytest.mark.parametrize(
    "text", [SET, "[]", "{}", '{"spec_version": "2.0", "impl_language": "python", "chunks": []}', "[" * 9999]
)
def test_an_index_replaces_only_what_is_a_store(repo: Path, ask: Ask, text: str) -> None:
    plant(repo, {"s.json": text})
    assert refused(ask("index src --store s.json")) == f"s.json: {FOREIGN}"
    assert (repo / "s.json").read_text() == text
    plant(repo, {"src/.cce/index.json": text})
    assert refused(ask("index src")) == f"src/.cce/index.json: {FOREIGN}"


def test_a_store_of_any_state_is_replaced(repo: Path, ask: Ask) -> None:
    measured(ask("index src --store s.json"))
    whole = (repo / "s.json").read_bytes()
    record = json.loads(whole)
    backwards = json.dumps(dict(reversed(record.items()))).encode()
    newer = whole.replace(b'"spec_version":"1.0"', b'"spec_version":"9.9"')
    for old in (b"", whole, whole[: len(whole) // 2], backwards, newer):
        (repo / "s.json").write_bytes(old)
        assert measured(ask("index src --store s.json")) == ""
        assert (repo / "s.json").read_bytes() == whole


def test_a_chunk_list_replaces_only_chunk_lists_where_nobody_named_it(repo: Path, ask: Ask) -> None:
    plant(repo, {"conformance.json": '{\n  "spec_version": "2.0",\n  "impl_language": "c"\n}\n'})
    assert refused(ask("conformance src")) == (
        "conformance.json: is there already and is no chunk list of cce; remove it, or name a file with -o"
    )
    (repo / "conformance.json").unlink()
    assert measured(ask("conformance src")) == measured(ask("conformance src")) == ""


def test_a_baseline_replaces_only_a_baseline(repo: Path, ask: Ask) -> None:
    plant(repo, {"base.json": ""})
    assert measured(ask("gate gate.toml --accept")) == measured(ask("gate gate.toml --accept")) == ""
    plant(repo, {"gate.toml": POLICY.format("set.jsonl")})
    assert refused(ask("gate gate.toml --accept")) == (
        "set.jsonl: would replace the fixture set; name another baseline in gate.toml"
    )
    plant(repo, {"gate.toml": POLICY.format("src/.gitignore")})
    assert refused(ask("gate gate.toml --accept")) == (
        "src/.gitignore: would change which files are indexed; name another baseline in gate.toml"
    )
    plant(repo, {"gate.toml": POLICY.format("src/a.py")})
    assert refused(ask("gate gate.toml --accept")).startswith("src/a.py: ")
    assert (repo / "src" / "a.py").read_text() == "def load():\n    return 1\n"


def test_answers_that_come_while_drafting_stay(repo: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(repo, {"q.txt": "load\n"})
    monkeypatch.setattr(
        "cce.usecases.draft.render_drafts", lambda *_: str(plant(repo, {"d.jsonl": "answers"}))
    )
    code, out, err = ask("fixtures draft --from q.txt --dir src -o d.jsonl")
    assert (code, out) == (2, "")
    assert "d.jsonl: is there already and may hold answers" in err
    assert (repo / "d.jsonl").read_text() == "answers"


# The next run.


def test_an_accepted_baseline_in_the_corpus_is_named_until_a_rule_keeps_it_out(repo: Path, ask: Ask) -> None:
    plant(repo, {"gate.toml": POLICY.format("src/base.json")})
    way_out = "keep it out with the line /base.json in src/.gitignore\n"
    assert measured(ask("gate gate.toml --accept")) == (
        f"warning: src/base.json: the baseline lies in the corpus, so the next run indexes it; {way_out}"
    )
    assert measured(ask("gate gate.toml")) == (
        "warning: src/base.json: the baseline is indexed with the corpus, so it can be a hit itself; "
        + way_out
    )
    plant(repo, {"src/.gitignore": "/base.json\n"})
    assert measured(ask("gate gate.toml")) == measured(ask("gate gate.toml --accept")) == ""


def test_a_chunk_list_in_the_corpus_is_named(repo: Path, ask: Ask) -> None:
    assert measured(ask("conformance .")) == (
        "warning: conformance.json: the chunk list lies in the corpus, so the next run indexes it; "
        "keep it out with the line /conformance.json in ./.gitignore\n"
    )


def test_a_default_store_and_a_set_in_the_corpus_are_never_indexed(repo: Path, ask: Ask) -> None:
    assert measured(ask("index .")) == ""
    assert measured(ask("relevance set.jsonl --dir src --report json=src/r.jsonl")) == ""


@POSIX_NAMES
@pytest.mark.parametrize("name", ["a b.json", "b[1]*?.json", "!c", "#d", "e\\f", "g "])
def test_the_line_that_is_advised_keeps_out_this_file_and_no_other(repo: Path, ask: Ask, name: str) -> None:
    plant(repo / "src", {"b1x.json": "", "sub/!c": "", "g": ""})
    others = set(walk("src").paths)
    err = measured(ask(f"index src --store {shlex.quote(f'src/{name}')}"))
    assert set(walk("src").paths) == others | {name}
    rule = err.partition("with the line ")[2].rpartition(" in src/.gitignore")[0]
    plant(repo, {"src/.gitignore": f"{rule}\n"})
    assert set(walk("src").paths) == others | {".gitignore"}


# All of it.


def harness(root: Path) -> ModuleType:
    path = root / "eval" / "hardening" / "outputs.py"
    spec = importlib.util.spec_from_file_location("hardening_outputs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@POSIX_NAMES
@pytest.mark.process
def test_a_sample_of_the_harness_finds_no_fault(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCE_CACHE_DIR", "")  # set by each try, and so taken back
    attack = harness(root)
    sample = [*attack.link_tries(), *list(attack.input_tries())[::5], *list(attack.unseen_tries())[::5]]
    assert len(sample) == 20 + 32 + 11
    faults = {tried.name: fault for tried in sample if (fault := attack.run(tried)) is not None}
    assert faults == {}
