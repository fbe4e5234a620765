"""Successors: where a text that was edited stands now, by the name of the chunk that it was or lay in.

A trace with a name enters; the places that may be its successor leave, with their likeness. The order of
the rules: the same kind and name in the file, the same name of another kind there, the same kind and name
in one other file if the old one is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cce.domain.anchor import LineRange
from cce.labels.tracking.chunks import ChunkName, NamedPlace, span_of
from cce.labels.tracking.places import LineTable, TextPlace
from cce.labels.tracking.similarity import closest_lines, likeness
from cce.labels.tracking.texts import PRINT_BYTES, line_prints

LEAD = 0.2
"""By how much the best ratio must lead, where several chunks have the name."""


class Successor(NamedTuple):
    """A place and its ratio to the labelled text.

    is_listed_only  it has the name but is of another kind: a person must look at it
    """

    place: TextPlace
    ratio: float
    is_listed_only: bool = False


def successors(table: LineTable, own_path: str, name: ChunkName, prints: bytes | None) -> list[Successor]:
    """The places where the text of `name` may stand now; a single one is the successor.

    `prints` are the line prints of the labelled text, None if they were not kept.
    """
    here = table.chunks.named(own_path, name)
    if here:
        return _decided(table, name, prints, [(own_path, chunk) for chunk in here])
    others = table.chunks.namesakes(own_path, name)
    if others:
        decided = _decided(table, name, prints, [(own_path, chunk) for chunk in others])
        return [found._replace(is_listed_only=True) for found in decided]
    if table.texts.lines(own_path) is not None:
        return []
    elsewhere = table.chunks.elsewhere(own_path, name)
    return _decided(table, name, prints, elsewhere) if len(elsewhere) == 1 else []


def snapped(table: LineTable, found: TextPlace, name: ChunkName) -> TextPlace:
    """The chunk that holds most of `found`, a place of a text that was a whole chunk; else `found`."""
    best, most = found, 0
    for chunk in table.chunks.chunks(found.path):
        span = span_of(chunk, name)
        n_shared = min(span.last, found.last) - max(span.first, found.first) + 1
        # Of chunks that hold it all the smallest: tree order gives the inner ones last.
        if chunk.kind == name.kind and n_shared > 0 and n_shared >= most:
            best, most = TextPlace(found.path, *span), n_shared
    return best


def _decided(
    table: LineTable, name: ChunkName, prints: bytes | None, chunks: Sequence[tuple[str, NamedPlace]]
) -> list[Successor]:
    """One successor where the parameter list or the likeness decides, else all."""
    found = [_successor(table, path, chunk, name, prints) for path, chunk in chunks]
    if len(found) == 1:
        return found
    signed = [
        successor
        for successor, (path, chunk) in zip(found, chunks, strict=True)
        if prints and _has_signature(prints, _signature(table, path, chunk))
    ]
    if len(signed) == 1:
        return signed
    ranked = sorted(signed or found, key=lambda successor: -successor.ratio)
    return ranked[:1] if ranked[0].ratio >= ranked[1].ratio + LEAD else found


def _signature(table: LineTable, path: str, chunk: NamedPlace) -> bytes:
    return line_prints(table.lines_at(TextPlace(path, chunk.start_line, chunk.signature_end)))


def _has_signature(prints: bytes, signature: bytes) -> bool:
    """Whether a text has these lines; prints are compared at whole lines only."""
    width = len(signature)
    starts = range(0, len(prints) - width + 1, PRINT_BYTES)
    return any(prints[start : start + width] == signature for start in starts)


def _successor(
    table: LineTable, path: str, chunk: NamedPlace, name: ChunkName, prints: bytes | None
) -> Successor:
    whole = TextPlace(path, *span_of(chunk, name))
    new = line_prints(table.lines_at(whole))
    if not prints:
        return Successor(whole, 0.0)
    if name.is_whole:
        return Successor(whole, likeness(prints, new))
    closest = closest_lines(prints, new)
    if closest is None:
        return Successor(whole, likeness(prints, new))
    ratio, start, end = closest
    return Successor(TextPlace(path, whole.first + start, whole.first + end - 1), ratio)


def is_whole_chunk(table: LineTable, place: TextPlace, name: ChunkName) -> bool:
    """Whether `place` is all of a chunk of this kind whose name ends as `name` does."""
    chunk = table.chunks.whole_at(place.path, LineRange(place.first, place.last))
    return chunk is not None and chunk.kind == name.kind and chunk.last == name.segments[-1]
