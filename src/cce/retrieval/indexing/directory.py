"""From a directory to an index: walk, read and scrub, chunk, gather.

What was left out comes along with its reason, since an anchor may name it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from cce.domain.redaction import Redaction
from cce.retrieval.corpus.source_files import SkipReason, read_raw, walk, why_absent
from cce.retrieval.embedding.catalog import Embedder
from cce.retrieval.embedding.hashing import HashEmbedder
from cce.retrieval.indexing.cache import Cache
from cce.retrieval.indexing.index import Index, SegmentIndex
from cce.retrieval.indexing.segment import Segment, merge_segments

if TYPE_CHECKING:
    from cce.retrieval.embedding.catalog import FloatMatrix
    from cce.retrieval.indexing.snapshots import Snapshot
    from cce.retrieval.indexing.stat_records import StatRecords
    from cce.retrieval.indexing.workers import Processed

# Texts per call of an embedder: with a model that takes 30 ms per text, progress shows every two seconds.
_BATCH = 64

ProgressCallback = Callable[[str, int, int, str], None]
"""Called as the work goes on: verb, number done, number of all, noun."""


class IndexedCorpus:
    """An index with what the walk saw."""

    def __init__(
        self,
        root: str,
        index: Index,
        skipped: Mapping[str, SkipReason],
        notices: tuple[str, ...],
        redaction: Redaction = Redaction.STANDARD,
    ) -> None:
        """`skipped` has a reason for each file that was left out; `notices` are one line each.

        redaction  what the text went through
        """
        self.root = root
        self.index = index
        self.skipped = skipped
        self.notices = notices
        self.redaction = redaction

    def why_absent(self, path: str) -> str | None:
        """Why `path` is not indexed; None if there is no such file."""
        return why_absent(self.root, self.skipped, path)

    def holds(self, path: str) -> bool:
        """Whether the file `path` of the directory is indexed."""
        return isinstance(self.index, SegmentIndex) and path in self.index.segment.paths

    @property
    def is_directory(self) -> bool:
        """Whether it was made from files; a store has none to look at."""
        return isinstance(self.index, SegmentIndex)

    def digests(self) -> dict[str, str]:
        """SHA-256 of each file's scrubbed text in hex; empty for an index that has no whole texts."""
        if not isinstance(self.index, SegmentIndex):
            return {}
        segment = self.index.segment
        return {path: text_digest(text) for path, text in zip(segment.paths, segment.texts, strict=True)}


def index_directory(
    directory: str,
    progress: ProgressCallback,
    *,
    embedder: Embedder | None = None,
    redaction: Redaction = Redaction.STANDARD,
    cache: Cache | None = None,
    trusts_stat: bool = False,
) -> IndexedCorpus:
    """The index of all files below `directory`, which is the same with and without a cache.

    Text that was not scrubbed never reaches the cache. With `trusts_stat` a file that the cache knows is not
    read again while its size, time and inode stay the same; figures must not rest on that. Raises
    CorpusError, GrammarError or UsageError.
    """
    if "CCE_PARSE_SECONDS" in os.environ:
        from cce.retrieval.chunking.limits import seconds_per_file  # where nothing changed, nothing is parsed

        seconds_per_file()  # a wrong value is an error also then
    walked = walk(directory)
    n_files = len(walked.paths)

    def file_progress(n_done: int) -> None:
        progress("indexing", n_done, n_files, "files")

    if redaction is Redaction.OFF:
        cache = None
    if cache is None:
        processed = _process(directory, walked.paths, redaction, file_progress)
        segment, skipped = processed.segment, processed.skipped
    else:
        cached = _CachedDirectory(directory, redaction, cache)
        segment, skipped = cached.index(walked.paths, file_progress, trusts_stat=trusts_stat)
    index = SegmentIndex(segment, embedder or HashEmbedder(), root=directory)
    if not isinstance(index.embedder, HashEmbedder):
        index = SegmentIndex(segment, index.embedder, _embed_all(index, progress), directory)
    return IndexedCorpus(directory, index, {**walked.skipped, **skipped}, walked.notices, redaction)


def _process(
    directory: str, paths: Sequence[str], redaction: Redaction, progress: Callable[[int], None]
) -> Processed:
    # Only here: a run that finds all files in the cache spares the modules that cut chunks.
    from cce.retrieval.indexing.workers import process_files

    return process_files(directory, paths, redaction, progress)


