"""Edited texts: whether a label may follow a text that changed, and what a person sees before saying so.

A stale anchor and its whereabouts enter; the anchor to write leaves, or None to leave the label as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import SequenceMatcher
from typing import NamedTuple

from cce.domain.anchor import Anchor, parse_anchor
from cce.domain.case import Case
from cce.labels.tracking.places import LineTable
from cce.labels.tracking.texts import PRINT_BYTES, line_prints
from cce.labels.tracking.tracker import TextFate, Whereabouts


class Row(NamedTuple):
    """One line of the labelled text beside one of the text now; None where a side has no such line.

    `old` is known where it is still the same; b"" with `is_lost` stands for a line of which only a print
    was kept.
    """

    old: bytes | None
    new: bytes | None
    is_lost: bool = False


class Edit(NamedTuple):
    """A label whose text was edited: `prints` are the line prints of the labelled text, if they were kept."""

    case: Case
    anchor: Anchor
    whereabouts: Whereabouts
    prints: bytes | None
    table: LineTable

    @property
    def choices(self) -> tuple[str, ...]:
        """The anchors that may be written, the likeliest first."""
        found = self.whereabouts
        if found.is_listed_only:
            return ()
        return found.candidates or (() if found.anchor is None else (found.anchor,))

    def rows(self, choice: str) -> list[Row]:
        """The labelled text and the text at `choice`, side by side."""
        place = parse_anchor(choice)
        lines = self.table.texts.lines(place.path or "") or ()
        if place.lines is not None:
            lines = lines[place.lines.first - 1 : place.lines.last]
        prints = self.prints or b""
        old = [prints[at : at + PRINT_BYTES] for at in range(0, len(prints), PRINT_BYTES)]
        new = [line_prints([line]) for line in lines]
        rows: list[Row] = []
        for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag == "equal":
                rows += [Row(line, line) for line in lines[c:d]]
                continue
            lost = [Row(b"", None, is_lost=True)] * (b - a)
            fresh = [Row(None, line) for line in lines[c:d]]
            n = min(len(lost), len(fresh))
            rows += [Row(b"", each.new, is_lost=True) for each in fresh[:n]] + lost[n:] + fresh[n:]
        return rows


Accepts = Callable[[Edit], str | None]
"""Which anchor to write for a text that was edited; None leaves the label as it is."""


def never(_edit: Edit) -> str | None:
    """Nothing edited is written."""
    return None


def at_least(ratio: float) -> Accepts:
    """What is at least this similar to the labelled text is written."""

    def accepts(edit: Edit) -> str | None:
        found = edit.whereabouts
        is_similar = found.fate is TextFate.CHANGED and found.ratio is not None and found.ratio >= ratio
        return found.anchor if is_similar and not found.is_listed_only else None

    return accepts
