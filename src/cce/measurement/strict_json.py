"""One line of strict JSON: bytes become a value, a fault becomes a sentence with its column.

pydantic's reader is the judge, but importing it takes longer than reading most sets. So a line that the
standard library reads without any doubt is taken from there, and every other one is read again.
"""

from __future__ import annotations

import json
import math
import re
from typing import NoReturn

from cce.brackets import is_mostly_brackets
from cce.errors import FixtureError
from cce.quoting import on_one_line

# The reader's wording on the left, ours on the right; what is in neither is shown as it comes.
_JSON_FAULTS = (
    ("EOF", "the line ends too early, keep each object on one line"),
    ("trailing characters", "text after the object, write one object a line"),
    ("trailing comma", "a comma too many, remove it"),
    ("recursion limit", "brackets nested too deep, flatten the value"),
    ("number out of range", "a number too large to read, write a smaller one"),
    ("lone", "half a surrogate pair, write the whole character"),
    ("unexpected end of hex", "half a surrogate pair or a cut \\u escape, write the whole character"),
    ("key must be", "a key without double quotes, quote it"),
    ("control character", "a raw control character in a string, write it as \\n, \\t or \\u00XX"),
    ("invalid escape", "an unknown escape, write a backslash as \\\\"),
    ("expected value", "no JSON value, write strings in double quotes"),
    ("expected ident", "no JSON value, write strings in double quotes"),
    ("invalid number", "a malformed number, write it as 7 or 0.5"),
)
_MOST_BRACKETS = 100  # the strict reader goes twice as deep
_JSON_PLACE = r"(.*) at line 1 column ([0-9]+)"  # compiled when a line has a fault
_NO_JSON_NUMBERS = (b"NaN", b"Infinity")


def parse_json(line: bytes) -> object:
    """The value that `line`, UTF-8, spells; raises FixtureError, without a place, if that is no JSON."""
    if is_mostly_brackets(line):
        raise FixtureError("more brackets than a case can need, remove the value that holds them")
    value = _DOUBT if _is_doubtful(line) else _read_plainly(line)
    return _read_strictly(line) if value is _DOUBT or _has_infinity(value) else value


def _is_doubtful(line: bytes) -> bool:
    """Whether the standard library may take too much, or too little where the caller's stack is deep."""
    return b"\\u" in line or line.count(b"[") + line.count(b"{") > _MOST_BRACKETS


def _read_plainly(line: bytes) -> object:
    try:
        return _READER.decode(line.decode())
    except ValueError:
        return _DOUBT


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_READER = json.JSONDecoder(parse_constant=_refuse)
_DOUBT = object()


def _read_strictly(line: bytes) -> object:
    from pydantic_core import from_json

    try:
        value: object = from_json(line, allow_inf_nan=False)
    except ValueError as exc:
        raise FixtureError(_json_fault(str(exc), line)) from exc
    if _has_infinity(value):
        raise FixtureError("invalid JSON: a number too large to read, write a smaller one")
    return value


def _json_fault(wording: str, line: bytes) -> str:
    """What is wrong with `line`, for people; `wording` is the reader's message, columns in bytes."""
    match = re.fullmatch(_JSON_PLACE, wording)
    if match is None:
        return f"invalid JSON: {on_one_line(wording)}"
    n_before = max(0, int(match[2]) - 1)
    if line.startswith(_NO_JSON_NUMBERS, n_before):
        fault = "NaN and Infinity are not JSON, write a number or a string"
    else:
        fault = next((ours for theirs, ours in _JSON_FAULTS if match[1].startswith(theirs)), match[1])
    column = len(line[:n_before].decode("utf-8", "ignore")) + 1
    return f"invalid JSON at column {column}: {fault}"


def _has_infinity(value: object) -> bool:
    """Whether a number such as 1e400 became infinite; iterative, since values nest."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, float) and math.isinf(value):
            return True
    return False
