"""The tables of a gate policy: TOML text in, checked values out, each fault named by its key.

A PolicyError of this module goes on where the path of the policy ends: `:3: ...` or `: drop: ...`.
Metrics and their places are `policy`'s affair.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, TypedDict, cast, get_args

from cce.domain.evidence import MAX_RESAMPLES, MAX_SEED
from cce.domain.scores import METRICS
from cce.errors import CceError
from cce.quoting import listed, on_one_line, quoted, shown_integer
from cce.registry import nearest_name

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

SCHEMA = "cce.gate/v1"

_PATH_RULE = 'a path such as "code.jsonl"'
_LIMIT_RULE = "a number from 0 to 1 such as 0.9"
_TABLE_RULE = "a table of metrics and numbers from 0 to 1"
_CEILING_RULE = "a number from 0 such as 0.5"
# By the innermost key that has a rule of its own.
RULES = {
    "fixtures": _PATH_RULE,
    "backend": 'the name of a backend such as "hybrid"',
    "baseline": 'a path such as "baseline.json"',
    "baseline_backend": "the name of a backend in the baseline",
    "dir": "a path of a directory",
    "store": "a path of a store",
    "critical": 'an array of case ids such as ["read-config"]',
    "floor": _TABLE_RULE,
    "drop": _TABLE_RULE,
    "ceiling": "a table of metrics and numbers from 0",
    "evidence": 'a table with keys such as metrics = ["mrr"]',
    "metrics": 'an array of metrics such as ["mrr"]',
    "alpha": "a number between 0 and 1 such as 0.05",
    "min_effect": "a number from 0 to 1 such as 0.01",
    "seed": f"an integer from 0 to {MAX_SEED}",
    "resamples": f"an integer from 1 to {MAX_RESAMPLES}",
    "slices": "tables such as [slices.TAG.floor]",
}
# A bare key with a cut-off, at the start of a line or in an inline table.
_BARE_CUTOFF = r"""(?:^|[{,])[ \t]*([A-Za-z][A-Za-z0-9_]*@[0-9]+)[ \t]*="""
_TOML_PLACE = re.compile(r"(.*) \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)", re.DOTALL)
_N_SHOWN = 12

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


class PolicyError(CceError):
    """A policy that cannot be read or makes no sense; the whole message starts with its path."""


class LimitValues(TypedDict):
    """The keys of a policy that set limits, for the whole set or for one slice: metric -> limit."""

    floor: dict[str, float]
    drop: dict[str, float]
    ceiling: dict[str, float]


class EvidenceValues(TypedDict):
    """The table `evidence`."""

    metrics: list[str]
    alpha: float
    min_effect: float
    seed: int
    resamples: int


class PolicyValues(LimitValues):
    """All keys of a policy but its schema, as `policy_model` has checked them."""

    fixtures: str
    backend: str
    baseline: str
    baseline_backend: str | None
    dir: str | None
    store: str | None
    critical: list[str]
    evidence: EvidenceValues | None
    slices: dict[str, LimitValues]


def parse_tables(raw: bytes) -> PolicyValues:
    """The values that `raw` spells, with the defaults of what it leaves out; raises PolicyError."""
    table = _parse_toml(raw)
    _require_schema(table)
    return _checked({key: value for key, value in table.items() if key != "schema"})


def _parse_toml(raw: bytes) -> Mapping[str, object]:
    if len(raw) > MAX_BYTES:
        raise PolicyError(": larger than 1 MiB, no policy needs that much: name the right file")
    try:
        text = raw.decode("utf-8-sig")
        if _has_long_key(text):
            raise PolicyError(f": a key of more than {MAX_KEY_PARTS} parts, a policy needs no more than four")
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise PolicyError(_toml_fault(str(exc)) + _quoting_hint(text, str(exc))) from exc
    except UnicodeDecodeError as exc:
        raise PolicyError(": not UTF-8, save the file as UTF-8") from exc
    except (ValueError, RecursionError) as exc:
        raise PolicyError(": no readable TOML (a number too long or values nested too deep)") from exc


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
    """How to write the key, where the line of the fault has one with a cut-off and without quotes."""
    match = _TOML_PLACE.fullmatch(wording)
    if match is None or not match[2]:
        return ""
    key = re.search(_BARE_CUTOFF, text.split("\n")[int(match[2]) - 1])
    return f'; a name with @ needs quotes, write "{key[1]}" = ...' if key else ""


def _require_schema(table: Mapping[str, object]) -> None:
    if "schema" not in table:
        raise PolicyError(f': no schema, start the policy with schema = "{SCHEMA}"')
    if table["schema"] != SCHEMA:
        raise PolicyError(f': unsupported schema {_shown(table["schema"])}, write "{SCHEMA}"')


@cache
def policy_model() -> type[BaseModel]:
    """The pydantic model of a policy, but for its schema; built when it is first needed."""
    from pydantic import BaseModel, ConfigDict, Field

    unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    text = Annotated[str, Field(min_length=1)]

    class LimitTables(BaseModel):
        model_config = ConfigDict(strict=True, extra="forbid")
        floor: dict[str, unit] = {}
        drop: dict[str, unit] = {}
        ceiling: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = {}

    class EvidenceTable(BaseModel):
        model_config = ConfigDict(strict=True, extra="forbid")
        metrics: Annotated[list[str], Field(min_length=1)] = [*METRICS]
        alpha: Annotated[float, Field(ge=1e-6, le=0.999999)] = 0.05
        min_effect: unit = 0.0
        seed: Annotated[int, Field(ge=0, le=MAX_SEED)] = 0
        resamples: Annotated[int, Field(ge=1, le=MAX_RESAMPLES)] = 10_000

    class PolicyTable(LimitTables):
        fixtures: text
        backend: text
        baseline: text
        baseline_backend: text | None = None
        dir: text | None = None
        store: text | None = None
        critical: list[str] = Field(default_factory=list)
        evidence: EvidenceTable | None = None
        slices: dict[str, LimitTables] = Field(default_factory=dict)

    return PolicyTable


def _checked(table: Mapping[str, object]) -> PolicyValues:
    from pydantic import ValidationError

    try:
        return cast(PolicyValues, policy_model().model_validate(table).model_dump())
    except ValidationError as exc:
        raise PolicyError(_field_fault(exc)) from exc


def _field_fault(exc: ValidationError) -> str:
    """The first fault, a wrong key before a missing one: it may be the missing one, misspelled."""
    faults = exc.errors(include_url=False, include_context=False)
    fault = min(faults, key=lambda each: each["type"] != "extra_forbidden")
    *outer, key = fault["loc"]
    if fault["type"] == "extra_forbidden":
        return f": {_place(outer)}{unknown('key', str(key), _known_keys(outer))}"
    place = _place(fault["loc"])
    rule = _limit_rule(outer) or _rule(fault["loc"])
    if fault["type"] == "missing":
        return f": {place}missing, it must be {rule}"
    return f": {place}must be {rule}, got {_shown(fault['input'])}"


def _limit_rule(outer: Sequence[int | str]) -> str | None:
    """The rule of a value in the table at `outer`, if that is a table of limits."""
    if not outer or outer[-1] not in ("floor", "drop", "ceiling"):
        return None
    return _CEILING_RULE if outer[-1] == "ceiling" else _LIMIT_RULE


def _rule(steps: tuple[int | str, ...]) -> str:
    return next(RULES[step] for step in reversed(steps) if isinstance(step, str) and step in RULES)


def _place(steps: Iterable[object]) -> str:
    keys = ".".join(on_one_line(step) for step in steps if isinstance(step, str))
    return f"{keys}: " if keys else ""


def _known_keys(outer: list[int | str]) -> list[str]:
    """The keys that the table at `outer` may have."""
    fields = policy_model().model_fields
    if not outer:
        return ["schema", *fields]
    # `EvidenceTable | None` and `dict[str, LimitTables]`: the model is one of their arguments.
    tables = (part for part in get_args(fields[str(outer[0])].annotation) if hasattr(part, "model_fields"))
    return [*next(tables).model_fields]


def unknown(noun: str, name: str, known: Iterable[str]) -> str:
    """As for every unknown name, but a set may know thousands: only the first few are listed."""
    known = [on_one_line(each) for each in known]
    nearest = nearest_name(name, known)
    hint = "" if nearest is None else f"; did you mean '{nearest}'?"
    names = listed(known, len(known), _N_SHOWN) or "none"
    return f"unknown {noun} {quoted(name)}{hint} (known: {names})"


def _shown(value: object) -> str:
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
