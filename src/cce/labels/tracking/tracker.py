"""Tracking: where the text of a stale pin is now.

An anchor, its pin and its trace enter; the whereabouts of its text leave. A text counts as the pinned
one only if it is equal and cannot be a twin: the rule is in `recognition`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from cce.domain.anchor import Anchor, LineRange, parse_anchor
from cce.errors import AnchorError
from cce.labels.tracking.chunks import ChunkName, NamedPlace, span_of
from cce.labels.tracking.places import LineTable, TextPlace
from cce.labels.tracking.recognition import only, recognised
from cce.labels.tracking.similarity import Likenesses
from cce.labels.tracking.successors import Successor, is_whole_chunk, snapped, successors
from cce.labels.tracking.traces import Trace, is_pinned
from cce.quoting import quoted

_N_SHOWN = 3


class TextFate(Enum):
    """What became of a pinned text."""

    MOVED = "moved"
    CHANGED = "changed"
    AMBIGUOUS = "ambiguous"
    VANISHED = "vanished"


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where a text is now.

    anchor      MOVED: the anchor of its new place, None if no anchor can name that file
                CHANGED: the anchor of the most similar text, with its `ratio`; None if there is none
    candidates  AMBIGUOUS: the anchors of the first few of `n_places` possible places
    is_edited   AMBIGUOUS: the places have the name of the text, but not the text
    is_listed_only  CHANGED: what is there has the name and is of another kind, so it is never written
    """

    fate: TextFate
    anchor: str | None = None
    ratio: float | None = None
    candidates: tuple[str, ...] = ()
    n_places: int = 0
    is_edited: bool = False
    is_listed_only: bool = False

    def __str__(self) -> str:
        """The predicate of a message whose subject is the anchor."""
        match self.fate:
            case TextFate.MOVED if self.anchor is None:
                return "its text moved to a file that no anchor can name"
            case TextFate.MOVED:
                return f"its text moved to {quoted(self.anchor or '')}"
            case TextFate.AMBIGUOUS if self.is_edited:
                return f"its text changed, and {self._doubt()}"
            case TextFate.AMBIGUOUS:
                return f"its text is gone, and {self._doubt()}"
            case TextFate.CHANGED if self.is_listed_only:
                return f"its text changed, {quoted(self.anchor or '')} has its name but is of another kind"
            case TextFate.CHANGED if self.anchor is not None:
                return f"its text changed, {quoted(self.anchor)} is similar ({self.ratio:.2f})"
            case TextFate.CHANGED:
                return "its text changed"
        return "its text vanished"

    def _doubt(self) -> str:
        shown = ", ".join(map(quoted, self.candidates)) + (
            ", …" if self.n_places > len(self.candidates) else ""
        )
        if self.is_edited:
            return f"{self.n_places} places have its name ({shown}), choose one by hand"
        if self.n_places == 1:
            return f"the same text at {shown} may be a twin of it, decide by hand"
        return f"the same text in {self.n_places} places cannot be told apart ({shown}), choose one by hand"


