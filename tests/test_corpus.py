from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from cce.domain.redaction import Redaction
from cce.errors import CorpusError
from cce.retrieval.corpus.source_files import (
    MAX_BYTES,
    SkipReason,
    SourceFile,
    read_source,
    walk,
    why_absent,
)
from trees import BYTE_NAMES, link, needs_fifo, open_directory, plant, unprivileged_with

__all__ = ["open_directory"]  # a fixture

SECRET = "[REDACTED:SECRET]"


class Corpus(NamedTuple):
    files: tuple[SourceFile, ...]
    skipped: Mapping[str, SkipReason]
    notices: tuple[str, ...]


def read_corpus(root: Path, *, redaction: Redaction = Redaction.STANDARD) -> Corpus:
    """All that a walk finds, each file read."""
    walked = walk(str(root))
    outcomes = {path: read_source(str(root), path, redaction) for path in walked.paths}
    files = tuple(outcome for outcome in outcomes.values() if isinstance(outcome, SourceFile))
    refused = {path: outcome for path, outcome in outcomes.items() if isinstance(outcome, SkipReason)}
    return Corpus(files, {**walked.skipped, **refused}, walked.notices)


def paths(root: Path) -> list[str]:
    return [file.path for file in read_corpus(root).files]


def test_files_come_in_byte_order_with_their_bytes(tmp_path: Path) -> None:
    plant(tmp_path, {"b.py": "x = 1\r\n", "a/z.txt": "é\x00\n", "a.txt": "", ".hidden": "\ufeffx"})
    assert read_corpus(tmp_path).files == (
        SourceFile(".hidden", b"\xef\xbb\xbfx"),
        SourceFile("a.txt", b""),
        SourceFile("a/z.txt", b"\xc3\xa9\x00\n"),
        SourceFile("b.py", b"x = 1\r\n"),
    )


def test_an_empty_directory_is_a_corpus_without_files(tmp_path: Path) -> None:
    assert read_corpus(tmp_path) == ((), {}, ())


def test_every_reason_to_skip_is_told(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "", "rows.jsonl": "{}", "x/.env": "A=1", "latin.txt": b"caf\xe9"})
    plant(tmp_path, {"big.txt": b" " * (MAX_BYTES + 1)})
    corpus = read_corpus(tmp_path)
    assert [file.path for file in corpus.files] == ["a.py"]
    assert corpus.skipped == {
        "big.txt": SkipReason.TOO_LARGE,
        "latin.txt": SkipReason.NOT_UTF8,
        "rows.jsonl": SkipReason.JSONL,
        "x/.env": SkipReason.SENSITIVE,
    }


def test_jsonl_is_case_sensitive_and_a_whole_extension(tmp_path: Path) -> None:
    plant(tmp_path, {"a.JSONL": "", "b.jsonl.txt": "", "c.ndjson": "", ".jsonl": ""})
    assert paths(tmp_path) == ["a.JSONL", "b.jsonl.txt", "c.ndjson"]


def test_the_size_limit_counts_bytes_and_is_still_read(tmp_path: Path) -> None:
    plant(
        tmp_path, {"fits.txt": b"a" * MAX_BYTES, "wide.txt": "€" * 700_000, "over.bin": b"\xff" * 2_100_000}
    )
    corpus = read_corpus(tmp_path)
    assert [len(file.text) for file in corpus.files] == [2_097_152]
    assert corpus.skipped == {"wide.txt": SkipReason.TOO_LARGE, "over.bin": SkipReason.TOO_LARGE}


@pytest.mark.parametrize("text", [b"\xff", b"ok\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"])
def test_what_is_not_utf8_is_skipped(tmp_path: Path, text: bytes) -> None:
    plant(tmp_path, {"a.txt": text})
    assert read_corpus(tmp_path).skipped == {"a.txt": SkipReason.NOT_UTF8}


def test_secrets_are_scrubbed_unless_allowed(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "token = 'hunter2hunter2'\n", ".netrc": "password hunter2"})
    scrubbed = read_corpus(tmp_path)
    assert scrubbed.files == (SourceFile("a.py", f"token = '{SECRET}'\n".encode()),)
    raw = read_corpus(tmp_path, redaction=Redaction.OFF)
    assert raw.files == (
        SourceFile(".netrc", b"password hunter2"),
        SourceFile("a.py", b"token = 'hunter2hunter2'\n"),
    )


def test_a_sensitive_name_is_reported_before_any_other_reason(tmp_path: Path) -> None:
    plant(tmp_path, {".env.jsonl": b"\xff", "big.pem": b" " * (MAX_BYTES + 1)})
    assert set(read_corpus(tmp_path).skipped.values()) == {SkipReason.SENSITIVE}


def test_a_directory_with_a_sensitive_name_is_an_ordinary_one(tmp_path: Path) -> None:
    plant(tmp_path, {"id_rsa/a.py": "", "keys.pem/b.py": ""})
    assert paths(tmp_path) == ["id_rsa/a.py", "keys.pem/b.py"]


def test_ignored_files_are_not_counted_as_skipped(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "*.jsonl\n", "a.jsonl": "", "build/b.jsonl": ""})
    assert read_corpus(tmp_path).skipped == {}


def test_files_that_cannot_be_read_are_skipped(open_directory: Path) -> None:
    plant(open_directory, {"a.py": "", "locked.py": "", "listed/f.py": ""})
    with unprivileged_with(open_directory, {"locked.py": 0, "listed": 0o444}):
        corpus = read_corpus(open_directory)
    assert [file.path for file in corpus.files] == ["a.py"]
    assert corpus.skipped == {"listed/f.py": SkipReason.UNREADABLE, "locked.py": SkipReason.UNREADABLE}


