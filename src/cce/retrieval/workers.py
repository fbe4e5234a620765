"""Reading, scrubbing and chunking many files, in several processes where that pays.

Paths enter in order, and one segment of all of them leaves in the same order, whatever ran where.
Parsing holds the interpreter's lock, so threads would not help. The calling process takes batches
like the others, so nobody waits for a start.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cce.errors import CorpusError
from cce.retrieval.chunking.limits import (
    PATIENCE_SECONDS,
    TooSlowError,
    limited_to,
    seconds_per_file,
    too_slow,
)
from cce.retrieval.chunking.treesitter import ChunkedFile, chunk_file
from cce.retrieval.corpus import SkipReason, read_raw, scrub
from cce.retrieval.segment import Segment, join_segments, merge_segments
from cce.retrieval.segmenting import build_segment
from cce.retrieval.token_counts import MANY_BYTES, TokenCounter, count_span_tokens

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext, SpawnContext

    BaseContext = ForkContext | SpawnContext

# Below this a pool costs more than it saves.
_MIN_BYTES = 1_000_000
_BATCH_BYTES = 250_000
_MAX_PROCESSES = 8


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
    allow_secrets: bool
    count_tokens: TokenCounter
    parse_seconds: float


class Processed(NamedTuple):
    """What became of a batch: the files indexed, and a reason for each other one."""

    segment: Segment
    skipped: Mapping[str, SkipReason]


def process_files(
    root: str, paths: Sequence[str], allow_secrets: bool, told: Callable[[int], None]
) -> Processed:
    """Index `paths`, which are in byte order; `told` hears how many files are done.

    Raises GrammarError, and CorpusError if a worker process dies or a file takes too long to parse.
    """
    parse_seconds = seconds_per_file()
    sizes = [_size(root, path) for path in paths]
    count_tokens: TokenCounter = count_span_tokens
    if sum(sizes) >= MANY_BYTES:  # imported here, once for all workers that are forked
        from cce.retrieval.arrays.counting import SharedCounter

        count_tokens = SharedCounter()  # every process has a vocabulary of its own in the end
    batches = [
        Batch(root, group, allow_secrets, count_tokens, parse_seconds) for group in _group(paths, sizes)
    ]
    n_processes = min(_n_processors(), len(batches), _MAX_PROCESSES)
    if n_processes < 2 or sum(sizes) < _MIN_BYTES:
        return _join(_process_here(batches, told))
    return _join(_process_together(batches, n_processes, told))


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
            text = read_raw(batch.root, path, batch.allow_secrets)
            if isinstance(text, SkipReason):
                skipped[path] = text
                continue
            try:
                files.append(chunk_file(path, scrub(text, batch.allow_secrets)))
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


def _process_here(batches: Sequence[Batch], told: Callable[[int], None]) -> list[Processed]:
    parts, n_done = [], 0
    for batch in batches:
        told(n_done)
        parts.append(process_batch(batch))
        n_done += len(batch.paths)
    return parts


def _process_together(
    batches: Sequence[Batch], n_processes: int, told: Callable[[int], None]
) -> list[Processed]:
    """The results of `batches` in order, from this process and `n_processes - 1` others."""
    context = _context()
    try:
        counter = context.Value("q", 0)
    except (ImportError, OSError):  # systems without shared semaphores
        return _process_here(batches, told)
    workers = [_Worker(context, batches, counter) for _ in range(n_processes - 1)]
    try:
        results: dict[int, Processed] = {}
        for position in _take(counter, len(batches)):
            told(sum(len(batch.paths) for batch in batches[:position]))
            results[position] = process_batch(batches[position])
        for worker in workers:
            results.update(worker.results())
    finally:
        for worker in workers:
            worker.stop()
    # What a worker had done when it died is lost, and shows as missing here.
    return [results[n] if n in results else _process_alone(batches[n]) for n in range(len(batches))]


def _process_alone(batch: Batch) -> Processed:
    """A file at a time, each in a process of its own: whoever dies now shows which file is at fault."""
    parts = []
    for path in batch.paths:
        context = _context()
        worker = _Worker(context, [batch._replace(paths=(path,))], context.Value("q", 0))
        results = worker.results()
        worker.stop()
        if not results:
            raise CorpusError(
                f"{batch.root}: {path}: a worker process died while indexing it; "
                "leave the file out with a .gitignore, or free some memory"
            )
        parts.append(results[0])
    return _join(parts)


class _Worker:
    """Another process that takes batches until none is left, and then hands over what became of them."""

    def __init__(self, context: BaseContext, batches: Sequence[Batch], counter: Counter) -> None:
        """Starts at once."""
        self._results, sender = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, args=(sender, batches, counter), daemon=True)
        with warnings.catch_warnings():
            # Forking with threads about is warned of. Those here wait in numpy's pool, which survives it.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        sender.close()  # so that the end of the worker is the end of the pipe

    def results(self) -> dict[int, Processed]:
        """By position of the batch; empty if the worker died. Raises what the worker raised."""
        try:
            outcome = self._results.recv()
        except (EOFError, OSError):
            return {}
        if isinstance(outcome, BaseException):
            raise outcome
        results: dict[int, Processed] = outcome
        return results

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._results.close()
        self._process.terminate()
        self._process.join()


def _work(sender: Connection, batches: Sequence[Batch], counter: Counter) -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the calling process's affair
    try:
        taken = _take(counter, len(batches))
        sender.send({n: process_batch(batches[n], batches[n].parse_seconds) for n in taken})
    except Exception as exc:
        sender.send(exc)


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
