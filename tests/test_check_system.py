"""`cce systems check`: an honest system keeps all laws, and each broken law is named."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.process

# `broken` says which law is broken; the search is whatever the words of a query occur in.
_PROGRAM = """
import os, sys, time
from pathlib import Path
from cce.retriever_stub import serve

broken, files, asked = sys.argv[1], {}, []

def read(corpus):
    if broken == "start":
        sys.exit("no index")
    for path in sorted(Path(corpus).rglob("*.py")):
        files[path.name] = path.read_text()

def search(query, k, scope=None):
    asked.append(query)
    if broken == "blank" and not query.strip():
        os._exit(9)
    if broken == "large" and len(query) > 1_000_000:
        time.sleep(60)
    if broken == "error":
        raise RuntimeError("index is locked")
    paths = sorted(files, key=lambda path: -sum(files[path].count(word) for word in query.split()))
    if scope and broken != "scope":
        paths = [path for path in paths if "/" + path in scope["include"]]
    if broken == "repeats":
        paths = paths[len(asked) % 2:]
    if broken == "places":
        paths = ["/elsewhere/" + path for path in paths]
    return paths

def search_without_scope(query, k):
    return search(query, k)

serve(search_without_scope if broken == "no scopes" else search, name="words", version="2", start=read,
      max_batch=1 if broken == "no batches" else 64)
if broken == "end":
    sys.exit(4)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name in ("fees", "loans", "cards"):
        text = f"def {name}_total(x):\n    return x + 1\n"
        (tmp_path / "docs" / f"{name}.py").write_text(text)
    (tmp_path / "program.py").write_text(_PROGRAM)
    (tmp_path / "finder.py").write_text("def make():\n    return lambda query, k: ['fees.py'][:k]\n")
    return tmp_path


def checked(run_cce: Any, folder: Path, broken: str, **keys: Any) -> tuple[int, dict[str, tuple[str, str]]]:
    """The exit code, and outcome and detail by law."""
    command = json.dumps([sys.executable, "program.py", broken])
    table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in {"timeout": 20, **keys}.items())
    (folder / "s.toml").write_text(
        f'schema = "cce.systems/v1"\n[system.mine]\ncommand = {command}\n{table}'
        '[system.plain]\nobject = "finder:make"\npath = "."\n[system.ours]\nbackend = "bm25"\n'
    )
    ended = run_cce("systems", "check", "mine", "--systems", "s.toml", "--dir", "docs", cwd=folder)
    return ended.returncode, laws_of(ended.stdout)


def laws_of(printed: bytes) -> dict[str, tuple[str, str]]:
    """Outcome and detail by law; the columns are two spaces or more apart."""
    lines = printed.decode().splitlines()[1:-2]
    rows = [re.split(" {2,}", line.strip(), maxsplit=2) for line in lines]
    return {law: (outcome, detail) for law, outcome, detail in rows}


def test_an_honest_program_keeps_all_laws(run_cce: Any, folder: Path) -> None:
    code, laws = checked(run_cce, folder, "nothing")
    assert code == 0
    assert {outcome for outcome, _ in laws.values()} == {"passed"}
    assert laws["handshake"] == ("passed", "words 2; batches of up to 64; scopes")
    assert laws["places in the corpus"][1] == "9 of 9 results to 3 queries are in files of the corpus"
    assert laws["k = 0"][1] == "an error: k must be a positive integer, got 0"
    assert laws["k = 1"][1] == "1 result"
    assert laws["k = 10,000"][1] == "3 results"
    assert len(laws) == 13


@pytest.mark.parametrize(
    ("broken", "law", "fault"),
    [
        ("blank", "a blank query", "case odd: ended with exit code 9 before it answered"),
        ("repeats", "repeats are equal", "is answered otherwise the second time: use repeat = N"),
        ("scope", "a scope is kept", "is returned where only 'cards.py' is allowed"),
        ("places", "places in the corpus", "0 of 9 results to 3 queries are in files of the corpus"),
        ("end", "a clean end", "ended with exit code 4"),
        ("error", "k = 1", "answers with an error: index is locked"),
    ],
)
def test_a_broken_law_is_named_and_ends_with_1(
    run_cce: Any, folder: Path, broken: str, law: str, fault: str
) -> None:
    code, laws = checked(run_cce, folder, broken)
    assert code == 1
    assert laws[law][0] == "failed"
    assert fault in laws[law][1]


def test_a_time_limit_that_is_passed_fails_its_question_and_the_limits(run_cce: Any, folder: Path) -> None:
    code, laws = checked(run_cce, folder, "large", timeout=1)
    assert code == 1
    failed = [law for law, (outcome, _) in laws.items() if outcome == "failed"]
    assert failed == ["a query of 1 MB", "time limits"]


def test_a_program_that_does_not_start_is_held_to_nothing_else(run_cce: Any, folder: Path) -> None:
    code, laws = checked(run_cce, folder, "start")
    assert code == 1
    (first, *others) = laws.values()
    assert first[0] == "failed"
    assert "its standard error ends with 'no index'" in first[1]
    assert {*others} == {("not applicable", "it did not start")}


@pytest.mark.parametrize(
    ("broken", "law"), [("no scopes", "a scope is kept"), ("no batches", "a batch equals single queries")]
)
def test_what_a_program_does_not_offer_is_not_applicable(
    run_cce: Any, folder: Path, broken: str, law: str
) -> None:
    code, laws = checked(run_cce, folder, broken)
    assert code == 0
    assert laws[law][0] == "not applicable"


def test_an_object_is_checked_and_our_own_backends_are_not(run_cce: Any, folder: Path) -> None:
    checked(run_cce, folder, "nothing")
    given = ("--systems", "s.toml", "--dir", "docs")
    ended = run_cce("systems", "check", "plain", *given, cwd=folder)
    assert ended.returncode == 0
    assert laws_of(ended.stdout)["k = 0"] == ("passed", "0 results")
    ended = run_cce("systems", "check", "ours", *given, cwd=folder)
    assert ended.returncode == 2
    assert b"system 'ours' is a backend of cce, which is not talked to" in ended.stderr


def test_a_service_elsewhere_is_checked_only_where_it_may_be_loaded(run_cce: Any, folder: Path) -> None:
    # An address of the documentation (RFC 5737): nothing is sent there.
    (folder / "s.toml").write_text('schema = "cce.systems/v1"\n[system.far]\nurl = "http://192.0.2.7:8080"\n')
    ended = run_cce("systems", "check", "far", "--systems", "s.toml", "--dir", "docs", cwd=folder, CI="")
    assert ended.returncode == 2
    assert b"is a service on another machine: add --load" in ended.stderr
    ended = run_cce("systems", "check", "far", "--dir", "docs", cwd=folder)
    assert ended.returncode == 2
    assert b"Name it with --systems FILE" in ended.stderr
