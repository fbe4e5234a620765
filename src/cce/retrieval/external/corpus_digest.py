"""Which corpus a run was made on, in 16 hex digits."""

from __future__ import annotations

import hashlib

from cce.retrieval.indexing.index import Index

_N_DIGITS = 16


def corpus_digest(index: Index) -> str:
    """The first 16 hex digits of a SHA-256 over all paths, sorted, each with a digest of its content.

    A directory and a store of it have the same digest, so a file counts with its chunks and with the size of
    its text, which both know, and not with bytes that a store does not keep.
    """
    whole = hashlib.sha256()
    for path in sorted(index.positions_by_file):
        name = path.encode("utf-8", "surrogatepass")
        whole.update(b"%d:%s%s" % (len(name), name, _content_digest(index, path)))
    return whole.hexdigest()[:_N_DIGITS]


def _content_digest(index: Index, path: str) -> bytes:
    content = hashlib.sha256(b"%d" % index.file_tokens.get(path, 0))
    for chunk in index.outer_chunks_of(path):
        content.update(b"\n%d:%d:" % (chunk.start_line, len(chunk.content)))
        content.update(chunk.content)
    return content.digest()