class _CachedDirectory:
    """A directory whose files are chunked only where the cache does not know them."""

    def __init__(self, directory: str, redaction: Redaction, cache: Cache) -> None:
        self._directory = directory
        self._redaction = redaction
        self._cache = cache

    def index(
        self, paths: Sequence[str], progress: Callable[[int], None], *, trusts_stat: bool
    ) -> tuple[Segment, Mapping[str, SkipReason]]:
        """The segment of `paths`, and why some are not in it. The cache then knows all of them."""
        known = self._cache.load(self._directory, self._redaction)
        trust = _Trust(self._directory, paths, self._records(known)) if trusts_stat else None
        if known is None:
            processed = _process(self._directory, paths, self._redaction, progress)
            segment, skipped = processed.segment, processed.skipped
        else:
            segment, skipped = self._update(known.segment, paths, trust, progress)
        if known is None or segment is not known.segment:
            known = self._cache.save(self._directory, segment, self._redaction)
        if trust is not None and known is not None:
            records = trust.renewed(segment.paths, skipped)
            if records is not None:
                self._cache.save_records(self._directory, self._redaction, known, records)
        return segment, skipped

    def _records(self, known: Snapshot | None) -> StatRecords | None:
        return None if known is None else self._cache.load_records(self._directory, self._redaction, known)

    def _update(
        self,
        known: Segment,
        paths: Sequence[str],
        trust: _Trust | None,
        progress: Callable[[int], None],
    ) -> tuple[Segment, Mapping[str, SkipReason]]:
        """The segment of `paths`, what is unchanged being taken from `known`; `known` if nothing changed."""
        digests = dict(zip(known.paths, known.digests, strict=True))
        unchanged: set[str] = set()
        changed: list[str] = []
        skipped: dict[str, SkipReason] = {}
        for n_done, path in enumerate(paths):
            progress(n_done)
            seen = None if trust is None else trust.seen(path)
            text = read_raw(self._directory, path, self._redaction) if seen is None else seen
            if isinstance(text, SkipReason):
                skipped[path] = text
            elif path in digests and (text is _SAME or hashlib.sha256(text).digest() == digests[path]):
                unchanged.add(path)
            else:
                changed.append(path)
        if not changed and len(unchanged) == len(digests):
            return known, skipped
        processed = _process(self._directory, changed, self._redaction, progress)
        return merge_segments(known, unchanged, processed.segment), {**skipped, **processed.skipped}


# A text that stands for the one that is indexed: no file's, as it is not UTF-8.
_SAME = b"\xff"


class _Trust:
    """Which files need not be read, going by what the file system says of them."""

    def __init__(self, directory: str, paths: Sequence[str], records: StatRecords | None) -> None:
        from cce.retrieval.indexing.stat_records import take_stats  # only `cce search` trusts them

        self._taken_ns, self._stats = take_stats(directory, paths)
        self._records = records
        self._has_doubt = False

    def seen(self, path: str) -> bytes | SkipReason | None:
        """_SAME if its text is the indexed one, why it is left out, or None: it must be read."""
        if self._records is None:
            return None
        found = self._stats.get(path)
        if self._records.is_indexed(path, found):
            return _SAME
        reason = self._records.why_skipped(path, found)
        self._has_doubt |= reason is None and self._records.knows(path)
        return reason

    def renewed(self, indexed: Sequence[str], skipped: Mapping[str, SkipReason]) -> StatRecords | None:
        """The records of what was just seen; None if they would spare no more files than those there are."""
        from cce.retrieval.indexing.stat_records import records_of

        records = records_of(self._taken_ns, self._stats, indexed, skipped)
        known = self._records
        is_same = known is not None and (known.files, known.skipped) == (records.files, records.skipped)
        return None if is_same and not self._has_doubt else records


def _embed_all(index: Index, progress: ProgressCallback) -> FloatMatrix:
    """float64[n_chunks, dimension], asked for in batches, so that a slow model shows progress."""
    import numpy as np

    n_chunks = len(index.chunks)
    blocks = [np.empty((0, index.embedder.dimension))]
    for start in range(0, n_chunks, _BATCH):
        progress("embedding", start, n_chunks, "chunks")
        blocks.append(index.embedder.embed([chunk.content for chunk in index.chunks[start : start + _BATCH]]))
    embeddings: FloatMatrix = np.concatenate(blocks)
    return embeddings


def text_digest(text: bytes) -> str:
    """SHA-256 of a file's scrubbed text in hex: equal as long as the text is."""
    return hashlib.sha256(text).hexdigest()
