"""The chunk list of a corpus as JSON, for comparing implementations of the same pipeline."""

from __future__ import annotations

from collections.abc import Iterable

from cce.domain.chunk import Chunk
from cce.json_text import dump_json

SPEC_VERSION = "2.0"


def render_conformance(chunks: Iterable[Chunk]) -> str:
    """Two-space indented JSON with one final newline; chunks by path, start line and id."""
    ordered = sorted(chunks, key=lambda chunk: (chunk.file_path, chunk.start_line, chunk.chunk_id))
    conformance = {
        "spec_version": SPEC_VERSION,
        "impl_language": "python",
        "chunks": [_chunk_record(chunk) for chunk in ordered],
    }
    return dump_json(conformance, sort_keys=False)


def _chunk_record(chunk: Chunk) -> dict[str, str | int]:
    return {
        "file_path": chunk.file_path,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "chunk_type": chunk.chunk_type,
        "kind": chunk.kind,
        "chunk_id": chunk.chunk_id,
        "token_count": chunk.token_count,
    }
