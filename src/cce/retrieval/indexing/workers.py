"""Reading, scrubbing and chunking many files, in several processes where that pays.

Paths enter in order, and one segment of all of them leaves in the same order, whatever ran where.
Parsing holds the interpreter's lock, so threads would not help. The calling process takes batches like
the others, so work begins before they have started.

A worker never outlives the calling process, whatever ends that one: see `_die_with_parent`.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import hashlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cce.domain.redaction import Redaction
from cce.errors import CorpusError
from cce.retrieval.chunking.limits import (
    PATIENCE_SECONDS,
    TooSlowError,
    limited_to,
    seconds_per_file,
    too_slow,
)
from cce.retrieval.chunking.treesitter import ChunkedFile, chunk_file
from cce.retrieval.corpus.source_files import SkipReason, read_raw, scrub
from cce.retrieval.counting.counter import count_span_tokens
from cce.retrieval.counting.token_counts import MANY_BYTES, TokenCounter
from cce.retrieval.indexing.segment import Segment, join_segments, merge_segments
from cce.retrieval.indexing.segmenting import build_segment

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext, ForkProcess, SpawnContext, SpawnProcess

    BaseContext = ForkContext | SpawnContext

# A pool of forked workers takes some 40 ms to start, a spawned one 110. One process reads, cuts and counts
# 5 MB in a second, two of them 8 to 10: below this size a pool saves less than it costs.
_MIN_BYTES = 1_000_000
# A twentieth of a second of work: who is done takes the next batch, so all processes end at about one time.
_BATCH_BYTES = 250_000
# Each more holds a vocabulary and its segments in memory, and the calling process joins what they send alone.
_MAX_PROCESSES = 8

# What may end a worker before it is set up. Kept from it until then, it ends no process in disorder.
_HELD = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


class Counter(Protocol):
    """A number that several processes share."""

    value: int

    def get_lock(self) -> AbstractContextManager[object]:
        """What to hold while changing it."""


class Batch(NamedTuple):
    """Files of one corpus to be processed together; `paths` are relative to `root`, in byte order.

    `count_tokens` decides how fast, never what comes out; `parse_seconds` is the limit for each file.
    """

    root: str
    paths: tuple[str, ...]
    redaction: Redaction
    count_tokens: TokenCounter
    parse_seconds: float


class Processed(NamedTuple):
    """What became of a batch: the files indexed, and a reason for each other one."""

    segment: Segment
    skipped: Mapping[str, SkipReason]


def process_files(
    root: str, paths: Sequence[str], redaction: Redaction, progress: Callable[[int], None]
) -> Processed:
    """Index `paths`, which are in byte order; `progress` is called with the number of files done.

    Raises GrammarError, and CorpusError if a worker process dies or a file takes too long to parse.
    """
    parse_seconds = seconds_per_file()
    sizes = [_size(root, path) for path in paths]
    count_tokens: TokenCounter = count_span_tokens
    if sum(sizes) >= MANY_BYTES:  # imported here, once for all workers that are forked
        from cce.retrieval.counting.arrays.counting import SharedCounter

        count_tokens = SharedCounter()  # every process has a vocabulary of its own in the end
    batches = [Batch(root, group, redaction, count_tokens, parse_seconds) for group in _group(paths, sizes)]
    n_processes = min(_n_processors(), len(batches), _MAX_PROCESSES)
    if n_processes < 2 or sum(sizes) < _MIN_BYTES:
        return _join(_process_here(batches, progress))
    return _join(_process_together(batches, n_processes, progress))


def process_batch(batch: Batch, patience: float = PATIENCE_SECONDS) -> Processed:
    """Read, scrub and chunk the files of one batch; raises CorpusError for a file that takes too long.

    A file that takes longer than `patience` seconds goes to a process of its own, so that an interrupt is
    heard meanwhile: nothing is while this one parses.
    """
    files: list[ChunkedFile] = []
    digests: list[bytes] = []
    skipped: dict[str, SkipReason] = {}
    slow: list[str] = []
    with limited_to(min(patience, batch.parse_seconds)):
        for path in batch.paths:
            text = read_raw(batch.root, path, batch.redaction)
            if isinstance(text, SkipReason):
                skipped[path] = text
                continue
            try:
                files.append(chunk_file(path, scrub(text, batch.redaction, path)))
            except TooSlowError as exc:
                if patience >= batch.parse_seconds:
                    raise too_slow(batch.root, path, batch.parse_seconds) from exc
                slow.append(path)
            else:
                digests.append(hashlib.sha256(text).digest())
    processed = Processed(build_segment(files, digests, batch.count_tokens), skipped)
    return _with_slow(processed, batch._replace(paths=tuple(slow))) if slow else processed


def _with_slow(processed: Processed, slow: Batch) -> Processed:
    """What is `processed` and the files of `slow` together."""
    segment, late = processed.segment, _process_alone(slow)
    merged = merge_segments(segment, set(segment.paths), late.segment)
    return Processed(merged, {**processed.skipped, **late.skipped})


def _process_here(batches: Sequence[Batch], progress: Callable[[int], None]) -> list[Processed]:
    parts, n_done = [], 0
    for batch in batches:
        progress(n_done)
        parts.append(process_batch(batch))
        n_done += len(batch.paths)
    return parts


def _process_together(
    batches: Sequence[Batch], n_processes: int, progress: Callable[[int], None]
) -> list[Processed]:
    """The results of `batches` in order, from this process and `n_processes - 1` others."""
    context = _context()
    try:
        counter = context.Value("q", 0)
        team = _Team(context)
    except (ImportError, OSError):  # systems without shared semaphores, or with none left
        return _process_here(batches, progress)
    workers: list[_Worker] = []
    try:
        with contextlib.suppress(OSError):  # no memory or no number left for one more: it takes longer
            workers += (team.start(batches, counter) for _ in range(n_processes - 1))
        results: dict[int, Processed] = {}
        for position in _take(counter, len(batches)):
            progress(sum(len(batch.paths) for batch in batches[:position]))
            results[position] = process_batch(batches[position])
        for worker in workers:
            results.update(worker.results())
    finally:
        team.stop()
    # What a worker had done when it died is lost, and shows as missing here.
    return [results[n] if n in results else _process_alone(batches[n]) for n in range(len(batches))]


def _process_alone(batch: Batch) -> Processed:
    """Each file in a process of its own: if one dies, its file is at fault."""
    parts = []
    for path in batch.paths:
        results = _results_of_one(batch._replace(paths=(path,)))
        if not results:
            raise CorpusError(
                f"{batch.root}: {path}: a worker process died while indexing it; "
                "leave the file out with a .gitignore, or free some memory"
            )
        parts.append(results[0])
    return _join(parts)


def _results_of_one(batch: Batch) -> dict[int, Processed]:
    """What a process of its own makes of `batch`; empty if it died or could not be started."""
    context = _context()
    try:
        team = _Team(context)
        try:
            return team.start([batch], context.Value("q", 0)).results()
        finally:
            team.stop()
    except (ImportError, OSError):
        return {}


class _Team:
    """Worker processes, and the pipe by which they notice that the calling process is gone."""

    def __init__(self, context: BaseContext) -> None:
        """Nothing is ever written to the pipe: it ends with the only process that could."""
        self._context = context
        self._life, self._life_end = context.Pipe(duplex=False)
        self._workers: list[_Worker] = []
        # For a signal: `multiprocessing` would first take the semaphores from workers that start.
        atexit.register(self.stop)

    def start(self, batches: Sequence[Batch], counter: Counter) -> _Worker:
        """Start one more worker."""
        results, sender = self._context.Pipe(duplex=False)
        # A forked worker has copies of all that is open here. With a reading end it would never notice
        # that nobody reads, with the end of `life` nobody would notice that the calling process is gone.
        copies = [results, self._life_end, *(worker.connection for worker in self._workers)]
        is_forked = self._context.get_start_method() == "fork"
        setup = _Setup(sender, self._life, tuple(copies) if is_forked else ())
        process = self._context.Process(target=_work, args=(setup, batches, counter), daemon=True)
        with _signals_held(), warnings.catch_warnings():
            # Forking with threads about is warned of. Those here wait in numpy's pool, which survives it.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
            self._workers.append(_Worker(process, results))
        sender.close()  # so that the end of the worker is the end of the pipe
        return self._workers[-1]

    def stop(self) -> None:
        """End all of them, whatever they are doing."""
        for worker in self._workers:
            worker.stop()
        self._life.close()
        self._life_end.close()
        atexit.unregister(self.stop)


class _Worker(NamedTuple):
    """Another process that takes batches until none is left, and then hands over what became of them."""

    process: ForkProcess | SpawnProcess
    connection: Connection

    def results(self) -> dict[int, Processed]:
        """By position of the batch; empty if the worker died. Raises what the worker raised."""
        try:
            outcome = self.connection.recv()
        except (EOFError, OSError):
            return {}
        if isinstance(outcome, BaseException):
            raise outcome
        results: dict[int, Processed] = outcome
        return results

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self.process.kill()
        self.process.join()
        self.connection.close()


class _Setup(NamedTuple):
    """What a worker needs besides its work."""

    sender: Connection
    life: Connection
    copies: tuple[Connection, ...]
    """What a forked worker must not keep open."""


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Signals wait meanwhile, and in a process started meanwhile until it lets them through."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(setup: _Setup, batches: Sequence[Batch], counter: Counter) -> None:
    for copy in setup.copies:
        copy.close()
    _die_with_parent(setup.life)
    _set_signals()
    try:
        taken = _take(counter, len(batches))
        setup.sender.send({n: process_batch(batches[n], batches[n].parse_seconds) for n in taken})
    except BrokenPipeError:  # nobody waits for it any more
        return
    except Exception as exc:
        with contextlib.suppress(Exception):
            setup.sender.send(exc)


def _set_signals() -> None:
    """An interrupt is the calling process's affair, and its handlers are not the worker's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in _HELD:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD)


