"""Traces: what a pin alone cannot say when its text is gone from its place.

A pin recognises a text but does not tell what it looked like, nor whether there were twins of it. So
beside `pins` a case keeps `traces`, by anchor:

    lines    two bytes a line in hex: enough to measure how similar another text is, no more
    twins    there if the same text stood elsewhere as well when it was pinned: four bytes for the
             text itself and for each twin in hex, two over the lines around it and two over its
             path as well; empty if there were too many
    alone    true if no twin stood in the same file
    before   [n, pin of the n lines before and the text], the least n that no twin shares
    after    [n, pin of the text and the n lines after]

A twin must never be taken for the text that was labelled, not even when only one of them is left.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from cce.domain.anchor import Anchor, LineRange
from cce.errors import FixtureError
from cce.labels.places import IsText, LineTable, Place
from cce.labels.texts import PRINT_BYTES, Lines, line_prints, pin_of_lines

MAX_LINES = 2000
"""Of longer ranges no lines are kept: they are found whole or not at all."""

_MAX_CONTEXT = 12
_MAX_TWINS = 32

Context = tuple[int, str]
"""A number of lines, and the pin over them together with the text."""


@dataclass(frozen=True, slots=True)
class Trace:
    """`lines` are line prints, None where none were kept; `twins` is None for a text without any."""

    lines: bytes | None = None
    twins: bytes | None = None
    before: Context | None = None
    after: Context | None = None
    is_alone: bool = False

    @property
    def has_twins(self) -> bool:
        """Whether the same text stood elsewhere as well."""
        return self.twins is not None

    def as_json(self) -> dict[str, object]:
        """The trace as a set keeps it; what goes without saying is left out."""
        fields: dict[str, object] = {}
        if self.lines is not None:
            fields["lines"] = self.lines.hex()
        if self.twins is not None:
            fields["twins"] = self.twins.hex()
        if self.before is not None:
            fields["before"] = list(self.before)
        if self.after is not None:
            fields["after"] = list(self.after)
        if self.is_alone:
            fields["alone"] = True
        return fields


def parse_traces(value: object) -> dict[str, Trace]:
    """The traces of one case by anchor; raises FixtureError if it is anything else."""
    if not isinstance(value, dict):
        raise FixtureError("traces must be an object of anchors, remove it and pin the set again")
    return {anchor: _parse_trace(anchor, fields) for anchor, fields in value.items()}


def _parse_trace(anchor: str, fields: Any) -> Trace:
    try:
        lines, twins = fields.get("lines"), fields.get("twins")
        return Trace(
            None if lines is None else bytes.fromhex(lines),
            None if twins is None else bytes.fromhex(twins),
            _parse_context(fields.get("before")),
            _parse_context(fields.get("after")),
            fields.get("alone") is True,
        )
    except (AttributeError, TypeError, ValueError) as exc:
        raise FixtureError(
            f"traces has no trace for {anchor!r}, remove it from traces and from pins and pin the set again"
        ) from exc


def _parse_context(value: Any) -> Context | None:
    if value is None:
        return None
    n_lines, pin = value
    if not isinstance(n_lines, int) or not isinstance(pin, str) or n_lines < 1:
        raise ValueError("no context")
    return n_lines, pin


def trace_of(table: LineTable, anchor: Anchor) -> Trace | None:
    """The trace of what `anchor` covers now; None if that is nothing, or there is nothing to say."""
    if anchor.path is None:
        return None
    if anchor.lines is None:
        return Trace(twins=b"") if _file_has_twins(table, anchor.path) else None
    lines = table.texts.lines(anchor.path) or ()
    if anchor.lines.first > len(lines):
        return None
    return _range_trace(table, anchor.path, lines, anchor.lines)


def _range_trace(table: LineTable, path: str, lines: Lines, span: LineRange) -> Trace:
    start, end = span.first - 1, min(span.last, len(lines))
    prints = line_prints(lines[start:end]) if end - start <= MAX_LINES else None
    own = Place(path, start + 1, end)
    twins = _twins(table, own)
    if not twins:
        return Trace(prints)
    n_before, n_after = min(start, _MAX_CONTEXT), min(len(lines) - end, _MAX_CONTEXT)
    return Trace(
        prints,
        twins=b"".join(surroundings(table, place) for place in [own, *twins])
        if len(twins) <= _MAX_TWINS
        else b"",
        before=_context(table, n_before, lambda n: lines[start - n : end]),
        after=_context(table, n_after, lambda n: lines[start : end + n]),
        is_alone=len(twins) <= _MAX_TWINS and all(place.path != path for place in twins),
    )


def _twins(table: LineTable, own: Place) -> list[Place]:
    """The other places of a text, or more than there may be twins."""
    text = table.lines_at(own)
    places = table.places(line_prints(text), lambda lines: lines == text)
    return list(islice((place for place in places if place != own), _MAX_TWINS + 1))


def surroundings(table: LineTable, place: Place) -> bytes:
    """Two prints: over the two lines around a place, and over its path with them.

    The ends of a file count as lines of their own kind.
    """
    lines = table.texts.lines(place.path) or ()
    before = lines[place.first - 2] if place.first > 1 else b"\0"
    after = lines[place.last] if place.last < len(lines) else b"\0"
    around = before + b"\n" + after
    return line_prints([around, place.path.encode() + b"\n" + around])


def left_over(table: LineTable, places: Sequence[Place], trace: Trace) -> list[Place]:
    """The places that are no twin's; none unless all twins are known again and one place is left over."""
    own, *twins = _cut(trace.twins or b"", 2 * PRINT_BYTES) or [b""]
    if not twins or len(places) != len(twins) + 1:
        return []
    for which in (slice(PRINT_BYTES), slice(PRINT_BYTES, None)):
        now = [surroundings(table, place)[which] for place in places]
        then = [twin[which] for twin in twins]
        strangers = list((Counter(now) - Counter(then)).elements())
        # A twin that is taken for this text must not have been able to hide behind the text itself.
        if len(strangers) == 1 and now.count(strangers[0]) == 1 and own[which] not in then:
            return [places[now.index(strangers[0])]]
    return []


