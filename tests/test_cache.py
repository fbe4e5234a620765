"""The cache: warm runs equal cold ones to the byte, and nothing in it is believed blindly."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.redaction import Redaction
from cce.errors import UsageError
from cce.report.json.listings import render_conformance
from cce.retrieval.chunking import treesitter
from cce.retrieval.indexing import cache as cache_module
from cce.retrieval.indexing import workers
from cce.retrieval.indexing.cache import Cache, default_cache
from cce.retrieval.indexing.directory import index_directory
from cce.retrieval.indexing.index import SegmentIndex
from corpora import content, unwatched

SECRET = "correct-horse-battery-staple"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.py").write_text(f"import b\n\n\ndef {name}():\n    return '{name}'\n")
    (folder / "notes.txt").write_text(f'password = "{SECRET}"\n')
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(str(tmp_path / "cache"))


@pytest.fixture
def chunked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that were really chunked, in order."""
    paths: list[str] = []
    chunk_file = treesitter.chunk_file

    def recorded(path: str, text: bytes) -> object:
        paths.append(path)
        return chunk_file(path, text)

    monkeypatch.setattr(workers, "chunk_file", recorded)
    return paths


def indexed(corpus: Path, cache: Cache | None) -> list[object]:
    """All that an index of the corpus holds."""
    found = index_directory(str(corpus), unwatched, cache=cache)
    assert isinstance(found.index, SegmentIndex)
    return [*content(found.index.segment), dict(found.skipped), render_conformance(found.index.chunks)]


def test_an_unchanged_corpus_is_not_chunked_again(corpus: Path, cache: Cache, chunked: list[str]) -> None:
    cold = indexed(corpus, cache)
    assert chunked == ["a.py", "b.py", "c.py", "notes.txt"]
    assert indexed(corpus, cache) == cold
    assert len(chunked) == 4


