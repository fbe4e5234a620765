"""Snapshots: a segment as one file of flat sequences, to be mapped into memory and used as it is.

    magic | length of the corpus | length of the head | corpus | head (JSON) | sequences | digest

Each sequence starts on a multiple of 64 bytes. The corpus is the directory it was made of, so that a list of
snapshots can name them without reading heads, which hold all paths.

The digest covers all before it, and the head names the pipeline that made the sequences. A file that is
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
from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from cce.retrieval.counting.flat import ByteSlices, Ints, starts_of
from cce.retrieval.counting.token_counts import TokenCounts
from cce.retrieval.indexing.segment import Segment

_MAGIC = b"cce segment 4\n"
_LENGTHS = struct.Struct("<QQ")
_MAX_CORPUS_BYTES = 1 << 15
# A mapped sequence can be read as numbers of eight bytes only where it starts at a multiple of eight. 64 is a
# line of the processor's cache, so no sequence shares one with its neighbour.
_ALIGNMENT = 64
_DIGEST_BYTES = 32

Bytes = bytes | memoryview


class Snapshot(NamedTuple):
    """What a file held, and the digest that it ends in, which tells it from every other."""

    segment: Segment
    digest: str


def encode_snapshot(segment: Segment, corpus: str, fingerprint: str) -> Iterator[Bytes]:
    """The pieces of the file of the directory `corpus`, the last of which is its digest.

    `fingerprint` names everything besides the files that decided their form.
    """
    parts = _parts_of(segment)
    head = {
        "fingerprint": fingerprint,
        "imports": segment.imports,
        "paths": segment.paths,
        "parts": _layout(parts),
    }
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for piece in _pieces(os.fsencode(corpus), text, list(parts.values())):
        digest.update(piece)
        yield piece
    yield digest.digest()


def read_snapshot(path: str, fingerprint: str) -> Snapshot | None:
    """What was written with the same fingerprint; None if there is no sound file."""
    try:
        buffer = _map(path)
        if buffer is None or not _is_sound(buffer):
            return None
        segment = _decode(buffer, fingerprint)
        return None if segment is None else Snapshot(segment, buffer[-_DIGEST_BYTES:].hex())
    # Whatever a digest does not catch: a head of other shape, parts that end behind the file.
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError, struct.error):
        return None


def read_corpus(path: str) -> str | None:
    """The directory that the snapshot was made of, as the file says; None if it is none of this version."""
    try:
        with open(path, "rb") as file:
            start = file.read(len(_MAGIC) + _LENGTHS.size)
            n_bytes, _ = _LENGTHS.unpack_from(start, len(_MAGIC))
            if not start.startswith(_MAGIC) or n_bytes > _MAX_CORPUS_BYTES:
                return None
            return os.fsdecode(file.read(n_bytes))
    except (OSError, struct.error):
        return None


def _parts_of(segment: Segment) -> dict[str, memoryview]:
    counts = segment.token_counts
    parts: dict[str, bytes | Ints] = {
        "texts": b"".join(segment.texts),
        "text_starts": starts_of(map(len, segment.texts)),
        "digests": b"".join(segment.digests),
        "starts": segment.starts,
        "spans": segment.spans,
        "kinds": segment.kinds,
        "chunk_ids": segment.chunk_ids,
        "vocabulary": b"".join(counts.vocabulary),
        "word_starts": starts_of(map(len, counts.vocabulary)),
        "token_starts": counts.starts,
        "terms": counts.terms,
        "counts": counts.counts,
        "reaches": counts.reaches,
    }
    return {name: memoryview(part) for name, part in parts.items()}


def _split(text: bytes, starts: Sequence[int]) -> list[bytes]:
    return [text[start:end] for start, end in pairwise(starts)]


def _layout(parts: dict[str, memoryview]) -> dict[str, list[Any]]:
    """Per part the type code of its items, its size in bytes and where it starts behind the head."""
    layout: dict[str, list[Any]] = {}
    offset = 0
    for name, part in parts.items():
        layout[name] = [part.format, part.nbytes, offset]
        offset += part.nbytes + -part.nbytes % _ALIGNMENT  # 100 bytes and 28 of padding make 128
    return layout


def _pieces(corpus: bytes, head: bytes, parts: Sequence[memoryview]) -> Iterator[Bytes]:
    start = _MAGIC + _LENGTHS.pack(len(corpus), len(head)) + corpus + head
    yield start + bytes(-len(start) % _ALIGNMENT)
    for part in parts:
        yield part.cast("B") if part.nbytes else b""
        yield bytes(-part.nbytes % _ALIGNMENT)


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
    corpus_bytes, head_bytes = _LENGTHS.unpack_from(buffer, len(_MAGIC))
    head_start = len(_MAGIC) + _LENGTHS.size + corpus_bytes
    head = json.loads(bytes(buffer[head_start : head_start + head_bytes]))
    if head["fingerprint"] != fingerprint:
        return None
    first = head_start + head_bytes
    first += -first % _ALIGNMENT

    def part(name: str) -> memoryview[int]:
        typecode, n_bytes, offset = head["parts"][name]
        piece = buffer[first + offset : first + offset + n_bytes]
        if len(piece) != n_bytes:
            raise ValueError(f"{name} ends behind the file")
        return piece.cast(typecode) if n_bytes else memoryview(array(typecode))

    digests = part("digests").tobytes()
    n_files = len(head["paths"])
    return Segment(
        paths=tuple(head["paths"]),
        texts=ByteSlices(part("texts"), part("text_starts")),
        digests=[digests[start : start + 32] for start in range(0, 32 * n_files, 32)],
        imports=[tuple(names) for names in head["imports"]],
        starts=part("starts"),
        spans=part("spans"),
        kinds=part("kinds"),
        chunk_ids=part("chunk_ids").tobytes(),
        token_counts=TokenCounts(
            _split(part("vocabulary").tobytes(), part("word_starts")),
            part("token_starts"),
            part("terms"),
            part("counts"),
            part("reaches"),
        ),
    )
