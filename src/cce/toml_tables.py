"""TOML of people: bytes in, a table out, and each fault as a message that goes on behind the file's path.

Policies of a gate and systems files are read here. What a table may hold is their own affair.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cce.errors import CceError
from cce.quoting import listed, on_one_line, quoted, shown_integer
from cce.registry import nearest_name

_N_SHOWN = 12
# A bare key with an @, as in recall@5 = 0.9, at the start of a line or in an inline table.
_BARE_KEY_WITH_AT = r"""(?:^|[{,])[ \t]*([A-Za-z][A-Za-z0-9_]*@[A-Za-z0-9_]+)[ \t]*="""
_TOML_PLACE = re.compile(r"(.*) \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)", re.DOTALL)
MAX_BYTES = 1 << 20
"""More than any policy needs: the reader is Python, and takes a second for a megabyte."""

MAX_KEY_PARTS = 30
# What the reader does for a key grows with the square of its parts: for 20,000 it takes ten seconds.
# Every other branch takes what it looks at whole, so that nothing is looked at more than MAX_KEY_PARTS times.
_KEY_PART = r"""(?: [A-Za-z0-9_-]++ | "(?:[^"\\\n]|\\.)*+" | '[^'\n]*+' )"""
_LONG_KEY_OR_TEXT = rf"""(?xs:
    (?P<long> (?: {_KEY_PART} [ \t]*+ \. [ \t]*+ ){{{MAX_KEY_PARTS}}} )
  | ["]{{3}}(?:[^"\\]|\\.|"(?!""))*+(?:["]{{3}})? | [']{{3}}(?:[^']|'(?!''))*+(?:[']{{3}})?
  | "(?:[^"\\\n]|\\.)*+"? | '[^'\n]*+'? | \#[^\n]*+ | [A-Za-z0-9_-]++
)"""


def parse_toml(raw: bytes, error: type[CceError], noun: str) -> Mapping[str, object]:
    """The table that `raw` spells, which messages call `noun`.

    Raises `error` with a message that goes on where the path of the file ends: `:3: column 5: ..`.
    """
    if len(raw) > MAX_BYTES:
        raise error(f": larger than 1 MiB, no {noun} needs that much: name the right file")
    try:
        text = raw.decode("utf-8-sig")
        if _has_long_key(text):
            raise error(f": a key of more than {MAX_KEY_PARTS} parts, a {noun} needs no more than four")
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise error(_toml_fault(str(exc)) + _quoting_hint(text, str(exc))) from exc
    except UnicodeDecodeError as exc:
        raise error(": not UTF-8, save the file as UTF-8") from exc
    except (ValueError, RecursionError) as exc:
        raise error(": no readable TOML (a number too long or values nested too deep)") from exc


def is_toml_value(text: str) -> bool:
    """Whether `text` is one TOML value, such as 8, false or "a b"."""
    try:
        return len(tomllib.loads(f"value = {text}")) == 1 and "\n" not in text
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def _has_long_key(text: str) -> bool:
    """Whether a key has very many parts; dots in strings and comments do not count."""
    if text.count(".") < MAX_KEY_PARTS:
        return False
    return any(found["long"] for found in re.finditer(_LONG_KEY_OR_TEXT, text))


def _toml_fault(wording: str) -> str:
    """The parser's wording with the place in front."""
    match = _TOML_PLACE.fullmatch(wording)
    if match is None:
        return f": no readable TOML: {on_one_line(wording)}"
    place = f":{match[2]}: column {match[3]}" if match[2] else ": at its end"
    return f"{place}: no readable TOML: {on_one_line(match[1])}"


def _quoting_hint(text: str, wording: str) -> str:
    """How to write the key, where the line of the fault has one with an @ and without quotes."""
    match = _TOML_PLACE.fullmatch(wording)
    if match is None or not match[2]:
        return ""
    key = re.search(_BARE_KEY_WITH_AT, text.split("\n")[int(match[2]) - 1])
    return f'; a key with @ needs quotes, write "{on_one_line(key[1])}" = ...' if key else ""


def field_fault(
    faults: Sequence[Any],
    rule: Callable[[Sequence[int | str]], str],
    known_keys: Callable[[Sequence[int | str]], Sequence[str]],
) -> str:
    """The first of pydantic's faults; a wrong key goes first, since it may be a missing one, misspelled.

    rule        what the value at these steps must be
    known_keys  the keys that the table at these steps may have
    """
    fault = min(faults, key=lambda each: each["type"] != "extra_forbidden")
    steps: tuple[int | str, ...] = fault["loc"]
    if fault["type"] == "extra_forbidden":
        return f": {place_of(steps[:-1])}{unknown('key', str(steps[-1]), known_keys(steps[:-1]))}"
    if fault["type"] == "missing":
        return f": {place_of(steps)}missing, it must be {rule(steps)}"
    return f": {place_of(steps)}must be {rule(steps)}, got {shown(fault['input'])}"


def place_of(steps: Iterable[object]) -> str:
    """`slices.slow.floor: ` for the steps to a value; nothing for the whole file."""
    keys = ".".join(on_one_line(step) for step in steps if isinstance(step, str))
    return f"{keys}: " if keys else ""


def unknown(noun: str, name: str, known: Iterable[str]) -> str:
    """As for every unknown name, but a set may know thousands: only the first few are listed."""
    known = [on_one_line(each) for each in known]
    nearest = nearest_name(name, known)
    hint = "" if nearest is None else f"; did you mean '{nearest}'?"
    names = listed(known, len(known), _N_SHOWN) or "none"
    return f"unknown {noun} {quoted(name)}{hint} (known: {names})"


def shown(value: object) -> str:
    """A TOML value for a message: one short line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return shown_integer(value)
        case str():
            return quoted(value)
        case list():
            return "an array" if value else "an empty array"
        case dict():
            return "a table"
    return on_one_line(str(value))
