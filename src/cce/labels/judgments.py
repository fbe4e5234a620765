"""Judgments in the line of a case: a place becomes an answer, or is noted as no answer.

The bytes of a line enter and leave; only what must change does. A place is never an answer and irrelevant at
once: the newer judgment stands. The line must be one that the reader of sets accepts, or a draft.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable

from cce.domain.anchor import parse_anchor
from cce.errors import AnchorError
from cce.labels.edits import array_items, decode_string, encode, object_values, update_array, update_object


def with_answer(line: bytes, anchor: str, grade: int | None = None) -> bytes:
    """`line` with `anchor` in `expected`, and in `grades` if there is a grade.

    An anchor that names the same place is kept as it is spelled.
    """
    values = object_values(line)
    expected = values.get("expected", b"[]")
    spelled = {place_named(text): text for text in _texts(expected)}
    known = spelled.get(place_named(anchor))
    changes = _without(line, [anchor])
    if known is None:
        changes["expected"] = _appended(expected, [anchor], line)
    if grade is not None:
        grades = values.get("grades", b"{}")
        changes["grades"] = update_object(grades, {known or anchor: encode(grade)}, like=line)
    return update_object(line, changes) if changes else line


def with_irrelevant(line: bytes, anchors: Iterable[str]) -> bytes:
    """`line` with those `anchors` in `irrelevant` that no answer and no irrelevant place names already."""
    values = object_values(line)
    there = {
        place_named(text) for key in ("expected", "irrelevant") for text in _texts(values.get(key, b"[]"))
    }
    added = {place_named(anchor): anchor for anchor in anchors if place_named(anchor) not in there}
    if not added:
        return line
    irrelevant = _appended(values.get("irrelevant", b"[]"), added.values(), line)
    return update_object(line, {"irrelevant": irrelevant})


def place_named(anchor: str) -> Hashable:
    """What is equal for anchors that name the same place, however they are spelled."""
    try:
        return parse_anchor(anchor).named
    except AnchorError:  # a draft may hold any text
        return anchor


def _without(line: bytes, anchors: Collection[str]) -> dict[str, bytes | None]:
    """The change that takes places out of `irrelevant`; the key goes with the last one."""
    irrelevant = object_values(line).get("irrelevant", b"[]")
    gone = {place_named(anchor) for anchor in anchors}
    texts = _texts(irrelevant)
    kept = [text for text in texts if place_named(text) not in gone]
    if len(kept) == len(texts):
        return {}
    if not kept:
        return {"irrelevant": None}
    return {
        "irrelevant": update_array(
            irrelevant, lambda _, item: None if place_named(decode_string(item)) in gone else item
        )
    }


def _texts(array: bytes) -> list[str]:
    return [decode_string(item) for item in array_items(array)]


def _appended(array: bytes, anchors: Iterable[str], line: bytes) -> bytes:
    return update_array(array, lambda _, item: item, [encode(anchor, line) for anchor in anchors], like=line)
