"""A segment: some files in their indexed form, as flat arrays.

Chunked files enter in path order. Segments are what worker processes send back and what the cache
keeps, so they can be cut at file boundaries and joined again; an index is one segment of all files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import groupby
from typing import NamedTuple, cast

from cce.domain.ranking import Chunk
from cce.retrieval.chunking.languages import CHUNK_KINDS, language_name
from cce.retrieval.counting.counter import merge_token_counts, without_unused_words
from cce.retrieval.counting.flat import (
    ByteSlices,
    Ints,
    concatenated,
    concatenated_starts,
    owners_of,
    shifted,
)
from cce.retrieval.counting.token_counts import SpannedText, TokenCounts, cut_token_counts
from cce.retrieval.indexing.chunk_table import ChunkTable
from cce.tokens import estimate_tokens

_ID_DIGITS = 16
_SPAN_FIELDS = 4

# A longer content is cut out of its file each time it is asked for. Kept, those of nested chunks fill the
# memory: of 20,000 functions in each other they have ten thousand times the bytes of the file.
_MAX_KEPT_BYTES = 4096
_CONTENT_FIELD = Chunk._fields.index("content")


class Content:
    """A chunk's content as a place in its file's text, equal to the bytes that stand there."""

    __slots__ = ("end", "start", "text", "texts")

    def __init__(self, texts: Sequence[bytes], text: int, start: int, end: int) -> None:
        """It is `texts[text][start:end]`."""
        self.texts, self.text, self.start, self.end = texts, text, start, end

    def __bytes__(self) -> bytes:
        return _cut_out(self.texts, self.text, self.start, self.end)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, bytes | Content) and bytes(self) == bytes(other)

    def __hash__(self) -> int:
        return hash(bytes(self))

    def __repr__(self) -> str:
        return repr(bytes(self))


class CutChunk(Chunk):
    """A chunk that holds no text: it is cut out whenever somebody asks for it.

    Chunks nest: the contents of twenty thousand functions in each other have ten thousand times the bytes
    of their file.
    """

    __slots__ = ()

    @property
    def content(self) -> bytes:
        """As for Chunk, made anew each time."""
        return bytes(self.place)

    @property
    def place(self) -> Content:
        """Where the content stands."""
        return cast("Content", self[_CONTENT_FIELD])


class Segment(NamedTuple):
    """The chunks of file i are `starts[i]:starts[i + 1]`; all sequences of files are equally long.

    paths         in byte order
    texts         scrubbed UTF-8
    digests       SHA-256 of each file as it was read, before scrubbing
    imports       module names, in first-seen order
    starts        q[n_files + 1]
    spans         q[4 * n_chunks]; of each start and end byte (exclusive), first and last line
    kinds         h[n_chunks]; positions in CHUNK_KINDS
    chunk_ids     16 hex digits of each chunk, one behind the other
    token_counts  of the chunks' contents
    """

    paths: Sequence[str]
    texts: Sequence[bytes]
    digests: Sequence[bytes]
    imports: Sequence[tuple[str, ...]]
    starts: Ints
    spans: Ints
    kinds: Ints
    chunk_ids: bytes
    token_counts: TokenCounts

    def chunk_table(self) -> ChunkTable:
        """The chunks, in index order."""
        file_of = owners_of(self.starts)
        chunk_ids = _split(self.chunk_ids.decode(), _ID_DIGITS)

        def chunk_at(position: int) -> Chunk:
            file = file_of[position]
            path = self.paths[file]
            first = position * _SPAN_FIELDS
            start, end, start_line, end_line = self.spans[first : first + _SPAN_FIELDS]
            chunk_type, kind = CHUNK_KINDS[self.kinds[position]]
            make: type[Chunk]
            if end - start > _MAX_KEPT_BYTES:
                make, content = CutChunk, cast("bytes", Content(self.texts, file, start, end))
            else:
                make, content = Chunk, _cut_out(self.texts, file, start, end)
            return make(
                chunk_ids[position],
                path,
                start_line,
                end_line,
                chunk_type,
                kind,
                language_name(path),
                content,
                estimate_tokens(end - start),
            )

        kinds = [CHUNK_KINDS[number][1] for number in self.kinds]
        return ChunkTable(self.paths, file_of, chunk_ids, kinds, chunk_at, self.spans[1::_SPAN_FIELDS])


def cut_segment(segment: Segment, start: int, end: int) -> Segment:
    """Files `start` (inclusive) to `end` (exclusive) of `segment`."""
    first, last = segment.starts[start], segment.starts[end]
    return Segment(
        segment.paths[start:end],
        segment.texts[start:end],
        segment.digests[start:end],
        segment.imports[start:end],
        shifted(segment.starts[start : end + 1], first),
        segment.spans[first * _SPAN_FIELDS : last * _SPAN_FIELDS],
        segment.kinds[first:last],
        segment.chunk_ids[first * _ID_DIGITS : last * _ID_DIGITS],
        cut_token_counts(segment.token_counts, first, last),
    )


def join_segments(segments: Sequence[Segment]) -> Segment:
    """All files of `segments`, in that order; at least one segment."""
    return Segment(
        tuple(path for segment in segments for path in segment.paths),
        tuple(text for segment in segments for text in segment.texts),
        tuple(digest for segment in segments for digest in segment.digests),
        tuple(names for segment in segments for names in segment.imports),
        concatenated_starts([segment.starts for segment in segments]),
        concatenated("q", [segment.spans for segment in segments]),
        concatenated("h", [segment.kinds for segment in segments]),
        b"".join(segment.chunk_ids for segment in segments),
        merge_token_counts([segment.token_counts for segment in segments]),
    )


def merge_segments(old: Segment, kept: Set[str], new: Segment) -> Segment:
    """The files of `old` that are `kept` and those of `new`, which are others, in path order."""
    sources = [(path, old, position) for position, path in enumerate(old.paths) if path in kept]
    sources += [(path, new, position) for position, path in enumerate(new.paths)]
    sources.sort(key=lambda source: source[0])
    runs: list[list[tuple[str, Segment, int]]] = []
    # Files that are neighbours in their source stay together: of a.py b.py d.py in `old` and c.py in `new`
    # become the runs (old a b) (new c) (old d), so that three parts are cut and joined, not four.
    for source in sources:
        if runs and runs[-1][-1][1] is source[1] and runs[-1][-1][2] + 1 == source[2]:
            runs[-1].append(source)
        else:
            runs.append([source])
    parts = [cut_segment(run[0][1], run[0][2], run[-1][2] + 1) for run in runs]
    merged = join_segments(parts) if parts else cut_segment(new, 0, 0)
    return merged._replace(token_counts=without_unused_words(merged.token_counts))


def spanned_texts(chunks: Iterable[Chunk]) -> Iterator[SpannedText]:
    """The contents of `chunks`, in order, as spans of texts; neighbours cut out of one text share it."""
    for place, group in groupby(chunks, _text_of):
        if isinstance(place, tuple):
            spans = [(chunk.place.start, chunk.place.end) for chunk in group if isinstance(chunk, CutChunk)]
            yield place[0][place[1]], spans
        else:
            yield from ((chunk.content, [(0, len(chunk.content))]) for chunk in group)


def _text_of(chunk: Chunk) -> tuple[Sequence[bytes], int] | None:
    return (chunk.place.texts, chunk.place.text) if isinstance(chunk, CutChunk) else None


def _cut_out(texts: Sequence[bytes], text: int, start: int, end: int) -> bytes:
    if isinstance(texts, ByteSlices):
        return texts.cut(text, start, end)
    return texts[text][start:end]


def _split(text: str, width: int) -> list[str]:
    return [text[start : start + width] for start in range(0, len(text), width)]
