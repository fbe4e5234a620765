"""Pinning: every anchor that covers text gets a pin, and beside it a trace.

A set and its corpus enter; the revision of the set leaves, with what could not be pinned. A pin that
is there is never overwritten unasked: that it is stale is what it was made to say.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from cce.domain.anchor import Anchor
from cce.domain.case import Case, FixtureSet
from cce.errors import UsageError
from cce.labels.edits import encode, update_members
from cce.labels.revision import Revision
from cce.labels.tracking.pins import current_pin, distinct, is_current
from cce.labels.tracking.places import LineTable
from cce.labels.tracking.traces import trace_of
from cce.quoting import on_one_line, quoted


@dataclass(frozen=True, slots=True)
class Pinning:
    """What pinning did: counts of pins, and one line for each anchor that was left as it is."""

    n_added: int
    n_renewed: int
    n_removed: int
    left: tuple[str, ...]


def pin_set(
    fixtures: FixtureSet,
    revision: Revision,
    table: LineTable,
    *,
    is_renewal: bool = False,
    only_ids: Collection[str] = (),
) -> Pinning:
    """Put pins into `revision`, the file that `fixtures` was read from.

    is_renewal  stale pins are renewed as well: the label was looked at and holds for the new text
    only_ids    the cases to pin, all if empty; raises UsageError for an id that no case has
    """
    require_ids(fixtures.path, (case.id for case in fixtures.cases), only_ids)
    pinner = _Pinner(fixtures.path, table, is_renewal)
    for case in fixtures.cases:
        if not only_ids or case.id in only_ids:
            revision.replace(case.line, pinner.pinned_line(case, revision.line(case.line)))
    return Pinning(pinner.n_added, pinner.n_renewed, pinner.n_removed, tuple(pinner.left))


def require_ids(path: str, known: Iterable[str], wanted: Iterable[str]) -> None:
    """Raise UsageError, with the nearest `known` one, for the first `wanted` id that no case has."""
    ids = dict.fromkeys(known)
    for each in wanted:
        if each not in ids:
            nearest = difflib.get_close_matches(each, ids, n=1)
            hint = f"; did you mean {quoted(nearest[0])}?" if nearest else ""
            raise UsageError(f"{on_one_line(path)}: no case has the id {quoted(each)}{hint}")


class _Pinner:
    def __init__(self, path: str, table: LineTable, is_renewal: bool) -> None:
        self._place = on_one_line(path)
        self._table = table
        self._is_renewal = is_renewal
        self.n_added = self.n_renewed = self.n_removed = 0
        self.left: list[str] = []

    def pinned_line(self, case: Case, line: bytes) -> bytes:
        """The line of `case` with its pins and traces."""
        expected = {anchor.text for anchor in case.anchors}
        # The pin of an anchor that was since rewritten by hand says nothing any more.
        pins: dict[str, bytes | None] = dict.fromkeys(case.pins.keys() - expected)
        self.n_removed += len(pins)
        traces = pins.copy()
        for anchor in distinct(case.anchors):
            pin = self._new_pin(case, anchor)
            if pin is not None:
                trace = trace_of(self._table, anchor)
                pins[anchor.text] = encode(pin)
                traces[anchor.text] = None if trace is None else encode(trace.as_json(), line)
        return update_members(line, {"pins": pins, "traces": traces})

    def _new_pin(self, case: Case, anchor: Anchor) -> str | None:
        """The pin to write for `anchor`, None to leave it as it is."""
        if anchor.path is None:
            return None
        now, then = current_pin(self._table.texts, anchor), case.pins.get(anchor.text)
        if now is None:
            self._leave(case, anchor, "covers no text of this corpus, see cce fixtures lint")
        elif now == then:
            return None
        elif then is None:
            self.n_added += 1
            return now
        elif self._is_renewal:  # a pin that holds, but is written as pins once were, as well
            self.n_renewed += 1
            return now
        elif not is_current(self._table.texts, anchor, then):
            self._leave(case, anchor, "is stale and keeps its pin, see cce fixtures reanchor, or --renew it")
        return None

    def _leave(self, case: Case, anchor: Anchor, reason: str) -> None:
        self.left.append(f"{self._place}:{case.line}: {quoted(anchor.text)} {reason}")
