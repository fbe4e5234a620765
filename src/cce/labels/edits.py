"""Edits of JSON text that change only the bytes of the edited values.

One JSON value enters as bytes, with changes by key or position; the edited bytes leave. Spacing, the
order of keys, the spelling of numbers and unknown keys stay as they are. The text must be valid JSON,
which the fixture reader has checked; this module finds the parts of a value and does not validate them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

# "Unrolled": runs of ordinary bytes between escapes, so no byte is matched twice and nothing backtracks.
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_STRING_OR_SIGN = re.compile(_STRING.pattern + rb"|[,:]", re.DOTALL)
_SCALAR = re.compile(rb"[^\s,\]}]++")
_SPACE = re.compile(rb"[ \t\r\n]*+")
# The next bracket that changes the depth, or a string, which is skipped because it may hold brackets.
# In `[1,"]",2]` the steps are: `[` (depth 1), `"]"` (skipped), `]` (depth 0, the end).
_STEP = re.compile(rb'[^"\[\]{}]*+(?:([\[{])|([\]}])|(?="))')
_OPENINGS = b"{["


@dataclass(frozen=True, slots=True)
class _Part:
    """One member of an object or item of an array; an item's key is empty.

    The bytes are `text[start:end]`, the value's `text[value_start:end]`.
    """

    key: str
    start: int
    value_start: int
    end: int


def object_values(text: bytes) -> dict[str, bytes]:
    """The raw value of each key of the object `text`; the last one of a repeated key."""
    return {part.key: text[part.value_start : part.end] for part in _parts(text, _opening(text))}


def array_items(text: bytes) -> list[bytes]:
    """The raw items of the array `text`."""
    return [text[part.start : part.end] for part in _parts(text, _opening(text))]


def decode_string(raw: bytes) -> str:
    """The value of one raw JSON string."""
    value = json.loads(raw)
    assert isinstance(value, str)  # noqa: S101 - callers pass strings of a validated line
    return value


def encode(value: object, like: bytes = b"") -> bytes:
    """`value` as JSON on one line, with the spacing and the escapes of the text `like`."""
    separators = (_sign(like, b",").decode(), _sign(like, b":").decode())
    return json.dumps(value, ensure_ascii=b"\\u" in like, separators=separators).encode()


def update_object(
    text: bytes,
    values: Mapping[str, bytes | None],
    new_keys: Mapping[str, str] | None = None,
    like: bytes | None = None,
) -> bytes:
    """`text` with the raw `values` in place; None drops a key, a new key is appended.

    text      an object, white space around it allowed
    new_keys  old key -> the key to write instead; its value stays unless `values` names the old key
    like      a text whose spacing new members copy, `text` itself if None
    """
    style = text if like is None else like
    opening = _opening(text)
    parts = _parts(text, opening)
    last_of_key = {part.key: number for number, part in enumerate(parts)}
    pieces: list[bytes | None] = [text[part.start : part.end] for part in parts]
    for number, part in enumerate(parts):
        value = values.get(part.key, b"")
        if value is None:
            pieces[number] = None  # all repeats too: without the last one an earlier one would count
        elif number == last_of_key[part.key] or part.key in (new_keys or {}):
            pieces[number] = _member(text, part, value, (new_keys or {}).get(part.key))
    added = [
        encode(key, style) + _sign(style, b":") + value
        for key, value in values.items()
        if value is not None and key not in last_of_key
    ]
    return _rebuilt(text, opening, parts, pieces, added, _sign(style, b","))


def update_members(line: bytes, members: Mapping[str, Mapping[str, bytes | None]]) -> bytes:
    """`line`, an object, with raw members set in the objects under some of its keys; None drops a member."""
    values = object_values(line)
    changes: dict[str, bytes | None] = {
        key: update_object(values.get(key, b"{}"), changed, like=line)
        for key, changed in members.items()
        if changed and (key in values or any(changed.values()))
    }
    return update_object(line, changes) if changes else line


def update_array(
    text: bytes,
    change: Callable[[int, bytes], bytes | None],
    added: Sequence[bytes] = (),
    like: bytes | None = None,
) -> bytes:
    """`text`, an array, with each raw item replaced by `change(position, item)`; None drops the item.

    added  raw items to append, with the spacing of `like`, or of `text` if that is None
    """
    opening = _opening(text)
    parts = _parts(text, opening)
    pieces = [change(number, text[part.start : part.end]) for number, part in enumerate(parts)]
    return _rebuilt(text, opening, parts, pieces, added, _sign(text if like is None else like, b","))


def _member(text: bytes, part: _Part, value: bytes, new_key: str | None) -> bytes:
    """One member, changed; an empty `value` keeps the value, None for `new_key` keeps the key."""
    key_and_colon = text[part.start : part.value_start]
    if new_key is not None:
        key_end = _end_of_string(text, part.start) - part.start
        key_and_colon = encode(new_key, key_and_colon[:key_end]) + key_and_colon[key_end:]
    return key_and_colon + (value or text[part.value_start : part.end])


def _rebuilt(
    text: bytes,
    opening: int,
    parts: Sequence[_Part],
    pieces: Sequence[bytes | None],
    added: Sequence[bytes],
    comma: bytes,
) -> bytes:
    """The container with its pieces replaced; a kept piece keeps the bytes in front of it."""
    if not parts:
        closing = _skip_space(text, opening + 1) if added else opening + 1
        return text[: opening + 1] + comma.join(added) + text[closing:]
    kept: list[bytes] = []
    for number, piece in enumerate(pieces):
        if piece is not None:
            before = text[parts[number - 1].end : parts[number].start] if number else b""
            kept += [before if kept else b"", piece]
    for piece in added:
        kept += [comma if kept else b"", piece]
    return text[: parts[0].start] + b"".join(kept) + text[parts[-1].end :]


def _sign(text: bytes, sign: bytes) -> bytes:
    """A comma or colon, followed by a space if `text` does so."""
    return sign + b" " if _spaced(text, sign) else sign


def _spaced(text: bytes, sign: bytes) -> bool:
    """Whether a space follows the first `sign` of `text`, or else the other sign; True without either."""
    habit = True
    for found in _STRING_OR_SIGN.finditer(text):
        if found[0] in b",:":
            habit = text.startswith(b" ", found.end())
            if found[0] == sign:
                break
    return habit


def _opening(text: bytes) -> int:
    """Position of the bracket that opens the container; a byte order mark and white space may come first."""
    return min(position for sign in (b"{", b"[") if (position := text.find(sign)) >= 0)


def _parts(text: bytes, opening: int) -> list[_Part]:
    parts: list[_Part] = []
    has_keys = text.startswith(b"{", opening)
    position = _skip_space(text, opening + 1)
    while not text.startswith((b"}", b"]"), position):
        start, key = position, ""
        if has_keys:
            position = _end_of_string(text, start)
            key = decode_string(text[start:position])
            position = _skip_space(text, _skip_space(text, position) + 1)
        end = _end_of_value(text, position)
        parts.append(_Part(key, start, position, end))
        position = _skip_space(text, end)
        if text.startswith(b",", position):
            position = _skip_space(text, position + 1)
    return parts


def _skip_space(text: bytes, position: int) -> int:
    return _end(_SPACE, text, position)


def _end_of_string(text: bytes, position: int) -> int:
    return _end(_STRING, text, position)


def _end_of_value(text: bytes, position: int) -> int:
    if text.startswith(b'"', position):
        return _end_of_string(text, position)
    if text[position] not in _OPENINGS:
        return _end(_SCALAR, text, position)
    depth = 0  # counted, not recursed into: the reader allows deeper nesting than Python's stack
    while True:
        step = _STEP.match(text, position)
        if step is None:
            raise ValueError("the text ends inside a value")
        position = step.end()
        if step[1]:
            depth += 1
        elif step[2]:
            depth -= 1
            if depth == 0:
                return position
        else:
            position = _end_of_string(text, position)


def _end(pattern: re.Pattern[bytes], text: bytes, position: int) -> int:
    match = pattern.match(text, position)
    if match is None:
        raise ValueError("the text is no JSON value")
    return match.end()
