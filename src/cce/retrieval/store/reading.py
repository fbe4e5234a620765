"""Reading a store: a path goes in; a frozen Store comes out, or one StoreError of a single line.

Our own stores load, and those of other producers of the format. Nothing in the file is believed:
types, widths, lines and paths are checked, and the file is never changed. Contents and embeddings
stay slices of the file until each is looked at, which keeps memory below twice the file.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Literal, cast

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from cce.domain.ranking import Chunk
from cce.domain.redaction import Redaction
from cce.errors import StoreError
from cce.files import reason
from cce.quoting import on_one_line, quoted
from cce.retrieval.embedding.catalog import Embedder
from cce.retrieval.embedding.hashing import HashEmbedder
from cce.retrieval.embedding.recorded import RecordedEmbedder
from cce.retrieval.indexing.index import Index
from cce.retrieval.indexing.segment import Content, CutChunk
from cce.retrieval.store.contents import Contents
from cce.retrieval.store.layout import FORMAT_VERSION, HASH, path_fault
from cce.retrieval.store.vectors import check_vectors, read_vectors

_REMAKE = "make a new one with: cce index"
_N_HEAD = 4096
# As `writing` begins every store, whatever the version.
_HEAD = re.compile(rb'\s*\{\s*"spec_version"\s*:\s*"[^"]*"\s*,\s*"embedder"\s*:')

_Name = Annotated[str, Meta(min_length=1)]
_Line = Annotated[int, Meta(ge=1, le=2**53)]
_Count = Annotated[int, Meta(ge=0, le=2**53)]
_Dimension = Annotated[int, Meta(ge=1, le=2**31)]
_Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


class _ChunkRecord(Struct, gc=False):
    chunk_id: _Name
    file_path: str
    start_line: _Line
    end_line: _Line
    chunk_type: _Name
    language: str
    content: Raw
    token_count: _Count
    kind: str = ""
    embedding: Raw = Raw()


class _StoreRecord(Struct, gc=False):
    spec_version: str
    chunks: list[_ChunkRecord]
    file_imports: dict[str, tuple[str, ...]]
    embedder: _Name = HASH
    embedder_model: str | UnsetType = UNSET
    embedding_dim: _Dimension | UnsetType = UNSET
    file_tokens: dict[str, _Count] = {}
    file_digests: dict[str, _Digest] | UnsetType = UNSET
    secrets_allowed: bool = False
    redact: Literal["standard", "strict"] = "standard"


class _Version(Struct, gc=False):
    spec_version: str


@dataclass(frozen=True, slots=True)
class Store:
    """One index as it was found on disk.

    `embedder_model` and `embedding_dim` are what the file says; `file_digests` maps a path to the
    SHA-256 of its whole indexed text in hex, None where the producer recorded none;
    `redaction` tells what that text went through.
    """

    index: Index
    embedder: str
    embedder_model: str | None
    embedding_dim: int | None
    format_version: str
    file_digests: Mapping[str, str] | None
    redaction: Redaction
    n_bytes: int


def read_store(path: str) -> Store:
    """The store at `path`; raises StoreError. No embedder is asked for anything yet."""
    try:
        text = _read_regular_file(path)
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path
        way_out = "name another one, or make one with: cce index"
        raise StoreError(f"{on_one_line(path)}: cannot be read: {reason(exc)}; {way_out}") from exc
    try:
        return _store_of(_parse(text), len(text))
    except StoreError as exc:
        raise StoreError(f"{on_one_line(f'{path}: {exc}')}; {_REMAKE}") from exc


def require_store(path: str) -> None:
    """Raise StoreError if `path` is a file that is neither a store nor empty: a new one would replace it.

    A damaged store is one by its first bytes. What is no file, or cannot be read, fails when written to.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return
        with open(path, "rb") as file:
            head = file.read(_N_HEAD)
        if head and not _HEAD.match(head):
            msgspec.json.decode(_read_regular_file(path), type=_StoreRecord)
    except (msgspec.DecodeError, RecursionError) as exc:
        fault = "is there already and is no index store"
        way_out = "name another file with --store, or remove it first"
        raise StoreError(f"{on_one_line(path)}: {fault}; {way_out}") from exc
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return


