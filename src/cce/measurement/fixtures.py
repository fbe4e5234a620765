"""The door of the measurement wing: a file of labelled queries becomes a FixtureSet.

Bytes enter, one strict JSON object a line (`cce.relevance/v1`); frozen domain values leave, in file
order. The first bad line raises FixtureError: `path:line: fault, way out`. How an anchor is spelled
is the anchor's own affair; whether it can match anything in a corpus is said in `notices`.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cce.domain.anchor import parse_anchor
from cce.domain.case import Case, FixtureSet
from cce.errors import CceError, FixtureError
from cce.quoting import on_one_line, quoted
from cce.tokens import WHITE_SPACE

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

SCHEMA = "cce.relevance/v1"
DEFAULT_K = 10

_RULES = {
    "query": "a string that is not empty",
    "expected": 'a non-empty array of anchor strings such as ["a.py"]',
    "k": "a positive integer",
    "tags": 'an array of strings such as ["slow"]',
    "grades": 'an object of anchors with integers from 1 to 3 such as {"a.py": 2}',
    "critical": "true or false",
    "note": "a string",
    "pins": 'an object of anchors with 16 hex digits such as {"a.py": "0123456789abcdef"}',
    "corpus": "a string, the directory to index",
}

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
_JSON_PLACE = re.compile(r"(.*) at line 1 column ([0-9]+)")
_NO_JSON_NUMBERS = (b"NaN", b"Infinity")
_CASE_WANTED = 'add a line such as {"query": "parse the config", "expected": ["config.py"]}'

_MAX_SHOWN_BITS = 200

T = TypeVar("T")


def read_fixture_set(path: str) -> FixtureSet:
    """The fixture set in the file `path`; raises FixtureError when it cannot be read or parsed."""
    return parse_fixture_set(read_set_file(path), path)


def read_set_file(path: str) -> bytes:
    """The bytes of a set, whatever they spell; raises FixtureError when they cannot be read."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path
        raise _unreadable(path, exc) from exc


def stream_entries(path: str) -> Iterator[tuple[bytes, Header | Case]]:
    """`parse_entries` of the file `path`, of which only one line is in memory at a time."""
    try:
        stream = open(path, "rb")  # noqa: SIM115 - closed below; only opening it is our door
    except (OSError, ValueError) as exc:
        raise _unreadable(path, exc) from exc
    with stream:
        yield from parse_entries((line.removesuffix(b"\n") for line in stream), path)


def _unreadable(path: str, exc: OSError | ValueError) -> FixtureError:
    reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
    return FixtureError(
        f"{on_one_line(path)}: cannot read the fixture set ({reason}), name a readable NDJSON file"
    )


def parse_fixture_set(raw: bytes, path: str) -> FixtureSet:
    """The fixture set that `raw` spells; `path` is only the place that messages name."""
    corpus: str | None = None
    cases: list[Case] = []
    # Only b"\n" ends a line: bytes.splitlines would break at a lone b"\r" as well.
    for _, entry in parse_entries(raw.removesuffix(b"\n").split(b"\n"), path):
        if isinstance(entry, Header):
            corpus = entry.corpus
        else:
            cases.append(entry)
    return FixtureSet(path, corpus, tuple(cases))


@dataclass(frozen=True, slots=True)
class Header:
    """What a set's first line may say: the default corpus directory as written, if any."""

    corpus: str | None


def parse_entries(lines: Iterable[bytes], path: str) -> Iterator[tuple[bytes, Header | Case]]:
    """What each line that is not blank says, beside that line; holds one line at a time.

    Raises FixtureError at the first bad line, and at the end if there was no case.
    """
    number, first_line, has_case = 0, None, False
    for number, line in enumerate(lines, start=1):
        try:
            text = line if number > 1 else line.removeprefix(codecs.BOM_UTF8)
            entry = _parse_entry(text, number, first_line)
        except CceError as exc:
            raise FixtureError(f"{on_one_line(path)}:{number}: {exc}") from exc
        if entry is not None:
            first_line = first_line or number
            has_case = has_case or isinstance(entry, Case)
            yield line, entry
    if not has_case:
        place = f"{on_one_line(path)}:{max(number, 1)}"
        raise FixtureError(f"{place}: the set ends without a case, {_CASE_WANTED}")


def _parse_entry(line: bytes, number: int, first_line: int | None) -> Header | Case | None:
    """`first_line` is the line of what stands first in the set, None if that is this one."""
    entry = _parse_line(line)
    if entry is None:
        return None
    return Header(_parse_header(entry, first_line)) if _is_header(entry) else _parse_case(entry, number)


