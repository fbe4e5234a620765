"""What a line of a fixture set may hold.

The schemas are pydantic's own core schemas, written down: the same checks as a model's, without the
Python layer that builds models. They judge every line that is not plainly right; most are, and
importing what asks a schema takes longer than reading most sets.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

DEFAULTS: dict[str, Any] = {
    "id": None,
    "k": 10,
    "tags": [],
    "grades": {},
    "critical": False,
    "note": "",
    "pins": {},
}
_TYPES = {
    "query": str,
    "expected": list,
    "k": int,
    "tags": list,
    "grades": dict,
    "critical": bool,
    "note": str,
    "pins": dict,
}
_PIN = "[0-9a-f]{16}"


def is_plainly_right(entry: dict[str, Any]) -> bool:
    """Whether the schema of a case would find nothing to say of `entry`."""
    return (
        "query" in entry
        and "expected" in entry
        # Exact types: to Python true is an integer, too.
        and all(type(entry[key]) is wanted for key, wanted in _TYPES.items() if key in entry)
        and len(entry["expected"]) > 0
        and entry.get("k", 1) > 0
        and all(type(each) is str for key in ("expected", "tags") for each in entry.get(key, ()))
        and all(type(grade) is int and 1 <= grade <= 3 for grade in entry.get("grades", {}).values())
        and all(type(pin) is str and re.fullmatch(_PIN, pin) for pin in entry.get("pins", {}).values())
    )


# pydantic is imported inside functions: whoever imports this module without reading must not pay for it.


@cache
def header_schema() -> CoreSchema:
    """What a header line may hold."""
    from pydantic_core import core_schema as cs

    corpus = cs.typed_dict_field(cs.str_schema(), required=False)
    return cs.typed_dict_schema({"corpus": corpus}, config=cs.CoreConfig(strict=True))


@cache
def case_schema() -> CoreSchema:
    """What a case line must and may hold; other keys are passed over."""
    from pydantic_core import core_schema as cs

    text = cs.str_schema()
    fields = {
        "query": cs.typed_dict_field(text),
        "expected": cs.typed_dict_field(cs.list_schema(text, min_length=1)),
    }
    optional: dict[str, CoreSchema] = {
        "id": cs.any_schema(),
        "k": cs.int_schema(gt=0),
        "tags": cs.list_schema(text),
        "grades": cs.dict_schema(text, cs.int_schema(ge=1, le=3)),
        "critical": cs.bool_schema(),
        "note": text,
        "pins": cs.dict_schema(text, cs.str_schema(pattern=f"^{_PIN}$")),
    }
    for key, schema in optional.items():
        with_default = cs.with_default_schema(schema, default=DEFAULTS[key])
        fields[key] = cs.typed_dict_field(with_default, required=False)
    return cs.typed_dict_schema(fields, config=cs.CoreConfig(strict=True))