def _die_with_parent(life: Connection) -> None:
    """End this process as soon as the calling one has ended.

    On Linux the kernel does it, also in the middle of parsing, which holds the interpreter's lock. A
    thread does it everywhere else, between two files, and here if the other one is gone already.
    """
    if sys.platform == "linux":
        with contextlib.suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
    with contextlib.suppress(RuntimeError):  # no thread left
        _thread.start_new_thread(_end_with, (life,))  # `threading` would wait until it runs


def _end_with(life: Connection) -> None:
    """Wait for the end of the calling process; nothing is ever sent."""
    with contextlib.suppress(EOFError, OSError):
        life.recv_bytes()
    os._exit(1)


def _take(counter: Counter, n_batches: int) -> Iterator[int]:
    """Positions of batches that nobody else takes."""
    while True:
        with counter.get_lock():
            position = counter.value
            counter.value += 1
        if position >= n_batches:
            return
        yield position


def _join(processed: Sequence[Processed]) -> Processed:
    if not processed:
        return Processed(build_segment((), ()), {})
    skipped = {path: reason for part in processed for path, reason in part.skipped.items()}
    return Processed(join_segments([part.segment for part in processed]), skipped)


def _group(paths: Sequence[str], sizes: Sequence[int]) -> Iterator[tuple[str, ...]]:
    group: list[str] = []
    n_bytes = 0
    for path, size in zip(paths, sizes, strict=True):
        group.append(path)
        n_bytes += size
        if n_bytes >= _BATCH_BYTES:
            yield tuple(group)
            group, n_bytes = [], 0
    if group:
        yield tuple(group)


def _size(root: str, path: str) -> int:
    try:
        return os.lstat(os.path.join(os.fsencode(root), path.encode())).st_size
    except OSError:
        return 0


def _n_processors() -> int:
    """Processors this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _context() -> BaseContext:
    """Fork where it is safe: a forked worker is at work in milliseconds, a spawned one imports anew."""
    from multiprocessing import get_context

    if sys.platform == "linux" and threading.active_count() == 1:
        return get_context("fork")
    return get_context("spawn")