def _parse_line(line: bytes) -> dict[str, Any] | None:
    """The object that `line` holds, None for a blank line."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as exc:
        column = len(line[: exc.start].decode("utf-8")) + 1
        raise FixtureError(f"invalid UTF-8 at column {column}, save the file as UTF-8") from exc
    if not text.strip(WHITE_SPACE):
        return None
    value = _parse_json(line)
    if not isinstance(value, dict):
        raise FixtureError(f"each line must be a JSON object, got {_shown(value)}")
    return value


def _parse_json(line: bytes) -> object:
    # Not `json`: it takes NaN and lone surrogates, and its depth limit varies with the caller's stack.
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
    match = _JSON_PLACE.fullmatch(wording)
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


def _is_header(entry: dict[str, Any]) -> bool:
    return "schema" in entry and "query" not in entry


def _parse_header(entry: dict[str, Any], first_line: int | None) -> str | None:
    """The default corpus directory; `first_line` is the line of whatever stood before this header."""
    if first_line is not None:
        raise FixtureError(
            f"a header may only be the first line (line {first_line} stands before it),"
            ' remove it or give the case its "query"'
        )
    if entry["schema"] != SCHEMA:
        raise FixtureError(f"unsupported schema {_shown(entry['schema'])}, write '{SCHEMA}'")
    return _guarded(lambda: _read_corpus(entry))


def _parse_case(entry: dict[str, Any], line: int) -> Case:
    case = _guarded(lambda: _build_case(entry, line))
    if not case.query:
        raise FixtureError(f"query must be {_RULES['query']}, got {_shown(entry['query'])}")
    strays = case.grades.keys() - {anchor.text for anchor in case.anchors}
    if strays:
        raise FixtureError(f"grades names {quoted(min(strays))}, which is not in expected, spell both alike")
    return case


def _guarded(build: Callable[[], T]) -> T:
    from pydantic import ValidationError

    try:
        return build()
    except ValidationError as exc:
        raise FixtureError(_field_fault(exc)) from exc


# The models stand inside functions: whoever imports this module without reading must not pay for them.


@cache
def header_model() -> type[BaseModel]:
    """The pydantic model of a header line."""
    from pydantic import BaseModel, ConfigDict

    class HeaderLine(BaseModel):
        model_config = ConfigDict(strict=True)
        corpus: str = ""

    return HeaderLine


@cache
def case_model() -> type[BaseModel]:
    """The pydantic model of a case line."""
    from pydantic import BaseModel, ConfigDict, Field

    class CaseLine(BaseModel):
        model_config = ConfigDict(strict=True)
        query: str
        expected: Annotated[list[str], Field(min_length=1)]
        id: Any = None
        k: Annotated[int, Field(gt=0)] = DEFAULT_K
        tags: list[str] = []
        grades: dict[str, Annotated[int, Field(ge=1, le=3)]] = {}
        critical: bool = False
        note: str = ""
        pins: dict[str, Annotated[str, Field(pattern="^[0-9a-f]{16}$")]] = {}

    return CaseLine


def _read_corpus(entry: dict[str, Any]) -> str | None:
    header: Any = header_model().model_validate(entry)
    return str(header.corpus) if "corpus" in entry else None


def _build_case(entry: dict[str, Any], line: int) -> Case:
    fields: Any = case_model().model_validate(entry)
    return Case(
        id=fields.id if isinstance(fields.id, str) else f"q{line}",
        query=fields.query.strip(WHITE_SPACE),
        anchors=tuple(map(parse_anchor, fields.expected)),
        k=fields.k,
        line=line,
        tags=tuple(fields.tags),
        grades=MappingProxyType(fields.grades),
        critical=fields.critical,
        note=fields.note or None,
        pins=MappingProxyType(fields.pins),
    )


def _field_fault(exc: ValidationError) -> str:
    """The first fault of a line in our words: the rule of its field and what stands there."""
    fault = exc.errors(include_url=False, include_context=False)[0]
    field, *inner = fault["loc"]
    rule = _RULES[str(field)]
    if fault["type"] == "missing":
        return f"{field} is missing, it must be {rule}"
    place = "".join(
        f" for {quoted(step)}" if isinstance(step, str) else f" at position {step + 1}" for step in inner
    )
    return f"{field} must be {rule}, got {_shown(fault['input'])}{place}"


def _shown(value: object) -> str:
    """A JSON value as a message shows it: one line, never long."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int() if value.bit_length() > _MAX_SHOWN_BITS:  # `str` refuses thousands of digits
            return "a huge integer"
        case list():
            return "an array" if value else "an empty array"
        case dict():
            return "an object"
    return str(value)
