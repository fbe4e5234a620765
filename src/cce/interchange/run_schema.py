"""The JSON Schema of one line of a `cce.run/v1` file; a test holds it to what the reader takes."""

from __future__ import annotations

from typing import Any

SCHEMA = "cce.run/v1"

_NAMES = {"type": "array", "items": {"type": "string"}}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _count(description: str, least: int = 1) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "description": description}


def _table(description: str, required: list[str], properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "description": description, "required": required, "properties": properties}


def run_line_schema() -> dict[str, Any]:
    """The JSON Schema of one line of a run: the header, or the answer to a query."""
    return {
        "title": f"One line of a run ({SCHEMA})",
        "anyOf": [_header() | {"title": "Header"}, _answer() | {"title": "Answer"}],
    }


def _header() -> dict[str, Any]:
    return _table(
        "The first line; only it has a schema.",
        ["schema"],
        {
            "schema": {"const": SCHEMA, "description": "The format."},
            "system": _text("What ranked."),
            "name": _text("What the system calls itself."),
            "version": _text("Its version, as it says."),
            "table": {"type": "object", "description": "How it was described, without secrets."},
            "corpus": _text("16 hex digits over the paths and the content of the corpus."),
        },
    )


def _answer() -> dict[str, Any]:
    error = {"message": _text("What went wrong."), "code": _text("A short name for it.")}
    scope = {
        "name": _text("Its name."),
        "include": _NAMES | {"description": "Patterns of the files that count; all where there is none."},
        "exclude": _NAMES | {"description": "Patterns of the files that do not."},
    }
    answer = _table(
        "What was answered to a query.",
        ["id"],
        {
            "id": _text("The id of the case."),
            "results": {"type": "array", "items": _result(), "description": "The results, best first."},
            "error": _table("In place of results.", ["message"], error),
            "k": _count("How many results were asked for."),
            "query": _text("What was asked."),
            "repeat": _count("Which time it was asked, from 0.", least=0),
            "scope": _table("What the question was limited to.", [], scope),
            "tenant": _text("Who asked."),
        },
    )
    return answer | {"oneOf": [{"required": ["results"]}, {"required": ["error"]}]}


def _result() -> dict[str, Any]:
    result = _table(
        "A place.",
        ["path"],
        {
            "path": _text("The file, relative to the corpus."),
            "start": _count("The first line, from 1."),
            "end": _count("The last line, inclusive."),
            "kind": _text("The kind of the piece."),
            "score": {"type": "number", "description": "What it was ranked by; the order is the ranking."},
            "text": _text("The text of the piece."),
        },
    )
    return result | {"dependentRequired": {"start": ["end"], "end": ["start"]}}
