"""Writing a store: an Index goes in, and one JSON file is there whole, or the old one still is.

The text leaves in pieces, a chunk at a time, so that the file is never in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from cce.atomic import write_atomically, write_below
from cce.domain.ranking import Chunk
from cce.domain.redaction import Redaction
from cce.errors import EmbedderError, StoreError
from cce.files import writing
from cce.quoting import on_one_line, quoted
from cce.retrieval.indexing.index import Index
from cce.retrieval.store.layout import FORMAT_VERSION, HASH, path_fault
from cce.retrieval.store.place import STORE
from cce.retrieval.store.reading import require_store

if TYPE_CHECKING:
    from cce.retrieval.embedding.catalog import FloatMatrix

_FAULT = "cannot be written: {}; what was there is untouched, name another file with --store"


def write_store(
    path: str,
    index: Index,
    file_digests: Mapping[str, str],
    redaction: Redaction = Redaction.STANDARD,
    *,
    default_of: str | None = None,
) -> int:
    """Write `index` to `path`, whose folder exists, and tell the size in bytes.

    Raises StoreError, or EmbedderError for vectors that cannot be stored. `file_digests` maps a path to
    the SHA-256 of its whole indexed text, in hex; `redaction` says what that text went through.
    `default_of` is the directory whose default store `path` is: then no link is followed. Nothing but a
    store or an empty file is replaced.
    """
    require_store(path)
    size = _Size()
    with writing(path, StoreError, _FAULT):
        try:
            _check_paths(index)
            pieces = size.count(_encode(index, _checked_embeddings(index), file_digests, redaction))
            if default_of is None:
                write_atomically(path, pieces)
            else:
                write_below(default_of, STORE, pieces)
        except StoreError as exc:
            raise StoreError(f"{on_one_line(path)}: not written: {exc}") from exc
    return size.n_bytes


class _Size:
    """Counts what passes: asking the file afterwards could meet that of another writer."""

    def __init__(self) -> None:
        self.n_bytes = 0

    def count(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.n_bytes += len(piece)
            yield piece


def _check_paths(index: Index) -> None:
    """Refuse what no reader would accept."""
    for file_path in index.positions_by_file:
        fault = path_fault(file_path)
        if fault is not None:
            raise StoreError(f"the file path {quoted(file_path)} {fault}; rename the file or ignore it")


def _checked_embeddings(index: Index) -> FloatMatrix:
    """float64[n_chunks, dimension], every number finite: a plug-in's word is not enough."""
    dimension = index.embedder.dimension
    if not index.chunks:
        return np.empty((0, dimension))
    embeddings = index.embeddings
    expected = (len(index.chunks), dimension)
    if embeddings.shape != expected or not np.isfinite(embeddings).all():
        raise EmbedderError(
            f"embedder {index.embedder.name!r} gave vectors of shape {embeddings.shape}, due are finite ones "
            f"of shape {expected}; no store was written, repair the embedder"
        )
    return embeddings


def _encode(
    index: Index, embeddings: FloatMatrix, file_digests: Mapping[str, str], redaction: Redaction
) -> Iterator[bytes]:
    encode = msgspec.json.Encoder().encode
    yield encode(_head(index)).removesuffix(b"}") + b',"chunks":['
    separator = b""
    for chunk, embedding in zip(index.chunks, embeddings, strict=True):
        yield separator + encode(_chunk_record(chunk, embedding.tolist()))
        separator = b","
    tail: dict[str, Any] = {
        "file_imports": dict(index.file_imports),
        "file_tokens": dict(index.file_tokens),
        "file_digests": dict(file_digests),
    }
    if redaction is Redaction.OFF:
        tail["secrets_allowed"] = True
    if redaction is Redaction.STRICT:
        tail["redact"] = redaction.value
    yield b"]," + encode(tail).removeprefix(b"{")


def _head(index: Index) -> dict[str, Any]:
    embedder = index.embedder
    head: dict[str, Any] = {"spec_version": FORMAT_VERSION, "embedder": embedder.name}
    if embedder.name != HASH:
        model = getattr(embedder, "model", None)
        if model is not None:
            head["embedder_model"] = model
        head["embedding_dim"] = embedder.dimension
    return head


def _chunk_record(chunk: Chunk, embedding: list[float]) -> dict[str, Any]:
    return {
        "chunk_id": chunk.chunk_id,
        "file_path": chunk.file_path,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "chunk_type": chunk.chunk_type,
        "kind": chunk.kind,
        "language": chunk.language,
        "content": chunk.content.decode(),
        "token_count": chunk.token_count,
        "embedding": embedding,
    }
