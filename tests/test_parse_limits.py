"""A file that its parser cannot cope with costs a limited time, is named, and an interrupt is heard."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from cce.domain.redaction import Redaction
from cce.errors import CceError, CorpusError, UsageError
from cce.retrieval.chunking.limits import (
    TooSlowError,
    ignoring_line,
    limited_to,
    seconds_per_file,
)
from cce.retrieval.chunking.treesitter import chunk_file
from cce.retrieval.corpus.gitignore import list_files
from cce.retrieval.counting.counter import count_span_tokens
from cce.retrieval.indexing import workers
from cce.retrieval.indexing.directory import index_directory
from cce.retrieval.indexing.workers import Batch, process_batch, process_files
from conftest import Run
from corpora import content, unwatched
from trees import plant

# Error recovery in each of these grammars takes minutes for 30 kB of it; see `limits`.
SLOW = b"&->" * 10_000
# And some tenths of a second for so much, of which a hundredth is a thousand times too little.
SLOWISH = b"&->" * 700
LOAD: dict[str, str | bytes] = {"a.py": b"def f(): pass\n", "m.js": SLOWISH, "z.js": b"function g() {}\n"}


def batch(root: Path, seconds: float) -> Batch:
    return Batch(str(root), ("a.py", "m.js", "z.js"), Redaction.STANDARD, count_span_tokens, seconds)


@pytest.mark.parametrize("path", ["a.js", "a.mjs", "a.ts", "a.tsx", "a.rs", "a.c", "a.h"])
def test_the_parser_gives_up_when_its_time_is_over(path: str) -> None:
    with limited_to(0.05), pytest.raises(TooSlowError):
        chunk_file(path, SLOW)


@pytest.mark.parametrize(("path", "source"), [("a.rb", b"'{([" * 50_000), ("a.py", b"'{([" * 50_000)])
def test_other_languages_have_slow_texts_too(path: str, source: bytes) -> None:
    with limited_to(0.05), pytest.raises(TooSlowError):
        chunk_file(path, source)


def test_after_giving_up_the_parser_starts_the_next_text_at_its_beginning() -> None:
    source = b"const a = () => 1;\n"
    expected = chunk_file("b.js", source)
    with limited_to(0.05), pytest.raises(TooSlowError):
        chunk_file("a.js", SLOW)
    assert chunk_file("b.js", source) == expected
    assert len(expected.spans) == 1


@pytest.mark.process
def test_a_limit_that_is_not_reached_changes_nothing_and_ends_where_it_was_set() -> None:
    with limited_to(60):
        within = chunk_file("a.js", SLOWISH)
        with limited_to(0.001), pytest.raises(TooSlowError):
            chunk_file("a.js", SLOW)
        assert chunk_file("a.js", SLOWISH) == within
    assert chunk_file("a.js", SLOWISH) == within


def test_setting_the_limit_warns_nobody() -> None:
    with warnings.catch_warnings(), limited_to(61.5):
        warnings.simplefilter("error")
        chunk_file("a.js", b"1")


@pytest.mark.process
def test_a_file_that_goes_to_a_process_of_its_own_comes_back_the_same(tmp_path: Path) -> None:
    plant(tmp_path, LOAD)
    at_once = process_batch(batch(tmp_path, 60), patience=60)
    in_turn = process_batch(batch(tmp_path, 60), patience=0.001)
    assert content(in_turn.segment) == content(at_once.segment)
    assert list(in_turn.segment.paths) == ["a.py", "m.js", "z.js"]


@pytest.mark.parametrize(
    ("seconds", "patience"), [(0.01, 60.0), (0.01, 0.01), (0.01, 0.001)], ids=["here", "equal", "elsewhere"]
)
@pytest.mark.process
def test_a_file_over_the_limit_is_named_with_the_line_that_leaves_it_out(
    tmp_path: Path, seconds: float, patience: float
) -> None:
    plant(tmp_path, LOAD)
    message = (
        f"{tmp_path}: m.js: parsing it takes longer than 0.01 s; leave it out with the line /m.js in "
        f"{tmp_path / '.gitignore'}, or allow more with CCE_PARSE_SECONDS"
    )
    with pytest.raises(CorpusError, match=f"^{re.escape(message)}$"):
        process_batch(batch(tmp_path, seconds), patience)


@pytest.mark.process
def test_workers_keep_to_the_limit_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_MIN_BYTES", 0)
    monkeypatch.setattr(workers, "_BATCH_BYTES", 1)
    monkeypatch.setattr(workers, "_n_processors", lambda: 3)
    monkeypatch.setenv("CCE_PARSE_SECONDS", "0.2")
    paths = [f"{n}.js" for n in range(4)]
    plant(tmp_path, {**dict.fromkeys(paths, SLOW)})
    with pytest.raises(CorpusError, match=r": [0-3]\.js: parsing it takes longer than 0\.2 s;"):
        process_files(str(tmp_path), paths, Redaction.STANDARD, unwatched)


@pytest.mark.parametrize(
    "path", ["a.js", "x/a b.js", "#a.js", "!a.js", "[a].js", "a*?.js", "a\\b.js", "é ", "a  "]
)
def test_the_line_leaves_out_that_file_only(tmp_path: Path, path: str) -> None:
    if sys.platform == "win32" and set(path) & set('*?\\ "'):
        pytest.skip("no such name there")
    others = ["other.js", f"deep/{path}", "a.jsx", "b.js"]
    plant(tmp_path, dict.fromkeys([path, *others], ""))
    (tmp_path / ".gitignore").write_text(ignoring_line(path) + "\n")
    assert sorted(list_files(str(tmp_path)).paths) == sorted([".gitignore", *others])


def test_the_limit_is_a_minute_unless_somebody_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seconds_per_file() == 60
    for typed, seconds in (("", 60), ("0.5", 0.5), ("600", 600), ("1e30", 1e9)):
        monkeypatch.setenv("CCE_PARSE_SECONDS", typed)
        assert seconds_per_file() == seconds


@pytest.mark.parametrize("typed", ["0", "-1", "nan", "inf", "1e999", "a minute", "60s", "0x10", " "])
def test_a_limit_that_is_no_positive_number_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setenv("CCE_PARSE_SECONDS", typed)
    expected = f"CCE_PARSE_SECONDS: must be a positive number of seconds, got '{typed}'; unset it for 60"
    with pytest.raises(UsageError, match=f"^{re.escape(expected)}$"):
        seconds_per_file()
    with pytest.raises(CceError):  # even where there is nothing to parse
        index_directory(str(tmp_path), unwatched)


def test_the_command_ends_with_2_and_one_line(tmp_path: Path, run_cce: Run) -> None:
    plant(tmp_path, {"src/slow.js": SLOW})
    run = run_cce("conformance", ".", "-o", "-", cwd=tmp_path, CCE_PARSE_SECONDS="0.2")
    assert run.returncode == 2
    assert run.stdout == b""
    assert run.stderr.decode().splitlines() == [
        "error: .: src/slow.js: parsing it takes longer than 0.2 s; leave it out with the line /src/slow.js "
        f"in {os.path.join('.', '.gitignore')}, or allow more with CCE_PARSE_SECONDS"
    ]
    (tmp_path / ".gitignore").write_text("/src/slow.js\n")
    assert run_cce("conformance", ".", "-o", "-", cwd=tmp_path, CCE_PARSE_SECONDS="0.2").returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send")
@pytest.mark.parametrize("seconds", [0.7, 2.5], ids=["this process parses", "another one does"])
@pytest.mark.process
def test_an_interrupt_is_heard_while_a_file_is_parsed(tmp_path: Path, seconds: float) -> None:
    plant(tmp_path, {"slow.js": SLOW})
    command = [sys.executable, "-m", "cce", "conformance", ".", "-o", "-", "--no-cache"]
    run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(seconds)
    run.send_signal(signal.SIGINT)
    try:
        output, _ = run.communicate(timeout=40)  # unheard it would be two minutes
    finally:
        run.kill()
    assert (run.returncode, output) == (130, b"")