def test_sensitive_names_are_not_opened(open_directory: Path) -> None:
    plant(open_directory, {"id_rsa": ""})
    with unprivileged_with(open_directory, {"id_rsa": 0}):
        assert read_corpus(open_directory).skipped == {"id_rsa": SkipReason.SENSITIVE}


def test_a_read_only_corpus_works_and_stays_as_it_is(open_directory: Path) -> None:
    plant(open_directory, {".gitignore": "b.py\n", "s/a.py": "", "s/b.py": ""})
    with unprivileged_with(open_directory, {"s": 0o555, ".": 0o555}):
        assert [file.path for file in read_corpus(open_directory).files] == [".gitignore", "s/a.py"]
    assert sorted(os.listdir(open_directory)) == [".gitignore", "s"]


@BYTE_NAMES
def test_a_name_that_is_not_utf8_is_skipped_by_its_spelling(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/caf\xe9.py", "wb"):
        pass
    assert read_corpus(tmp_path).skipped == {"caf\\xe9.py": SkipReason.NAME_NOT_UTF8}


def test_what_the_walk_could_not_see_is_noticed(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": b"\xff"})
    corpus = read_corpus(tmp_path)
    assert corpus.notices == (
        ".gitignore: not UTF-8: its rules from line 1 on do not count; save it as UTF-8",
    )
    assert corpus.skipped == {".gitignore": SkipReason.NOT_UTF8}


def test_a_missing_directory_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="the corpus must be a directory"):
        read_corpus(tmp_path / "nowhere")


# --- one file at a time --------------------------------------------------------------------------------


def test_a_file_that_went_away_since_the_walk_is_unreadable(tmp_path: Path) -> None:
    assert read_source(str(tmp_path), "gone.py") is SkipReason.UNREADABLE


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="this system cannot refuse links on opening")
def test_a_link_that_took_a_files_place_is_not_followed(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": ""})
    link("a.py", tmp_path / "b.py")
    assert read_source(str(tmp_path), "b.py") is SkipReason.UNREADABLE


@needs_fifo
def test_a_pipe_that_took_a_files_place_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert read_source(str(tmp_path), "pipe.py") is SkipReason.UNREADABLE


def test_a_directory_is_no_source_file(tmp_path: Path) -> None:
    plant(tmp_path, {"d.py/f": ""})
    assert read_source(str(tmp_path), "d.py") is SkipReason.UNREADABLE


# --- why an anchor's file is missing -------------------------------------------------------------------


def test_a_skipped_file_is_absent_for_its_reason(tmp_path: Path) -> None:
    plant(tmp_path, {"a.jsonl": "", "id_rsa": "", "big.txt": b" " * (MAX_BYTES + 1), "b.txt": b"\xff"})
    corpus = read_corpus(tmp_path)
    assert why_absent(str(tmp_path), corpus.skipped, "a.jsonl") == "a .jsonl file"
    assert why_absent(str(tmp_path), corpus.skipped, "id_rsa") == "its name promises secrets"
    assert why_absent(str(tmp_path), corpus.skipped, "big.txt") == "larger than 2 MiB"
    assert why_absent(str(tmp_path), corpus.skipped, "b.txt") == "not UTF-8"


def test_an_ignored_or_pruned_file_is_absent_because_of_that(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "*.log\ngen/\n", "a.log": "", "gen/deep/f.py": "", "build/f.py": ""})
    corpus = read_corpus(tmp_path)
    assert [
        why_absent(str(tmp_path), corpus.skipped, path) for path in ("a.log", "gen/deep/f.py", "build/f.py")
    ] == ["ignored"] * 3


@pytest.mark.parametrize(
    "path",
    [
        "b.log",
        "a.log/f",
        "s",
        "s/",
        "./a.log",
        "../r/a.log",
        "/a.log",
        "s/../a.log",
        "A.LOG",
        "s\\b.log",
        "",
        ".",
        "a\x00",
    ],
)
def test_other_paths_are_not_there(tmp_path: Path, path: str) -> None:
    root = plant(tmp_path / "r", {".gitignore": "*.log\n", "a.log": "", "s/b.log": ""})
    corpus = read_corpus(root)
    assert why_absent(str(root), corpus.skipped, path) is None


def test_links_are_not_there(tmp_path: Path) -> None:
    plant(tmp_path, {"build/f.py": ""})
    link("build/f.py", tmp_path / "l.py")
    link("build", tmp_path / "l")
    corpus = read_corpus(tmp_path)
    assert [why_absent(str(tmp_path), corpus.skipped, path) for path in ("l.py", "l/f.py")] == [None, None]


@pytest.mark.skipif(sys.platform != "linux", reason="a locale without UTF-8 is a matter of Linux")
@pytest.mark.process
def test_names_do_not_depend_on_the_locale(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "ü*\n", "é.py": "x", "ü.py": "", "build/ö.py": ""})
    program = (
        "import sys; from cce.retrieval.corpus.source_files import read_source, walk, why_absent;"
        "root = sys.argv[1]; walked = walk(root);"
        "print(ascii([read_source(root, path) for path in walked.paths]),"
        " why_absent(root, walked.skipped, 'build/\\xf6.py'))"
    )
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", program, str(tmp_path)]
    seen = subprocess.run(command, env=environment, check=True, capture_output=True).stdout
    assert b"SourceFile(path='\\xe9.py', text=b'x')] ignored" in seen
