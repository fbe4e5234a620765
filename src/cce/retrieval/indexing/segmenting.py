"""Chunked files in, their segment out."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain

from cce.retrieval.chunking.languages import CHUNK_KINDS
from cce.retrieval.chunking.treesitter import ID_BYTES, ChunkedFile, chunk_id
from cce.retrieval.counting.counter import count_span_tokens
from cce.retrieval.counting.flat import starts_of
from cce.retrieval.counting.token_counts import TokenCounter
from cce.retrieval.indexing.segment import Segment

_KIND_NUMBERS = {kind: number for number, kind in enumerate(CHUNK_KINDS)}


def build_segment(
    files: Sequence[ChunkedFile], digests: Sequence[bytes], count_tokens: TokenCounter = count_span_tokens
) -> Segment:
    """The segment of `files`, which come in path order, each read as bytes of the given digest."""
    spans = [span for file in files for span in file.spans]
    identities = [
        chunk_id(
            file.path,
            span.start_line,
            span.end_line,
            file.text[span.start : min(span.end, span.start + ID_BYTES)],
        )
        for file in files
        for span in file.spans
    ]
    return Segment(
        tuple(file.path for file in files),
        tuple(file.text for file in files),
        tuple(digests),
        tuple(file.imports for file in files),
        starts_of(len(file.spans) for file in files),
        array("q", list(chain.from_iterable((s.start, s.end, s.start_line, s.end_line) for s in spans))),
        array("h", [_KIND_NUMBERS[span.chunk_type, span.kind] for span in spans]),
        "".join(identities).encode(),
        count_tokens([(file.text, [(span.start, span.end) for span in file.spans]) for file in files]),
    )
