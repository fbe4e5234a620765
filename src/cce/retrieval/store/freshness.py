"""Whether a store still matches its directory: exact, by content, or quick, where times allow it."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping

from cce.domain.redaction import Redaction
from cce.domain.summary import Freshness
from cce.errors import CorpusError
from cce.retrieval.corpus.source_files import SourceFile, read_source, walk
from cce.retrieval.indexing.directory import ProgressCallback, index_directory, text_digest
from cce.retrieval.indexing.index import Index
from cce.retrieval.store.reading import Store

# Files are read before the store is written, and some file systems keep times in steps of two seconds.
_SLACK_SECONDS = 10.0


def compare_with_directory(store: Store, directory: str, progress: ProgressCallback) -> Freshness:
    """Compare every file of `directory` with what `store` has of it; raises CorpusError.

    A store without digests (of another producer) is compared by chunks, imports and token counts.
    """
    stored: Mapping[str, Hashable]
    current: Mapping[str, Hashable]
    if store.file_digests is not None:
        stored = store.file_digests
        current = _directory_digests(directory, progress, store.redaction)
    else:
        stored = _file_records(store.index)
        current = _file_records(index_directory(directory, progress).index)
    return _freshness(directory, stored, current)


def compare_quickly(store: Store, path: str, directory: str) -> Freshness | None:
    """Compare `directory` with `store`, reading only the files touched since `path` was written.

    A file counts as touched by the later of the times at which its content and its entry changed, so one that
    was copied with its old time is read as well. None for a store without digests, of another producer, and
    where the directory or the store's time cannot be read.
    """
    if store.file_digests is None:
        return None
    try:
        written = os.stat(path).st_mtime - _SLACK_SECONDS
        paths = walk(directory).paths
    except (OSError, CorpusError):
        return None
    current: dict[str, Hashable] = {}
    for each in paths:
        if not _is_touched(os.path.join(directory, each), written):
            # Untouched and not in the store: it was skipped then, and would be now.
            if each in store.file_digests:
                current[each] = store.file_digests[each]
            continue
        source = read_source(directory, each, store.redaction)
        if isinstance(source, SourceFile):
            current[each] = text_digest(source.text)
    return _freshness(directory, store.file_digests, current)


def _is_touched(path: str, since: float) -> bool:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return True  # reading it will tell
    return max(found.st_mtime, found.st_ctime) >= since


def _freshness(directory: str, stored: Mapping[str, Hashable], current: Mapping[str, Hashable]) -> Freshness:
    both: Iterable[str] = current.keys() & stored.keys()
    return Freshness(
        directory=directory,
        new=tuple(sorted(current.keys() - stored.keys())),
        changed=tuple(sorted(path for path in both if current[path] != stored[path])),
        deleted=tuple(sorted(stored.keys() - current.keys())),
    )


def _directory_digests(directory: str, progress: ProgressCallback, redaction: Redaction) -> dict[str, str]:
    paths = walk(directory).paths
    digests: dict[str, str] = {}
    for n_done, path in enumerate(paths):
        progress("comparing", n_done, len(paths), "files")
        source = read_source(directory, path, redaction)
        if isinstance(source, SourceFile):
            digests[path] = text_digest(source.text)
    return digests


def _file_records(index: Index) -> dict[str, Hashable]:
    return {
        path: (
            tuple(
                (index.chunks[p].chunk_id, index.chunks[p].kind, index.chunks[p].content) for p in positions
            ),
            tuple(index.file_imports.get(path, ())),
            index.file_tokens.get(path),
        )
        for path, positions in index.positions_by_file.items()
    }
