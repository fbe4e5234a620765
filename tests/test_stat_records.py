"""Stat records: `cce search` reads no file again that has its size, time and inode, unless it is young."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cce.retrieval.corpus.source_files import read_raw
from cce.retrieval.indexing import directory as directory_module
from cce.retrieval.indexing.cache import Cache
from cce.retrieval.indexing.directory import IndexedCorpus, index_directory
from cce.retrieval.indexing.stat_records import Stat, StatRecords
from conftest import Run
from corpora import unwatched

OLD_NS = 1_600_000_000 * 10**9
A_TEXT = "def a():\n    return 'a'\n"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.py").write_text(A_TEXT)
    (folder / "b.txt").write_text("bird\n")
    (folder / "c.bin").write_bytes(b"\xff\xfe")
    (folder / ".env").write_text("TOKEN=1\n")
    for path in folder.iterdir():
        os.utime(path, ns=(OLD_NS, OLD_NS))
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(str(tmp_path / "cache"))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that a cached run really read, in order."""
    paths: list[str] = []

    def recorded(root: str, path: str, redaction: object) -> object:
        paths.append(path)
        return read_raw(root, path, redaction)  # type: ignore[arg-type]

    monkeypatch.setattr(directory_module, "read_raw", recorded)
    return paths


def trusted(corpus: Path, cache: Cache) -> IndexedCorpus:
    return index_directory(str(corpus), unwatched, cache=cache, trusts_stat=True)


def texts(found: IndexedCorpus) -> dict[str, str]:
    return {chunk.file_path: chunk.content.decode() for chunk in found.index.chunks}


def test_a_file_that_rested_is_not_read_again(corpus: Path, cache: Cache, read: list[str]) -> None:
    cold = trusted(corpus, cache)
    warm = trusted(corpus, cache)
    # The name of .env promises secrets: that is known without opening it.
    assert read == [".env"]
    assert (texts(warm), dict(warm.skipped)) == (texts(cold), dict(cold.skipped))


def test_figures_never_rest_on_times(corpus: Path, cache: Cache, read: list[str]) -> None:
    trusted(corpus, cache)
    index_directory(str(corpus), unwatched, cache=cache)
    assert read == [".env", "a.py", "b.txt", "c.bin"]


@pytest.mark.parametrize("change", ["size", "time", "inode"])
def test_a_file_of_another_size_time_or_inode_is_read(
    corpus: Path, cache: Cache, read: list[str], change: str
) -> None:
    trusted(corpus, cache)
    path = corpus / "a.py"
    if change == "inode":
        (corpus / "new").write_text(A_TEXT.replace("a", "x"))
        (corpus / "new").replace(path)
    else:
        path.write_text(A_TEXT.replace("'a'", "'long'") if change == "size" else A_TEXT.replace("a", "x"))
    later = OLD_NS if change != "time" else OLD_NS + 1
    os.utime(path, ns=(later, later))
    found = trusted(corpus, cache)
    assert read == [".env", "a.py"]
    assert texts(found)["a.py"] == path.read_text().rstrip("\n")


def test_equal_content_renews_the_record_and_nothing_else(
    corpus: Path, cache: Cache, read: list[str]
) -> None:
    trusted(corpus, cache)
    (entry,) = cache.entries()
    snapshot = (Path(cache.folder) / entry.name).read_bytes()
    os.utime(corpus / "a.py", ns=(OLD_NS + 5, OLD_NS + 5))
    trusted(corpus, cache)
    trusted(corpus, cache)
    assert read == [".env", "a.py", ".env"]
    assert (Path(cache.folder) / entry.name).read_bytes() == snapshot


def test_a_file_as_young_as_the_record_is_read_again(corpus: Path, cache: Cache, read: list[str]) -> None:
    (corpus / "a.py").write_text(A_TEXT)  # its time is now
    trusted(corpus, cache)
    trusted(corpus, cache)
    assert read == [".env", "a.py"]


def test_two_seconds_of_rest_are_enough() -> None:
    stat = Stat(10, OLD_NS, 7)
    young = StatRecords(OLD_NS + 2 * 10**9, {"a": stat}, {})
    rested = StatRecords(OLD_NS + 2 * 10**9 + 1, {"a": stat}, {})
    assert [young.is_indexed("a", stat), rested.is_indexed("a", stat)] == [False, True]
    assert [rested.is_indexed("a", None), rested.is_indexed("b", stat)] == [False, False]


@pytest.mark.parametrize(
    "spoiled",
    [b"", b"{", b"[]", b"null", b'{"snapshot": 1}', b'{"files": {"a.py": [1]}}', b"[" * 100_000, b"\xff"],
)
def test_spoiled_records_cost_time_only(corpus: Path, cache: Cache, read: list[str], spoiled: bytes) -> None:
    cold = trusted(corpus, cache)
    (records,) = Path(cache.folder).glob("*.stat")
    records.write_bytes(spoiled)
    assert texts(trusted(corpus, cache)) == texts(cold)
    assert read == [".env", "a.py", "b.txt", "c.bin"]


def test_records_of_another_snapshot_are_not_used(corpus: Path, cache: Cache, read: list[str]) -> None:
    trusted(corpus, cache)
    (records,) = Path(cache.folder).glob("*.stat")
    kept = json.loads(records.read_bytes())
    records.write_bytes(json.dumps({**kept, "snapshot": "0" * 64}).encode())
    trusted(corpus, cache)
    assert read == [".env", "a.py", "b.txt", "c.bin"]


def test_records_go_with_their_snapshot(corpus: Path, cache: Cache) -> None:
    trusted(corpus, cache)
    assert len(os.listdir(cache.folder)) == 2
    assert cache.clear() > 0
    assert os.listdir(cache.folder) == []


def test_search_verifies_on_request(corpus: Path, run_cce: Run, tmp_path: Path) -> None:
    def first(*options: str) -> bytes:
        folder = str(tmp_path / "cache")
        return run_cce("search", "bird", "--dir", str(corpus), *options, CCE_CACHE_DIR=folder).stdout

    assert b"b.txt" in first()
    # Same size, same time, same inode: only the content tells.
    with open(corpus / "b.txt", "r+b") as file:
        file.write(b"fish")
    os.utime(corpus / "b.txt", ns=(OLD_NS, OLD_NS))
    assert b"bird" in first()
    assert b"fish" in first("--verify")
