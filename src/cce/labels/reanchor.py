"""Re-anchoring: stale anchors of a set follow their texts.

Cases and the file that holds them enter; what became of each stale anchor leaves, and the lines of
those that moved are rewritten. What was edited as well is only listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cce.domain.anchor import Anchor, parse_anchor
from cce.domain.case import Case
from cce.errors import FixtureError
from cce.labels.edits import (
    decode_string,
    encode,
    object_values,
    update_array,
    update_members,
    update_object,
)
from cce.labels.revision import Revision
from cce.labels.tracking.pins import stale_anchors
from cce.labels.tracking.places import LineTable
from cce.labels.tracking.traces import Trace, parse_traces, trace_of
from cce.labels.tracking.tracker import TextFate, Tracker, Whereabouts
from cce.quoting import on_one_line, quoted

_KEYED_BY_ANCHOR = ("grades", "pins", "traces")


@dataclass(frozen=True, slots=True)
class AnchorMove:
    """One stale anchor of a case: what became of it, and why it stays if it moved and yet stays."""

    case: Case
    anchor: Anchor
    whereabouts: Whereabouts
    obstacle: str | None = None

    @property
    def is_made(self) -> bool:
        """Whether the anchor is rewritten."""
        is_found = self.whereabouts.fate is TextFate.MOVED and self.whereabouts.anchor is not None
        return is_found and self.obstacle is None

    def __str__(self) -> str:
        """What a person reads: the case, the anchor and its fate."""
        obstacle = f", but {self.obstacle}" if self.obstacle else ""
        return f"{quoted(self.case.id)} {quoted(self.anchor.text)}: {self.whereabouts}{obstacle}"


def reanchor_set(
    cases: Sequence[Case], revision: Revision, tracker: Tracker, table: LineTable
) -> list[AnchorMove]:
    """Rewrite what moved in `revision`, the file that holds `cases`; what became of every stale anchor."""
    moves: list[AnchorMove] = []
    for case in cases:
        of_case = moves_of(case, revision.path, revision.line(case.line), tracker, table)
        made = {move.anchor.text: move.whereabouts.anchor or "" for move in of_case if move.is_made}
        if made:
            revision.replace(case.line, _rewritten(revision.line(case.line), made, table))
        moves += of_case
    return moves


def moves_of(case: Case, path: str, line: bytes, tracker: Tracker, table: LineTable) -> list[AnchorMove]:
    """What became of every stale anchor of `case`, whose line in the set `path` is `line`."""
    stale = list(stale_anchors(table.texts, case))
    if not stale:
        return []
    traces = traces_of(line, f"{on_one_line(path)}:{case.line}")
    moves = [
        AnchorMove(case, anchor, tracker.whereabouts(anchor, case.pins[anchor.text], traces.get(anchor.text)))
        for anchor in stale
    ]
    return list(_without_collisions(case, moves))


def traces_of(line: bytes, place: str) -> dict[str, Trace]:
    """The traces that a case's line keeps; raises FixtureError, with the place, if they are broken."""
    from pydantic_core import from_json

    raw = object_values(line).get("traces")
    if raw is None:
        return {}
    try:
        return parse_traces(from_json(raw))
    except FixtureError as exc:
        raise FixtureError(f"{place}: {exc}") from exc


def _without_collisions(case: Case, moves: Sequence[AnchorMove]) -> Iterator[AnchorMove]:
    """The moves; those that would make two anchors of the case one get an obstacle."""
    made = {move.anchor.text: move.whereabouts.anchor or "" for move in moves if move.is_made}
    expected = {anchor.text for anchor in case.anchors}
    while True:
        n_uses = Counter(made.get(text, text) for text in expected)
        clashing = [text for text, target in made.items() if n_uses[target] > 1]
        if not clashing:
            break
        for text in clashing:  # which then stay where they are, and may be in the way of others
            del made[text]
    for move in moves:
        stays = move.is_made and move.anchor.text not in made
        obstacle = "the case would name it twice, remove one by hand" if stays else None
        yield AnchorMove(case, move.anchor, move.whereabouts, obstacle)


def _rewritten(line: bytes, made: Mapping[str, str], table: LineTable) -> bytes:
    """`line` with each anchor that `made` names replaced, wherever the case uses it."""
    values = object_values(line)
    changes: dict[str, bytes | None] = {"expected": update_array(values["expected"], _replacer(made))}
    for key in _KEYED_BY_ANCHOR:
        if key in values:
            ghosts = dict.fromkeys(set(made.values()) - made.keys())
            changes[key] = update_object(values[key], ghosts, made)
    line = update_object(line, changes)
    traces = {new: trace_of(table, parse_anchor(new)) for new in made.values()}
    encoded = {new: encode(trace.as_json(), line) if trace else None for new, trace in traces.items()}
    return update_members(line, {"traces": encoded})


def _replacer(made: Mapping[str, str]) -> Callable[[int, bytes], bytes]:
    def replace(_: int, item: bytes) -> bytes:
        text = decode_string(item)
        return encode(made[text], item) if text in made else item

    return replace
