"""Traces: what is needed beside a pin to find a text that left its place.

A pin recognises a text, but holds neither its lines nor its neighbours nor its twins (other places with
the same text). So a case keeps `traces` beside `pins`, by anchor:

    lines     two bytes per line in hex: enough to measure the similarity of another text
    near      the lines before the text and the lines after it, nearest first: as many as distinguish it
              from its twins
    file      the number of lines of its file; only if the text has twins
    twins     the twins: the print of the path and the number of lines of each file, and the first
              difference on each side; only if there are any
    between   true if there were more than MAX_TWINS: then only twins between the same two lines count;
              an empty `twins` means that even these were too many
    name      the qualified name of the chunk that the text is or lies in, outermost segment first
    kind      the kind of that chunk
    whole     whether the text is all of it
    same      how many chunks of that kind and name the file had
    head      true if the text begins with the decorators, attributes or comments above the chunk
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from cce.domain.anchor import Anchor, LineRange
from cce.errors import FixtureError
from cce.labels.tracking.chunks import ChunkName
from cce.labels.tracking.places import IsText, LineTable, TextPlace
from cce.labels.tracking.surroundings import Sides, Twin, decoded_twin, sides_of, stands_between, twin_at
from cce.labels.tracking.texts import PRINT_BYTES, Lines, line_prints, pin_of_lines

MAX_LINES = 2000
"""Longer ranges keep no lines, which would be over 8,000 hex digits: they are found only if unchanged."""

MAX_TWINS = 32
_MIN_NEAR = 2  # lines kept on each side, even where fewer distinguish the text


@dataclass(frozen=True, slots=True)
class Trace:
    """`lines` are line prints, None if they were not kept; `twins` is None for a text without twins."""

    lines: bytes | None = None
    near: Sides = (b"", b"")
    n_lines_of_file: int = 0
    twins: tuple[Twin, ...] | None = None
    is_between: bool = False
    name: ChunkName | None = None

    def as_json(self) -> dict[str, object]:
        """The trace as a set keeps it; default values are left out."""
        fields: dict[str, object] = {}
        if self.lines is not None:
            fields["lines"] = self.lines.hex()
        if any(self.near):
            fields["near"] = [side.hex() for side in self.near]
        if self.n_lines_of_file:
            fields["file"] = self.n_lines_of_file
        if self.twins is not None:
            fields["twins"] = [twin.encoded() for twin in self.twins]
        if self.is_between:
            fields["between"] = True
        if self.name is not None:
            fields |= _name_fields(self.name)
        return fields


def parse_traces(value: object) -> dict[str, Trace]:
    """The traces of one case by anchor; raises FixtureError if `value` is malformed."""
    if not isinstance(value, dict):
        raise FixtureError("traces must be an object of anchors, remove it and pin the set again")
    return {anchor: _parse_trace(anchor, fields) for anchor, fields in value.items()}


def _parse_trace(anchor: str, fields: Any) -> Trace:
    try:
        lines, twins = fields.get("lines"), fields.get("twins")
        before, after = fields.get("near", ("", ""))
        return Trace(
            None if lines is None else bytes.fromhex(lines),
            (bytes.fromhex(before), bytes.fromhex(after)),
            int(fields.get("file", 0)),
            None if twins is None else tuple(map(decoded_twin, twins)),
            fields.get("between") is True,
            _parse_name(fields),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise FixtureError(
            f"traces has no trace for {anchor!r}, remove it from traces and from pins and pin the set again"
        ) from exc


def _name_fields(name: ChunkName) -> dict[str, object]:
    fields: dict[str, object] = {
        "name": list(name.segments),
        "kind": name.kind,
        "whole": name.is_whole,
        "same": name.same,
    }
    return {**fields, "head": True} if name.has_head else fields


def _parse_name(fields: Any) -> ChunkName | None:
    """The name in a trace; None in traces of older versions, and of texts in no chunk with a name."""
    segments = fields.get("name")
    if segments is None:
        return None
    if not segments or not isinstance(segments, list) or not all(isinstance(each, str) for each in segments):
        raise ValueError
    same, has_head = int(fields["same"]), fields.get("head") is True
    return ChunkName(tuple(segments), str(fields["kind"]), fields["whole"] is True, same, has_head)


def trace_of(table: LineTable, anchor: Anchor) -> Trace | None:
    """The trace of the text that `anchor` covers now; None if it covers none or needs no trace."""
    if anchor.path is None:
        return None
    if anchor.lines is None:
        return Trace(twins=()) if _file_has_twins(table, anchor.path) else None
    lines = table.texts.lines(anchor.path) or ()
    if anchor.lines.first > len(lines):
        return None
    name = table.chunks.name_at(
        anchor.path, LineRange(anchor.lines.first, min(anchor.lines.last, len(lines)))
    )
    return replace(_range_trace(table, anchor.path, lines, anchor.lines), name=name)


def _range_trace(table: LineTable, path: str, lines: Lines, span: LineRange) -> Trace:
    place = TextPlace(path, span.first, min(span.last, len(lines)))
    text = table.lines_at(place)
    prints = line_prints(text) if len(text) <= MAX_LINES else None
    sides, others = sides_of(table, place), _others(table, place)
    twins = list(islice(others, MAX_TWINS + 1))
    is_between = len(twins) > MAX_TWINS
    if is_between:
        alike = (other for other in chain(twins, others) if stands_between(table, other, sides))
        twins = list(islice(alike, MAX_TWINS + 1))
    if not twins and not is_between:
        return Trace(prints, _shortened(sides, 0, 0))
    if len(twins) > MAX_TWINS:
        return Trace(prints, twins=(), is_between=True)
    partings = [twin_at(table, twin, sides) for twin in twins]
    before = max((twin.before.depth for twin in partings), default=0)
    after = max((twin.after.depth for twin in partings), default=0)
    return Trace(prints, _shortened(sides, before, after), len(lines), tuple(partings), is_between)


def _shortened(sides: Sides, n_before: int, n_after: int) -> Sides:
    """The nearest lines of both sides: at least _MIN_NEAR each."""
    n_bytes = [max(_MIN_NEAR, n) * PRINT_BYTES for n in (n_before, n_after)]
    return sides[0][: n_bytes[0]], sides[1][: n_bytes[1]]


def _others(table: LineTable, own: TextPlace) -> Iterator[TextPlace]:
    """The other places of a text."""
    text = table.lines_at(own)
    places = table.places(line_prints(text), lambda lines: lines == text)
    return (place for place in places if place != own)


def _file_has_twins(table: LineTable, path: str) -> bool:
    """Whether another file has the same text."""
    pin = table.texts.pin(path, None)
    return pin is not None and len(table.files(pin)) > 1


def is_pinned(pin: str) -> IsText:
    """A predicate: whether lines are the text of `pin`."""
    return lambda lines: pin_of_lines(lines) == pin
