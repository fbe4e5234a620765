"""Files processed in one process and in several become the same segment, and nothing hangs."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from cce.domain.redaction import Redaction
from cce.errors import CorpusError, GrammarError
from cce.retrieval.chunking import treesitter
from cce.retrieval.corpus.source_files import SkipReason, walk
from cce.retrieval.indexing import workers
from cce.retrieval.indexing.workers import process_files
from corpora import content, unwatched

N_FILES = 60


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    """Sixty small files, one of them binary, one sensitive."""
    for number in range(N_FILES):
        source = "".join(f"def f{n}(x):\n    return x + {number}\n" for n in range(20))
        (tmp_path / f"m{number:02}.py").write_text(source)
    (tmp_path / "m07.bin").write_bytes(b"\xff\xfe")
    (tmp_path / ".env").write_text("A=1")
    return str(tmp_path)


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small batches in three processes, whatever the machine has."""
    monkeypatch.setattr(workers, "_MIN_BYTES", 0)
    monkeypatch.setattr(workers, "_BATCH_BYTES", 1500)
    monkeypatch.setattr(workers, "_n_processors", lambda: 3)


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for what comes soon, or fail after 60 seconds."""
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.001)


@pytest.mark.usefixtures("several")
@pytest.mark.process
def test_several_processes_give_what_one_gives(corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = walk(corpus).paths
    told: list[int] = []
    together = process_files(corpus, paths, Redaction.STANDARD, told.append)
    monkeypatch.setattr(workers, "_n_processors", lambda: 1)
    alone = process_files(corpus, paths, Redaction.STANDARD, unwatched)
    assert content(together.segment) == content(alone.segment)
    assert together.skipped == alone.skipped == {".env": SkipReason.SENSITIVE, "m07.bin": SkipReason.NOT_UTF8}
    assert len(together.segment.paths) == N_FILES
    assert told == sorted(told)


@pytest.mark.usefixtures("several")
def test_more_processes_than_batches_are_not_started(corpus: str) -> None:
    assert len(process_files(corpus, ["m01.py"], Redaction.STANDARD, unwatched).segment.paths) == 1
    assert len(process_files(corpus, [], Redaction.STANDARD, unwatched).segment.paths) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="a patched function reaches forked workers only")
@pytest.mark.usefixtures("several")
@pytest.mark.process
def test_a_file_that_kills_its_worker_is_named(
    corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = os.getpid()
    mark = tmp_path.parent / "dying"
    chunk_file = treesitter.chunk_file

    def deadly(path: str, text: bytes) -> object:
        if os.getpid() != parent and path == "m59.py":
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if os.getpid() == parent:  # leaves all but its first batch to the workers
            wait_until(mark.exists)
        return chunk_file(path, text)

    monkeypatch.setattr(workers, "chunk_file", deadly)
    with pytest.raises(CorpusError, match=r": m59\.py: a worker process died while indexing it;"):
        process_files(corpus, walk(corpus).paths, Redaction.STANDARD, unwatched)


@pytest.mark.skipif(sys.platform != "linux", reason="a patched function reaches forked workers only")
@pytest.mark.usefixtures("several")
@pytest.mark.process
def test_a_worker_that_dies_once_costs_time_and_nothing_else(
    corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = os.getpid()
    mark = tmp_path.parent / "died"
    expected = content(process_files(corpus, walk(corpus).paths, Redaction.STANDARD, unwatched).segment)
    chunk_file = treesitter.chunk_file

    def deadly_once(path: str, text: bytes) -> object:
        if os.getpid() != parent and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if os.getpid() == parent:
            wait_until(mark.exists)
        return chunk_file(path, text)

    monkeypatch.setattr(workers, "chunk_file", deadly_once)
    assert (
        content(process_files(corpus, walk(corpus).paths, Redaction.STANDARD, unwatched).segment) == expected
    )
    assert mark.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="a patched function reaches forked workers only")
@pytest.mark.usefixtures("several")
@pytest.mark.process
def test_a_fault_in_a_worker_is_the_fault_of_the_run(corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(path: str, _: bytes) -> object:
        raise GrammarError(f"grammar of {path} cannot be loaded")

    monkeypatch.setattr(workers, "chunk_file", broken)
    with pytest.raises(GrammarError, match="cannot be loaded"):
        process_files(corpus, walk(corpus).paths, Redaction.STANDARD, unwatched)


@pytest.mark.usefixtures("several")
def test_a_system_without_semaphores_works_alone(corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError("no semaphores")

    monkeypatch.setattr(workers, "_context", lambda: SimpleNamespace(Value=refused))
    assert (
        len(process_files(corpus, walk(corpus).paths, Redaction.STANDARD, unwatched).segment.paths) == N_FILES
    )
