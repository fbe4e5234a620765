"""The tables of a gate policy: TOML text in, checked values out, each fault named by its key.

A PolicyError of this module goes on where the path of the policy ends: `:3: ...` or `: drop: ...`.
Metrics and their places are `policy`'s affair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict, cast, get_args

from cce.domain.evidence import MAX_RESAMPLES, MAX_SEED
from cce.domain.scores import METRICS
from cce.errors import CceError
from cce.toml_tables import field_fault, parse_toml, shown

if TYPE_CHECKING:
    from pydantic import BaseModel

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
    "systems": 'a path of a systems file such as "systems.toml"',
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
    "review_p": "a number from 0 to 1 such as 0.2",
    "labels": '"block" or "review"',
    "slices": "tables such as [slices.TAG.floor]",
}


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
    review_p: float


class PolicyValues(LimitValues):
    """All keys of a policy but its schema, as `policy_model` has checked them."""

    fixtures: str
    backend: str
    baseline: str
    baseline_backend: str | None
    dir: str | None
    store: str | None
    systems: str | None
    critical: list[str]
    evidence: EvidenceValues | None
    slices: dict[str, LimitValues]
    labels: str


def parse_tables(raw: bytes) -> PolicyValues:
    """The values that `raw` spells, with the defaults of what it leaves out; raises PolicyError."""
    table = parse_toml(raw, PolicyError, "policy")
    _require_schema(table)
    return _checked({key: value for key, value in table.items() if key != "schema"})


def _require_schema(table: Mapping[str, object]) -> None:
    if "schema" not in table:
        raise PolicyError(f': no schema, start the policy with schema = "{SCHEMA}"')
    if table["schema"] != SCHEMA:
        raise PolicyError(f': unsupported schema {shown(table["schema"])}, write "{SCHEMA}"')


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
        review_p: unit = 1.0

    class PolicyTable(LimitTables):
        fixtures: text
        backend: text
        baseline: text
        baseline_backend: text | None = None
        dir: text | None = None
        store: text | None = None
        systems: text | None = None
        critical: list[str] = Field(default_factory=list)
        evidence: EvidenceTable | None = None
        slices: dict[str, LimitTables] = Field(default_factory=dict)
        labels: Literal["review", "block"] = "review"

    return PolicyTable


def _checked(table: Mapping[str, object]) -> PolicyValues:
    from pydantic import ValidationError

    try:
        return cast(PolicyValues, policy_model().model_validate(table).model_dump())
    except ValidationError as exc:
        raise PolicyError(
            field_fault(exc.errors(include_url=False, include_context=False), _rule, _known_keys)
        ) from exc


def _rule(steps: Sequence[int | str]) -> str:
    if len(steps) > 1 and steps[-2] in ("floor", "drop", "ceiling"):
        return _CEILING_RULE if steps[-2] == "ceiling" else _LIMIT_RULE
    return next(RULES[step] for step in reversed(steps) if isinstance(step, str) and step in RULES)


def _known_keys(outer: Sequence[int | str]) -> list[str]:
    """The keys that the table at `outer` may have."""
    fields = policy_model().model_fields
    if not outer:
        return ["schema", *fields]
    # `EvidenceTable | None` and `dict[str, LimitTables]`: the model is one of their arguments.
    tables = (part for part in get_args(fields[str(outer[0])].annotation) if hasattr(part, "model_fields"))
    return [*next(tables).model_fields]
