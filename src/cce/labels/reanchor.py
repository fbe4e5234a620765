"""Re-anchoring: stale anchors of a set follow their texts.

Cases and their file enter; one AnchorMove per stale anchor leaves. Anchors whose text only moved are
rewritten in the file; anchors whose text also changed stay, unless the caller accepts their new text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cce.domain.anchor import Anchor, parse_anchor
from cce.domain.case import Case
from cce.errors import FixtureError
from cce.labels.edited import Accepts, Edit, never
from cce.labels.edits import (
    decode_string,
    encode,
    object_values,
    update_array,
    update_members,
    update_object,
)
from cce.labels.revision import Revision
from cce.labels.tracking.pins import current_pin, distinct, stale_anchors
from cce.labels.tracking.places import LineTable
from cce.labels.tracking.traces import Trace, parse_traces, trace_of
from cce.labels.tracking.tracker import TextFate, Tracker, Whereabouts
from cce.quoting import on_one_line, quoted

_KEYED_BY_ANCHOR = ("grades", "pins", "traces")


@dataclass(frozen=True, slots=True)
class AnchorMove:
    """One stale anchor of a case, where its text is now, and why the anchor stays although the text moved."""

    case: Case
    anchor: Anchor
    whereabouts: Whereabouts
    obstacle: str | None = None
    is_accepted: bool = False

    @property
    def is_made(self) -> bool:
        """Whether the anchor is rewritten: its text moved, or somebody accepts that it changed."""
        is_found = self.whereabouts.fate is TextFate.MOVED or self.is_accepted
        return is_found and self.whereabouts.anchor is not None and self.obstacle is None

    def __str__(self) -> str:
        """One line for people: the case, the anchor and where its text is."""
        obstacle = f", but {self.obstacle}" if self.obstacle else ""
        taken = (
            f", {quoted(self.whereabouts.anchor or '')} is taken" if self.is_accepted and self.is_made else ""
        )
        return f"{quoted(self.case.id)} {quoted(self.anchor.text)}: {self.whereabouts}{taken}{obstacle}"


def reanchor_set(
    cases: Sequence[Case],
    revision: Revision,
    tracker: Tracker,
    table: LineTable,
    accepts: Accepts = never,
) -> list[AnchorMove]:
    """Rewrite the anchors that moved in `revision`, the file of `cases`; all stale anchors are returned.

    accepts  what decides about texts that were edited
    """
    moves: list[AnchorMove] = []
    for case in cases:
        found = find_moves(case, revision.path, revision.line(case.line), tracker, table, accepts)
        made = {move.anchor.text: move.whereabouts.anchor or "" for move in found if move.is_made}
        if made:
            revision.replace(case.line, _rewritten(revision.line(case.line), made, table))
        moves += found
    return moves


def find_moves(
    case: Case,
    path: str,
    line: bytes,
    tracker: Tracker,
    table: LineTable,
    accepts: Accepts = never,
) -> list[AnchorMove]:
    """The stale anchors of `case`, whose line in the set `path` is `line`, and where their texts are."""
    stale = list(stale_anchors(table.texts, case))
    if not stale and not (table.has_names and case.pins):
        return []
    traces = _read_traces(line, f"{on_one_line(path)}:{case.line}")
    if table.has_names:
        stale = [
            anchor
            for anchor in distinct(case.anchors)
            if anchor in stale or _is_elsewhere(anchor, traces, table)
        ]
    moves = [_found(case, anchor, traces.get(anchor.text), tracker, table, accepts) for anchor in stale]
    return list(_without_collisions(case, moves))


def _is_elsewhere(anchor: Anchor, traces: Mapping[str, Trace], table: LineTable) -> bool:
    """Whether the pin holds although the function stands elsewhere in its file, or grew at its end.

    A copy of a text under another name can take its place to the line, and a text can become the
    beginning of a longer one.
    """
    trace = traces.get(anchor.text)
    if trace is None or trace.name is None or anchor.path is None or anchor.lines is None:
        return False
    named = table.chunks.named(anchor.path, trace.name)
    if not trace.name.is_whole:
        first, last = anchor.lines
        return bool(named) and not any(each.start_line <= first and last <= each.end_line for each in named)
    here = table.chunks.whole_at(anchor.path, anchor.lines)
    if here is not None and here.segments == trace.name.segments:
        return False
    return bool(named) or (here is not None and trace.twins is not None)


def _found(
    case: Case, anchor: Anchor, trace: Trace | None, tracker: Tracker, table: LineTable, accepts: Accepts
) -> AnchorMove:
    whereabouts = tracker.whereabouts(anchor, case.pins[anchor.text], trace)
    if whereabouts.fate not in (TextFate.CHANGED, TextFate.AMBIGUOUS):
        return AnchorMove(case, anchor, whereabouts)
    accepted = accepts(Edit(case, anchor, whereabouts, trace.lines if trace else None, table))
    if accepted is None:
        return AnchorMove(case, anchor, whereabouts)
    return AnchorMove(case, anchor, replace(whereabouts, anchor=accepted), is_accepted=True)


def _read_traces(line: bytes, place: str) -> dict[str, Trace]:
    """The traces in the line of a case; raises FixtureError with the place if they are malformed."""
    from pydantic_core import from_json  # only sets with stale pins need it

    raw = object_values(line).get("traces")
    if raw is None:
        return {}
    try:
        return parse_traces(from_json(raw))
    except FixtureError as exc:
        raise FixtureError(f"{place}: {exc}") from exc


def _without_collisions(case: Case, moves: Sequence[AnchorMove]) -> Iterator[AnchorMove]:
    """The moves; where two anchors of the case would become equal, the moved ones get an obstacle."""
    made = {move.anchor.text: move.whereabouts.anchor or "" for move in moves if move.is_made}
    expected = {anchor.text for anchor in case.anchors}
    while True:
        n_uses = Counter(made.get(text, text) for text in expected)
        clashing = [text for text, target in made.items() if n_uses[target] > 1]
        if not clashing:
            break
        for text in clashing:  # they stay, and so may block others in the next round
            del made[text]
    for move in moves:
        stays = move.is_made and move.anchor.text not in made
        obstacle = "the case would name it twice, remove one by hand" if stays else None
        yield replace(move, obstacle=obstacle)


def _rewritten(line: bytes, made: Mapping[str, str], table: LineTable) -> bytes:
    """`line` with the anchors in `made` replaced wherever the case uses them."""
    values = object_values(line)
    arrays = [key for key in ("expected", "irrelevant") if key in values]
    changes: dict[str, bytes | None] = {key: update_array(values[key], _replacer(made)) for key in arrays}
    for key in _KEYED_BY_ANCHOR:
        if key in values:
            # A leftover entry under the new name would clash with the renamed one.
            leftovers = dict.fromkeys(set(made.values()) - made.keys())
            changes[key] = update_object(values[key], leftovers, made)
    line = update_object(line, changes)
    pins = {new: current_pin(table.texts, parse_anchor(new)) for new in made.values()}
    line = update_members(line, {"pins": {new: encode(pin) if pin else None for new, pin in pins.items()}})
    traces = {new: trace_of(table, parse_anchor(new)) for new in made.values()}
    encoded = {new: encode(trace.as_json(), line) if trace else None for new, trace in traces.items()}
    return update_members(line, {"traces": encoded})


def _replacer(made: Mapping[str, str]) -> Callable[[int, bytes], bytes]:
    def replace(_: int, item: bytes) -> bytes:
        text = decode_string(item)
        return encode(made[text], item) if text in made else item

    return replace