def _cut(strip: bytes, width: int) -> list[bytes]:
    return [strip[start : start + width] for start in range(0, len(strip), width)]


def _context(table: LineTable, n_most: int, widened: Callable[[int], Lines]) -> Context | None:
    """The least n up to `n_most` with which the text `widened(n)` has no twin; more lines change nothing."""
    if n_most < 1 or not _is_unique(table, widened(n_most)):
        return None
    n = bisect_left(range(1, n_most), True, key=lambda n: _is_unique(table, widened(n))) + 1
    return n, pin_of_lines(widened(n))


def _is_unique(table: LineTable, text: Lines) -> bool:
    places = table.places(line_prints(text), lambda lines: lines == text)
    return len(list(islice(places, 2))) < 2


def _file_has_twins(table: LineTable, path: str) -> bool:
    """Whether another file has the same text, byte for byte."""
    pin = table.texts.pin(path, None)
    return pin is not None and len(table.files(pin)) > 1


def is_in_context(lines: Lines, place: Place, trace: Trace) -> bool:
    """Whether the text at `place`, among all `lines` of its file, has the neighbours that `trace` knows."""
    start, end = place.first - 1, place.last
    before, after = trace.before, trace.after
    return (
        before is not None
        and start >= before[0]
        and pin_of_lines(lines[start - before[0] : end]) == before[1]
    ) or (after is not None and pin_of_lines(lines[start : end + after[0]]) == after[1])


def is_pinned(pin: str) -> IsText:
    """A test for lines that are the text of `pin`."""
    return lambda lines: pin_of_lines(lines) == pin
