from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from cce.cli.main import main
from cce.domain.summary import Freshness
from cce.retrieval.store import freshness
from cce.retrieval.store.freshness import compare_quickly
from cce.retrieval.store.reading import read_store

Capture = pytest.CaptureFixture[bytes]
STORE = ".cce/index.json"


@pytest.fixture
def indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: three files, and a store that was written an hour after them."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "b.py", "c.txt"):
        (tmp_path / name).write_text(f"fee = '{name}'\n")
    (tmp_path / "set.jsonl").write_text('{"query": "fee", "expected": ["a.py"]}\n')
    (tmp_path / ".env").write_text("TOKEN=0\n")
    assert main(["index", "."]) == 0
    later = time.time() + 3600
    os.utime(STORE, (later, later))
    return tmp_path


def compared() -> Freshness | None:
    return compare_quickly(read_store(STORE), STORE, ".")


def touch_from_now_on() -> None:
    """Put the store back to before all files: each is read again."""
    os.utime(STORE, (0, 0))


def test_an_untouched_directory_matches_without_a_file_read(
    indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness, "read_source", None)
    assert compared() == Freshness(".", (), (), ())


def test_touched_files_are_compared_by_content(indexed: Path) -> None:
    touch_from_now_on()
    assert compared() == Freshness(".", (), (), ()), "every file is newer, none has another text"
    (indexed / "a.py").write_text("fee = 'else'\n")
    (indexed / "b.py").unlink()
    (indexed / "new.py").write_text("fee = 1\n")
    (indexed / ".env").write_text("TOKEN=1\n")  # never opened, so it is in no index
    assert compared() == Freshness(".", ("new.py",), ("a.py",), ("b.py",))


def test_a_file_copied_with_its_old_time_is_read_as_well(indexed: Path) -> None:
    # Its content is older than the store, its entry is not.
    os.utime(STORE, (time.time() - 1800, time.time() - 1800))
    old = time.time() - 7200
    (indexed / "a.py").write_text("fee = 'older'\n")
    os.utime("a.py", (old, old))
    found = compared()
    assert found is not None
    assert found.changed == ("a.py",)


def test_a_store_that_cannot_be_compared_is_not(indexed: Path) -> None:
    store = read_store(STORE)
    assert compare_quickly(store, "gone.json", ".") is None
    assert compare_quickly(store, STORE, "gone") is None


def scored(capture: Capture, store: str) -> str:
    capture.readouterr()
    assert main(["relevance", "set.jsonl", "--store", store]) == 0
    return capture.readouterr().err.decode()


def test_relevance_says_that_a_store_no_longer_matches_its_directory(
    indexed: Path, capsysbinary: Capture
) -> None:
    assert "no longer matches" not in scored(capsysbinary, STORE)
    touch_from_now_on()
    (indexed / "a.py").write_text("fee = 'else'\n")
    (indexed / "b.py").unlink()
    assert (
        "warning: .cce/index.json: no longer matches its directory: 1 changed, 1 gone (a.py, b.py): "
        "index it again with: cce index .\n"
    ) in scored(capsysbinary, STORE)


def test_a_store_elsewhere_has_no_directory_of_its_own(indexed: Path, capsysbinary: Capture) -> None:
    shutil.copy(STORE, "kept.json")
    (indexed / "a.py").write_text("fee = 'else'\n")
    assert "no longer matches" not in scored(capsysbinary, "kept.json")