def test_one_changed_file_costs_one_file(corpus: Path, cache: Cache, chunked: list[str]) -> None:
    indexed(corpus, cache)
    status = (corpus / "b.py").stat()
    (corpus / "b.py").write_text("import b\n\n\ndef b():\n    return 'B'\n")
    # The same size and the same times: only the content tells.
    os.utime(corpus / "b.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert indexed(corpus, cache) == indexed(corpus, None)
    assert chunked[4:5] == ["b.py"]
    assert chunked[5:] == ["a.py", "b.py", "c.py", "notes.txt"]  # those of the run without a cache


def test_a_secret_never_reaches_the_cache(corpus: Path, cache: Cache) -> None:
    indexed(corpus, cache)
    (snapshot,) = Path(cache.folder).iterdir()
    assert SECRET.encode() not in snapshot.read_bytes()
    assert b"[REDACTED:SECRET]" in snapshot.read_bytes()
    index_directory(str(corpus), unwatched, cache=cache, redaction=Redaction.OFF)
    assert SECRET.encode() not in snapshot.read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_the_folder_is_for_its_owner_only(corpus: Path, cache: Cache) -> None:
    Path(cache.folder).mkdir(mode=0o755)
    indexed(corpus, cache)
    assert stat.S_IMODE(Path(cache.folder).stat().st_mode) == 0o700


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flip(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("spoil", [cut, flip, lambda _: b"", lambda _: b"foreign", lambda data: data + b"x"])
def test_a_spoiled_snapshot_is_rebuilt_in_silence(
    corpus: Path,
    cache: Cache,
    chunked: list[str],
    spoil: Callable[[bytes], bytes],
    capfd: pytest.CaptureFixture[str],
) -> None:
    cold = indexed(corpus, cache)
    (snapshot,) = Path(cache.folder).iterdir()
    whole = snapshot.read_bytes()
    snapshot.write_bytes(spoil(whole))
    assert indexed(corpus, cache) == cold
    assert len(chunked) == 8
    assert snapshot.read_bytes() == whole
    assert capfd.readouterr() == ("", "")


def test_a_snapshot_of_another_pipeline_is_rebuilt(
    corpus: Path, cache: Cache, chunked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = indexed(corpus, cache)
    monkeypatch.setattr(cache_module, "fingerprint", lambda: "another")
    assert indexed(corpus, cache) == cold
    assert len(chunked) == 8


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges")
def test_a_snapshot_that_is_a_link_is_not_followed(
    corpus: Path, cache: Cache, chunked: list[str], tmp_path: Path
) -> None:
    indexed(corpus, cache)
    (snapshot,) = Path(cache.folder).iterdir()
    shutil.move(snapshot, tmp_path / "elsewhere")
    snapshot.symlink_to(tmp_path / "elsewhere")
    indexed(corpus, cache)
    assert len(chunked) == 8


def test_a_cache_inside_the_corpus_is_not_used(corpus: Path, chunked: list[str]) -> None:
    inside = Cache(str(corpus / ".cache"))
    indexed(corpus, inside)
    indexed(corpus, inside)
    assert len(chunked) == 8
    assert not (corpus / ".cache").exists()


def test_a_cache_that_cannot_be_made_costs_time_only(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    blocked = Cache(str(tmp_path / "file" / "cache"))
    assert indexed(corpus, blocked) == indexed(corpus, None)
    assert blocked.entries() == []
    assert blocked.clear() == 0


def test_the_least_recently_used_snapshots_go_first(tmp_path: Path) -> None:
    corpora = []
    for number in range(3):
        corpora.append(tmp_path / f"corpus{number}")
        corpora[-1].mkdir()
        (corpora[-1] / "a.txt").write_text("word " * 1000)
    cache = Cache(str(tmp_path / "cache"))
    for age, corpus in enumerate(reversed(corpora)):
        indexed(corpus, cache)
        newest = cache.entries()[0]
        os.utime(Path(cache.folder) / newest.name, (1_000_000 + age, 1_000_000 + age))
    indexed(corpora[2], cache)  # the oldest is used again
    small = Cache(cache.folder, max_bytes=2 * cache.entries()[0].n_bytes)
    (corpora[2] / "a.txt").write_text("bird " * 1000)
    indexed(corpora[2], small)
    assert [small.load(str(corpus)) is not None for corpus in corpora] == [True, False, True]


def two_corpora(tmp_path: Path) -> tuple[Path, Path]:
    corpora = (tmp_path / "one", tmp_path / "two")
    for corpus in corpora:
        corpus.mkdir()
        (corpus / "a.txt").write_text("word " * 1000)
    return corpora


def test_the_newest_snapshot_stays_though_it_is_larger_than_the_limit(tmp_path: Path) -> None:
    one, two = two_corpora(tmp_path)
    tiny = Cache(str(tmp_path / "cache"), max_bytes=1)
    indexed(one, tiny)
    assert tiny.load(str(one)) is not None
    indexed(two, tiny)
    assert (tiny.load(str(one)), tiny.load(str(two)) is not None) == (None, True)
    assert [entry.corpus for entry in tiny.evicted] == [str(one)]


def test_the_snapshot_of_a_directory_that_is_gone_goes_first(tmp_path: Path) -> None:
    one, two = two_corpora(tmp_path)
    cache = Cache(str(tmp_path / "cache"))
    indexed(one, cache)
    indexed(two, cache)
    two.rename(tmp_path / "renamed")
    (tmp_path / "three").mkdir()
    small = Cache(cache.folder, max_bytes=sum(entry.n_bytes for entry in cache.entries()))
    indexed(tmp_path / "three", small)
    # `one` was used less recently than `two`, which nobody can use any more.
    assert [entry.corpus for entry in small.evicted] == [str(two)]
    assert {entry.corpus for entry in small.entries()} == {str(one), str(tmp_path / "three")}


def test_a_snapshot_of_an_earlier_version_names_no_corpus(corpus: Path, cache: Cache) -> None:
    indexed(corpus, cache)
    (entry,) = cache.entries()
    assert (entry.corpus, entry.is_orphan) == (str(corpus), False)
    path = Path(cache.folder) / entry.name
    for spoiled in (b"cce segment 3\n" + path.read_bytes()[14:], b"", b"cce segment 4\n" + b"\xff" * 16):
        path.write_bytes(spoiled)
        (entry,) = cache.entries()
        assert (entry.corpus, entry.is_orphan) == (None, True)
    assert cache.load(str(corpus)) is None


def test_the_limit_is_four_gibibytes_or_a_tenth_of_the_free_disk(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path / "not" / "there"))
    free = os.statvfs(tmp_path)
    tenth = free.f_bavail * free.f_frsize // 10
    assert cache.max_bytes >= 4 << 30
    assert cache.max_bytes == 4 << 30 or abs(cache.max_bytes - tenth) < 1 << 30


def test_the_limit_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCE_CACHE_BYTES", "1000")
    cache = default_cache()
    assert cache is not None
    assert cache.max_bytes == 1000


@pytest.mark.parametrize("typed", ["1e9", "-1", "4 GB", "²", "9" * 19])
def test_a_limit_that_is_no_number_of_bytes_is_refused(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    monkeypatch.setenv("CCE_CACHE_BYTES", typed)
    with pytest.raises(
        UsageError, match=r"^CCE_CACHE_BYTES is .*: write a number of bytes, such as 4294967296$"
    ):
        default_cache()


def test_clearing_removes_snapshots_and_nothing_else(corpus: Path, cache: Cache) -> None:
    indexed(corpus, cache)
    (Path(cache.folder) / "notes.txt").write_text("mine")
    (entry,) = cache.entries()
    assert cache.clear() == entry.n_bytes > 1000
    assert [path.name for path in Path(cache.folder).iterdir()] == ["notes.txt"]


def test_the_default_folder_is_the_users_and_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    home = os.environ["HOME"]
    cache = default_cache()
    assert cache is not None
    assert cache.folder.startswith(home)
    monkeypatch.setenv("CCE_CACHE_DIR", "/somewhere")
    cache = default_cache()
    assert cache is not None
    assert cache.folder == "/somewhere"


NAMES = st.sampled_from(["a.py", "b.py", "d/c.py", "d/e.txt", "f.rb", ".gitignore", "bin"])
TEXTS = st.sampled_from(
    [
        b"",
        b"def f(): pass\n",
        b"def g(): pass\nimport a\n",
        b"class A:\n def m(self): token='abcdefghijkl'\n",
        b"b.py\n",
        b"d/\n",
        b"\xff",
        b"def h\nend\nrequire 'set'\n",
    ]
)
EDITS = st.lists(st.tuples(NAMES, st.none() | TEXTS), min_size=1, max_size=4)


@settings(deadline=None, max_examples=60)
@given(st.lists(EDITS, min_size=2, max_size=4))
def test_after_any_edits_a_warm_run_equals_a_cold_one(rounds: list[list[tuple[str, bytes | None]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        corpus, cache = Path(folder, "corpus"), Cache(str(Path(folder, "cache")))
        (corpus / "d").mkdir(parents=True)
        for edits in rounds:
            for name, text in edits:
                if text is None:
                    (corpus / name).unlink(missing_ok=True)
                else:
                    (corpus / name).write_bytes(text)
            assert indexed(corpus, cache) == indexed(corpus, None)
            assert indexed(corpus, cache) == indexed(corpus, None)