class Tracker:
    """Finds pinned texts in the corpus as it is now."""

    def __init__(self, table: LineTable) -> None:
        """Reads nothing before the first search."""
        self._table = table
        self._likenesses = Likenesses(table)
        self._found: dict[tuple[str, str, Trace | None], Whereabouts] = {}

    def whereabouts(self, anchor: Anchor, pin: str, trace: Trace | None) -> Whereabouts:
        """Where the text of `pin`, which `anchor` no longer covers, is now."""
        key = (anchor.text, pin, trace)
        if key not in self._found:
            self._found[key] = (
                self._file_whereabouts(anchor, pin, trace)
                if anchor.lines is None
                else self._range_whereabouts(anchor, anchor.lines, pin, trace)
            )
        return self._found[key]

    def _file_whereabouts(self, anchor: Anchor, pin: str, trace: Trace | None) -> Whereabouts:
        if self._table.texts.lines(anchor.path or "") is not None:
            return Whereabouts(TextFate.CHANGED)
        paths = self._table.files(pin)
        if len(paths) == 1 and (trace is None or trace.twins is None):
            return _moved(anchor, paths[0], None)
        return _in_doubt(anchor, [(path, None) for path in paths])

    def _range_whereabouts(
        self, anchor: Anchor, span: LineRange, pin: str, trace: Trace | None
    ) -> Whereabouts:
        own_path, prints = anchor.path or "", trace.lines if trace else None
        if trace is not None and trace.name is not None:
            return self._named_whereabouts(anchor, pin, trace, trace.name)
        if prints:
            places = list(self._table.places(prints, is_pinned(pin)))
        else:
            places = self._table.places_of_pin(pin, span.last - span.first + 1, own_path)
        chosen = only(places) if trace is None else recognised(self._table, places, own_path, trace)
        if chosen is not None:
            return _moved(anchor, chosen.path, LineRange(chosen.first, chosen.last))
        if places:
            return _in_doubt(anchor, [(place.path, LineRange(place.first, place.last)) for place in places])
        return self._most_similar(anchor, prints)

    def _named_whereabouts(self, anchor: Anchor, pin: str, trace: Trace, name: ChunkName) -> Whereabouts:
        """By the rules for texts whose chunk has a name: an equal text must have that name too."""
        own_path = anchor.path or ""
        places = list(self._table.places(trace.lines, is_pinned(pin))) if trace.lines else []
        named = self._table.chunks.named(own_path, name)
        within = [place for place in places if place.path == own_path and _is_within(place, named, name)]
        is_sole = len(named) == 1 and name.same == 1 and (name.is_whole or trace.twins is None)
        chosen = within[0] if is_sole and len(within) == 1 else None
        if chosen is None and places:
            chosen = recognised(self._table, places, own_path, trace)
            if chosen is not None and not self._may_be(chosen, within, named, name):
                chosen = None
        if chosen is not None:
            return _moved(anchor, chosen.path, LineRange(chosen.first, chosen.last))
        if within:
            return _in_doubt(anchor, [(place.path, LineRange(place.first, place.last)) for place in within])
        return self._edited(anchor, trace, name)

    def _may_be(
        self, place: TextPlace, within: Sequence[TextPlace], named: Sequence[NamedPlace], name: ChunkName
    ) -> bool:
        """Whether an equal text may be the labelled one: not while its name stands elsewhere in its file."""
        if named:
            return place in within
        return not name.is_whole or is_whole_chunk(self._table, place, name)

    def _edited(self, anchor: Anchor, trace: Trace, name: ChunkName) -> Whereabouts:
        found = successors(self._table, anchor.path or "", name, trace.lines)
        if len(found) > 1:
            texts = [_spelled(anchor, successor) for successor in found]
            shown = tuple(text for text in texts if text is not None)[:_N_SHOWN]
            return Whereabouts(TextFate.AMBIGUOUS, candidates=shown, n_places=len(found), is_edited=True)
        if found:
            text, (_, ratio, is_listed_only) = _spelled(anchor, found[0]), found[0]
            return Whereabouts(TextFate.CHANGED, text, ratio, is_listed_only=is_listed_only)
        best = self._likenesses.best(trace.lines, anchor.path or "") if trace.lines else None
        if best is None:
            return Whereabouts(TextFate.VANISHED)
        place = snapped(self._table, best.place, name) if name.is_whole else best.place
        return Whereabouts(TextFate.CHANGED, _spelled(anchor, Successor(place, best.ratio)), best.ratio)

    def _most_similar(self, anchor: Anchor, prints: bytes | None) -> Whereabouts:
        path = anchor.path or ""
        likeness = self._likenesses.best(prints, path) if prints else None
        if likeness is not None:
            place = likeness.place
            text = respelled(anchor, place.path, LineRange(place.first, place.last))
            return Whereabouts(TextFate.CHANGED, text, likeness.ratio)
        is_there = prints is None and self._table.texts.pin(path, anchor.lines) is not None
        return Whereabouts(TextFate.CHANGED if is_there else TextFate.VANISHED)


def _is_within(place: TextPlace, named: Sequence[NamedPlace], name: ChunkName) -> bool:
    """Whether a place is one of these chunks, or for a text that was only a part lies in one."""
    if name.is_whole:
        return any(span_of(chunk, name) == (place.first, place.last) for chunk in named)
    return any(chunk.start_line <= place.first and place.last <= chunk.end_line for chunk in named)


def _spelled(anchor: Anchor, successor: Successor) -> str | None:
    place = successor.place
    return respelled(anchor, place.path, LineRange(place.first, place.last))


def _moved(anchor: Anchor, path: str, span: LineRange | None) -> Whereabouts:
    return Whereabouts(TextFate.MOVED, respelled(anchor, path, span))


def _in_doubt(anchor: Anchor, places: Sequence[tuple[str, LineRange | None]]) -> Whereabouts:
    if not places:
        return Whereabouts(TextFate.VANISHED)
    shown = tuple(respelled(anchor, path, span) or path for path, span in places[:_N_SHOWN])
    return Whereabouts(TextFate.AMBIGUOUS, candidates=shown, n_places=len(places))


def respelled(anchor: Anchor, path: str, span: LineRange | None) -> str | None:
    """The text of an anchor like `anchor` for another place; None if no anchor can name that path."""
    if path != anchor.path:
        body = path if anchor.kind is None else f"{path}#{anchor.kind}"
    else:
        body = anchor.text if anchor.lines is None else anchor.text.rpartition("@")[0]
    text = body if span is None else f"{body}@{span.first}-{span.last}"
    try:
        parsed = parse_anchor(text)
    except AnchorError:
        return None
    return text if (parsed.path, parsed.kind, parsed.lines) == (path, anchor.kind, span) else None
