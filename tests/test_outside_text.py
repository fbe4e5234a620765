"""Text from outside reaches no terminal raw: every command over one set, corpus and store of evil names."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cce.quoting import for_terminal, on_one_line, one_line, one_line_in_json, shortened
from cce.report.html.renderer import render_html
from conftest import Run
from full_reports import CASES, case, full_report

# A right-to-left override, a CSI of one byte, a CSI of two, a title, an isolate, an Arabic letter mark.
EVIL = "x\u202ey\x9b2Jz\x1b[2Jw\x1b]0;t\x07v\u2066u\u061ct\u2028s"
# What a file name of any system may hold, and what a store's may.
EVIL_NAME = "e\u202e\x9b\u200f"
OBEYED = {chr(n) for n in (*range(32), *range(0x7F, 0xA0))} - {"\n"} | set("\u2028\u2029") | {
    chr(n) for n in range(0x11_0000) if unicodedata.bidirectional(chr(n)) in {
        "LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"
    }
} | set("\u061c\u200e\u200f")  # fmt: skip


def raw(output: bytes) -> set[str]:
    """The characters in `output` that a terminal or a reader would obey."""
    return set(output.decode("utf-8")) & OBEYED


def test_there_are_twelve_bidi_controls_and_all_are_spelled() -> None:
    bidi = sorted(each for each in OBEYED if ord(each) > 0x600 and each not in "\u2028\u2029")
    assert len(bidi) == 12
    assert one_line("".join(bidi)) == "".join(f"\\u{ord(each):04x}" for each in bidi)


@pytest.mark.parametrize(
    "text", ["naïve — café ✓ 日本語\u3000語", "no\u00a0break", "می\u200cخواهم", "👩\u200d💻", "שלום", "a\\nb"]
)
def test_ordinary_text_of_every_script_stays_as_it_is(text: str) -> None:
    assert one_line(text) == for_terminal(text) == text


@given(st.text(st.characters()))
def test_every_escape_leaves_nothing_to_obey_and_is_stable(text: str) -> None:
    for escape in (one_line, on_one_line, for_terminal):
        shown = escape(text)
        assert escape(shown) == shown
    assert not set(one_line(text)) & (OBEYED | {"\n"})
    assert on_one_line(text).isprintable()


def test_a_terminal_gets_line_ends_tabs_and_colours_alone() -> None:
    assert for_terminal("a\tb\n\x1b[1;36mc\x1b[0m") == "a\tb\n\x1b[1;36mc\x1b[0m"
    assert for_terminal("\x1b[2J\x1b]0;t\x07\r\x9b1m") == "\\x1b[2J\\x1b]0;t\\x07\\r\\x9b1m"


def test_json_in_a_page_shows_the_escape_once_it_is_parsed() -> None:
    assert json.loads(one_line_in_json('"a\u202eb\ud800"')) == "a\\u202eb\\ud800"


def test_a_long_text_is_cut_and_says_so() -> None:
    assert shortened("abcd", 4) == "abcd"
    assert shortened("abcde", 4) == "abcd…"


def test_the_page_holds_no_bidi_control() -> None:
    evil = case(EVIL, EVIL, [EVIL], tags=(EVIL,), note=EVIL)
    page = render_html(full_report((evil, *CASES[1:])))
    assert raw(page.encode()) == set()
    assert page.count("x\\u202ey") > 2
    assert "x\\\\u202ey" in page, "in the payload the backslash is doubled, so that the script shows it"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A corpus, a set, two reports, a store, a policy and drafts, each with hostile names in it."""
    source = tmp_path / "src"
    source.mkdir()
    try:
        (source / f"{EVIL_NAME}.py").write_text("def read():\n    return 'q\u202er\x9b'\n", "utf-8")
    except OSError:
        pytest.skip("this file system takes no such name")
    (source / "b.py").write_text("def write():\n    return 2\n", "utf-8")
    lines = [
        {"schema": "cce.relevance/v1", "corpus": "src"},
        {"id": EVIL, "query": f"read {EVIL}", "expected": [f"{EVIL_NAME}.py@1-2", EVIL], "tags": [EVIL],
         "note": EVIL, "critical": True},
        {"id": "plain", "query": "write", "expected": ["b.py"], "tags": [EVIL, "t"]},
    ]  # fmt: skip
    (tmp_path / "set.jsonl").write_text(
        "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8"
    )
    candidate = {"path": f"{EVIL_NAME}.py", "kind": EVIL, "lines": [1, 2], "backends": [EVIL, "bm25"]}
    draft = {"id": EVIL, "query": EVIL, "k": 3, "candidates": [candidate]}
    (tmp_path / "drafts.jsonl").write_text(json.dumps(lines[0]) + "\n" + json.dumps(draft) + "\n", "utf-8")
    tables = f"[floor]\nrecall = 1.0\n[slices.{json.dumps(EVIL)}.floor]\nmrr = 1.0\n"
    (tmp_path / "gate.toml").write_text(
        'schema = "cce.gate/v1"\nfixtures = "set.jsonl"\nbackend = "bm25"\nbaseline = "base.json"\n' + tables,
        "utf-8",
    )
    return tmp_path


