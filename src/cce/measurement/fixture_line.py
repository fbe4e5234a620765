"""One line of a fixture set: bytes enter, a header or a case leaves, valid from birth.

What a line may hold is in `fixture_schema`, files and line numbers are in `fixtures`; here the values
are built, and each fault is put into words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from cce.domain.anchor import parse_anchor
from cce.domain.case import Case
from cce.errors import FixtureError
from cce.measurement.fixture_schema import DEFAULTS, case_schema, header_schema, is_plainly_right
from cce.measurement.strict_json import parse_json
from cce.quoting import quoted, shown_integer
from cce.tokens import WHITE_SPACE

if TYPE_CHECKING:
    from pydantic_core import CoreSchema, SchemaValidator, ValidationError

SCHEMA = "cce.relevance/v1"

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


class Header(NamedTuple):
    """What a set's first line may say: the default corpus directory as written, if any."""

    corpus: str | None


def parse_entry(line: bytes, number: int, first_line: int | None) -> Header | Case | None:
    """What line `number` says, None if it is blank; raises CceError without a place.

    `first_line` is the line of what stands first in the set, None if that is this one.
    """
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
    value = parse_json(line)
    if not isinstance(value, dict):
        raise FixtureError(f"each line must be a JSON object, got {_shown(value)}")
    return value


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
    if not isinstance(entry.get("corpus", ""), str):
        entry = _checked(entry, header_schema)
    corpus: str | None = entry.get("corpus")
    return corpus


def _parse_case(entry: dict[str, Any], line: int) -> Case:
    fields = DEFAULTS | entry if is_plainly_right(entry) else _checked(entry, case_schema)
    case = _build_case(fields, line)
    if not case.query:
        raise FixtureError(f"query must be {_RULES['query']}, got {_shown(entry['query'])}")
    strays = case.grades.keys() - {anchor.text for anchor in case.anchors}
    if strays:
        raise FixtureError(f"grades names {quoted(min(strays))}, which is not in expected, spell both alike")
    return case


@cache
def _validator(build_schema: Callable[[], CoreSchema]) -> SchemaValidator:
    from pydantic_core import SchemaValidator

    return SchemaValidator(build_schema())


def _checked(entry: dict[str, Any], build_schema: Callable[[], CoreSchema]) -> dict[str, Any]:
    """The fields of `entry` that `schema` knows, with its defaults."""
    from pydantic_core import ValidationError

    try:
        fields: dict[str, Any] = _validator(build_schema).validate_python(entry)
    except ValidationError as exc:
        raise FixtureError(_field_fault(exc)) from exc
    return fields


def _build_case(fields: dict[str, Any], line: int) -> Case:
    return Case(
        id=fields["id"] if isinstance(fields["id"], str) else f"q{line}",
        query=fields["query"].strip(WHITE_SPACE),
        anchors=tuple(map(parse_anchor, fields["expected"])),
        k=fields["k"],
        line=line,
        tags=tuple(fields["tags"]),
        grades=MappingProxyType(fields["grades"]),
        critical=fields["critical"],
        note=fields["note"] or None,
        pins=MappingProxyType(fields["pins"]),
    )


def _field_fault(exc: ValidationError) -> str:
    """The first fault of a line in our words: the rule of its field and what stands there."""
    fault = exc.errors(include_url=False, include_context=False)[0]
    field, *inner = fault["loc"]
    rule = _RULES[str(field)]
    if fault["type"] == "missing":
        if field == "expected" and "candidates" in fault["input"]:
            return "expected is missing: judge the candidates with cce fixtures label, or remove the line"
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
        case int():
            return shown_integer(value)
        case list():
            return "an array" if value else "an empty array"
        case dict():
            return "an object"
    return str(value)
