"""Whether a store still matches its directory: exact, by content, never by file times."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from cce.domain.redaction import Redaction
from cce.domain.summary import Freshness
from cce.retrieval.corpus.source_files import SourceFile, read_source, walk
from cce.retrieval.indexing.directory import ProgressCallback, index_directory, text_digest
from cce.retrieval.indexing.index import Index
from cce.retrieval.store.reading import Store


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
    return Freshness(
        directory=directory,
        new=tuple(sorted(current.keys() - stored.keys())),
        changed=tuple(
            sorted(path for path in current.keys() & stored.keys() if current[path] != stored[path])
        ),
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
