"""Snapshots: a segment as one file of flat arrays, to be mapped into memory and used as it is.

    magic | length of the head | head (JSON) | arrays, each on a multiple of 64 bytes | digest

The digest covers all before it, and the head names the pipeline that made the arrays. A file that is
torn, foreign, tampered with or of another version is no snapshot; who reads it finds None and no error.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import stat
import struct
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from cce.retrieval.segment import Segment
from cce.retrieval.token_counts import TokenCounts

_MAGIC = b"cce segment\n"
_LENGTH = struct.Struct("<Q")
_ALIGNMENT = 64
_DIGEST_BYTES = 32

Array = NDArray[Any]
Bytes = bytes | memoryview


class ByteSlices(Sequence[bytes]):
    """Texts that lie behind each other in one buffer; each becomes an object when it is asked for."""

    def __init__(self, buffer: memoryview, starts: NDArray[np.int64]) -> None:
        """Text i is `buffer[starts[i]:starts[i + 1]]`."""
        self._buffer = buffer
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, position: int) -> bytes: ...
    @overload
    def __getitem__(self, position: slice) -> ByteSlices: ...
    def __getitem__(self, position: int | slice) -> bytes | ByteSlices:
        if isinstance(position, slice):
            start, stop, _ = position.indices(len(self))
            return ByteSlices(self._buffer, self._starts[start : stop + 1])
        return bytes(self._buffer[self._starts[position] : self._starts[position + 1]])


def encode_snapshot(segment: Segment, fingerprint: str) -> Iterator[Bytes]:
    """The pieces of the file; `fingerprint` names everything besides the files that decided their form."""
    arrays = _arrays_of(segment)
    head = {
        "fingerprint": fingerprint,
        "imports": [list(names) for names in segment.imports],
        "paths": list(segment.paths),
        "arrays": _layout(arrays),
    }
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for piece in _pieces(text, list(arrays.values())):
        digest.update(piece)
        yield piece
    yield digest.digest()


def read_snapshot(path: str, fingerprint: str) -> Segment | None:
    """The segment that was written with the same fingerprint; None if there is no sound one."""
    try:
        buffer = _map(path)
        if buffer is None or not _is_sound(buffer):
            return None
        return _decode(buffer, fingerprint)
    # Whatever a digest does not catch: a head of other shape, arrays that end behind the file.
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError, struct.error):
        return None


def _arrays_of(segment: Segment) -> dict[str, Array]:
    counts = segment.token_counts
    return {
        "texts": np.frombuffer(b"".join(segment.texts), np.uint8),
        "text_starts": _starts_of(segment.texts),
        "digests": np.frombuffer(b"".join(segment.digests), np.uint8),
        "starts": segment.starts,
        "spans": segment.spans,
        "kinds": segment.kinds,
        "chunk_ids": segment.chunk_ids.view(np.uint8) if len(segment.chunk_ids) else np.empty(0, np.uint8),
        "vocabulary": np.frombuffer(b"".join(counts.vocabulary), np.uint8),
        "word_starts": _starts_of(counts.vocabulary),
        "token_starts": counts.starts,
        "terms": counts.terms,
        "counts": counts.counts,
    }


def _split(text: bytes, starts: Sequence[int]) -> list[bytes]:
    return [text[start:end] for start, end in pairwise(starts)]


def _starts_of(texts: Sequence[bytes]) -> NDArray[np.int64]:
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=starts[1:])
    return starts


def _layout(arrays: dict[str, Array]) -> dict[str, list[Any]]:
    """Per array its type, its shape and where it starts behind the head."""
    layout: dict[str, list[Any]] = {}
    offset = 0
    for name, array in arrays.items():
        layout[name] = [array.dtype.str, list(array.shape), offset]
        offset += array.nbytes + -array.nbytes % _ALIGNMENT
    return layout


def _pieces(head: bytes, arrays: Sequence[Array]) -> Iterator[Bytes]:
    start = _MAGIC + _LENGTH.pack(len(head)) + head
    yield start + bytes(-len(start) % _ALIGNMENT)
    for array in arrays:
        yield np.ascontiguousarray(array).data.cast("B") if array.nbytes else b""
        yield bytes(-array.nbytes % _ALIGNMENT)


def _map(path: str) -> memoryview | None:
    """The bytes of a regular file of our own; None for anything else."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(descriptor)
        is_ours = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
        if not (stat.S_ISREG(status.st_mode) and is_ours and status.st_size > _DIGEST_BYTES):
            return None
        if sys.platform == "win32":  # a mapped file cannot be replaced there
            with open(descriptor, "rb", closefd=False) as file:
                return memoryview(file.read())
        return memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ))
    finally:
        os.close(descriptor)


def _is_sound(buffer: memoryview) -> bool:
    if buffer[: len(_MAGIC)] != _MAGIC:
        return False
    digest = hashlib.blake2b(buffer[:-_DIGEST_BYTES], digest_size=_DIGEST_BYTES).digest()
    return buffer[-_DIGEST_BYTES:] == digest


def _decode(buffer: memoryview, fingerprint: str) -> Segment | None:
    head_start = len(_MAGIC) + _LENGTH.size
    (head_bytes,) = _LENGTH.unpack_from(buffer, len(_MAGIC))
    head = json.loads(bytes(buffer[head_start : head_start + head_bytes]))
    if head["fingerprint"] != fingerprint:
        return None
    first = head_start + head_bytes
    first += -first % _ALIGNMENT

    def array(name: str) -> Array:
        dtype, shape, offset = head["arrays"][name]
        n_items = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(buffer, np.dtype(dtype), n_items, first + offset).reshape(shape)

    digests = array("digests").tobytes()
    n_files = len(head["paths"])
    return Segment(
        paths=tuple(head["paths"]),
        texts=ByteSlices(array("texts").data, array("text_starts")),
        digests=[digests[start : start + 32] for start in range(0, 32 * n_files, 32)],
        imports=[tuple(names) for names in head["imports"]],
        starts=array("starts"),
        spans=array("spans"),
        kinds=array("kinds"),
        chunk_ids=array("chunk_ids").view("S16"),
        token_counts=TokenCounts(
            _split(array("vocabulary").tobytes(), array("word_starts").tolist()),
            array("token_starts"),
            array("terms"),
            array("counts"),
        ),
    )