def _read_regular_file(path: str) -> bytes:
    """All bytes of one file: a pipe would block, and a device may have no end."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise OSError("it is a directory, a store is a file in one such as .cce/index.json")
    if not stat.S_ISREG(mode):
        raise OSError("it is not a regular file")
    with open(path, "rb", buffering=0) as file:
        return file.readall()


def _parse(text: bytes) -> _StoreRecord:
    try:
        record = msgspec.json.decode(text, type=_StoreRecord)
    except (msgspec.DecodeError, RecursionError) as exc:
        _check_version(_foreign_version(text))
        raise StoreError(_diagnosis(exc)) from exc
    _check_version(record.spec_version)
    return record


def _foreign_version(text: bytes) -> str:
    """What a file that is no store of ours calls its version; ours if it does not say."""
    try:
        return msgspec.json.decode(text, type=_Version).spec_version
    except (msgspec.DecodeError, RecursionError):
        return FORMAT_VERSION


def _check_version(version: str) -> None:
    if version != FORMAT_VERSION:
        raise StoreError(f"spec_version is {quoted(version)}, this cce reads '{FORMAT_VERSION}'")


def _diagnosis(exc: msgspec.DecodeError | RecursionError) -> str:
    if isinstance(exc, msgspec.ValidationError):
        return f"not an index store: {exc}"
    if isinstance(exc, RecursionError):
        return "not an index store: nested too deep"
    return f"cut short or damaged: {exc}"


def _store_of(record: _StoreRecord, n_bytes: int) -> Store:
    model = None if record.embedder_model is UNSET else record.embedder_model
    dimension = None if record.embedding_dim is UNSET else record.embedding_dim
    digests = None if record.file_digests is UNSET else MappingProxyType(record.file_digests)
    for paths in (record.file_imports, record.file_tokens, digests or ()):
        _check_paths(paths)
    return Store(
        _index_of(record, model, dimension),
        record.embedder,
        model,
        dimension,
        record.spec_version,
        digests,
        Redaction.OFF if record.secrets_allowed else Redaction(record.redact),
        n_bytes,
    )


def _index_of(record: _StoreRecord, model: str | None, dimension: int | None) -> Index:
    vectors = [chunk.embedding for chunk in record.chunks]
    embedder: Embedder
    if record.embedder == HASH:
        embedder, embeddings = HashEmbedder(), None
        check_vectors(vectors, HashEmbedder.dimension, dimension)
    else:
        embeddings = read_vectors(vectors, dimension)
        width = dimension if embeddings is None else embeddings.shape[1]
        embedder = RecordedEmbedder(record.embedder, model, width)
    imports = MappingProxyType(record.file_imports)
    tokens = MappingProxyType(record.file_tokens)
    return Index(_chunks_of(record.chunks), imports, tokens, embedder, embeddings)


def _chunks_of(records: Sequence[_ChunkRecord]) -> list[Chunk]:
    read_text = msgspec.json.Decoder(str).decode
    known_paths: dict[str, str] = {}
    contents = Contents()
    chunks: list[Chunk] = []
    for position, record in enumerate(records):
        path = known_paths.get(record.file_path)
        if path is None:
            _check_paths((record.file_path,))
            path = known_paths.setdefault(record.file_path, record.file_path)
        if record.end_line < record.start_line:
            raise StoreError(
                f"chunks[{position}] ends at line {record.end_line}, before its start at {record.start_line}"
            )
        try:
            content = read_text(record.content).encode()
        except msgspec.DecodeError as exc:
            raise StoreError(f"chunks[{position}].content: {exc}") from exc
        place = contents.place(path, record.start_line, record.end_line, content)
        chunks.append(_chunk(record, path, place))
    return chunks


def _chunk(record: _ChunkRecord, path: str, content: Content) -> Chunk:
    # A thousand chunks share a path, a kind and a language: one string each is enough.
    chunk_type = sys.intern(record.chunk_type)
    return CutChunk(
        record.chunk_id,
        path,
        record.start_line,
        record.end_line,
        chunk_type,
        sys.intern(record.kind) or chunk_type,
        sys.intern(record.language),
        cast("bytes", content),  # looked up when it is asked for
        record.token_count,
    )


def _check_paths(paths: Iterable[str]) -> None:
    for path in paths:
        fault = path_fault(path)
        if fault is not None:
            raise StoreError(f"file path {quoted(path)} {fault}")