COMMANDS: Sequence[Sequence[str]] = (
    ("relevance", "set.jsonl", "--compare", "bm25,hybrid", "--evidence"),
    ("relevance", "set.jsonl", "--report", "markdown=-"),
    ("relevance", "set.jsonl", "--report", "github=-"),
    ("relevance", "set.jsonl", "--report", "html=-"),
    ("relevance", EVIL),
    ("relevance", "set.jsonl", "--backend", EVIL),
    ("gate", "gate.toml", "--accept"),
    ("gate", "gate.toml", "--report", "text=-"),
    ("explain", "set.jsonl", EVIL),
    ("explain", "set.jsonl", f"no {EVIL}"),
    ("search", "read", "--dir", "src"),
    ("search", "read", "--store", "store.json"),
    ("stats", "--store", "store.json", "--dir", "src"),
    ("stats", "--store", EVIL),
    ("index", "src", "--store", f"{EVIL_NAME}.json"),
    ("compare", "old.json", "new.json", "--backend", "bm25"),
    ("compare", "old.json", EVIL),
    ("bench", "--dir", "src", "--fixtures", "set.jsonl", "--runs", "1"),
    ("cache", "info"),
    ("conformance", "src", "-o", f"{EVIL_NAME}.json"),
    ("fixtures", "lint", "set.jsonl"),
    ("fixtures", "pin", "set.jsonl", "--case", EVIL, "--write"),
    ("fixtures", "reanchor", "set.jsonl"),
    ("fixtures", "draft", "--from", "queries.txt", "--dir", "src", "-o", f"{EVIL_NAME}.jsonl"),
    ("fixtures", "label", "drafts.jsonl"),
    ("schema", EVIL),
    (EVIL,),
    ("metrics", f"--{EVIL}"),
)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
def test_no_command_prints_what_a_terminal_obeys(project: Path, run_cce: Run) -> None:
    (project / "queries.txt").write_text(f"read {EVIL_NAME}\n", "utf-8")
    cache = str(project / f"cache{EVIL_NAME}")
    assert run_cce("index", "src", "--store", "store.json", cwd=project).returncode == 0
    for name in ("old.json", "new.json"):
        saved = run_cce("relevance", "set.jsonl", "--json", cwd=project)
        (project / name).write_bytes(saved.stdout)
    told = []
    for words in COMMANDS:
        result = run_cce(*words, cwd=project, stdin=b"h\nn\n", CCE_CACHE_DIR=cache)
        assert result.returncode in (0, 1, 2), (words, result.stderr)
        assert (words, raw(result.stdout), raw(result.stderr)) == (words, set(), set())
        told += [result.stdout, result.stderr]
    # Each is shown as an escape somewhere, so that the test has seen it at all.
    shown = b"".join(told)
    assert all(each in shown for each in (rb"\x1b[2J", rb"\u202e", rb"\x9b", rb"\u200f", rb"\u2066"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this sort")
@pytest.mark.parametrize(
    "words",
    [
        ("relevance", "set.jsonl", "--json"),
        ("search", "read", "--dir", "src"),
        ("fixtures", "pin", "set.jsonl"),
        ("fixtures", "draft", "--from", "queries.txt", "--dir", "src"),
        ("conformance", "src", "-o", "-"),
        ("explain", "set.jsonl", EVIL, "--json"),
    ],
)
def test_formats_with_pinned_bytes_are_spelled_on_a_terminal_alone(
    project: Path, run_cce: Run, words: Sequence[str]
) -> None:
    (project / "queries.txt").write_text(f"read {EVIL_NAME}\n", "utf-8")
    shown = _on_a_terminal(project, words)
    # Colours of a search are ours.
    painted = re.sub("\x1b\\[[0-9;]*m", "", shown)
    assert set(painted.replace("\r\n", "\n")) & OBEYED == set()
    assert "\\u202e" in shown
    piped = run_cce(*words, cwd=project).stdout.decode()
    if words[0] != "search":
        assert "\u202e" in piped, "a pipe gets the bytes that were promised"


def _on_a_terminal(folder: Path, words: Sequence[str]) -> str:
    """What the command writes to a standard output that is a terminal."""
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "cce", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    read = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # how Linux says that nobody holds the other end any more
            break
        if not piece:
            break
        read += piece
    os.close(ours)
    assert process.wait(timeout=60) in (0, 1)
    return read.decode()
