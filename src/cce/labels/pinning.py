"""Pinning: every anchor that covers text gets a pin and a trace.

A set and its corpus enter; the revised set leaves, with the anchors that could not be pinned. Existing
pins are overwritten only on request, because a stale pin is a warning.
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
    """What pinning did: counts of pins, and one line per anchor that was left as it is."""

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

    is_renewal  renew stale pins too: somebody checked that the labels hold for the new text
    only_ids    the cases to pin, all if empty; raises UsageError for an unknown id
    """
    require_ids(fixtures.path, (case.id for case in fixtures.cases), only_ids)
    pinner = _Pinner(fixtures.path, table, is_renewal)
    for case in fixtures.cases:
        if not only_ids or case.id in only_ids:
            revision.replace(case.line, pinner.pinned_line(case, revision.line(case.line)))
    return Pinning(pinner.n_added, pinner.n_renewed, pinner.n_removed, tuple(pinner.left))


def require_ids(path: str, known: Iterable[str], wanted: Iterable[str]) -> None:
    """Raise UsageError for the first `wanted` id that is not `known`, with the nearest known one."""
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
        # Pins of anchors that are no longer in `expected`: somebody rewrote these by hand.
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
        elif self._is_renewal:  # this includes pins that hold but are in the format of older versions
            self.n_renewed += 1
            return now
        elif not is_current(self._table.texts, anchor, then):
            self._leave(case, anchor, "is stale and keeps its pin, see cce fixtures reanchor, or --renew it")
        return None

    def _leave(self, case: Case, anchor: Anchor, reason: str) -> None:
        self.left.append(f"{self._place}:{case.line}: {quoted(anchor.text)} {reason}")
