"""The tables of a systems file: TOML text in, checked values out, each fault named by its key.

`file` makes domain values of them. pydantic checks the tables; the rules below are the words of its faults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, cast

from cce.domain.systems import NAME
from cce.errors import OutsideSystemError
from cce.toml_tables import field_fault, parse_toml, shown

if TYPE_CHECKING:
    from pydantic import BaseModel

SCHEMA = "cce.systems/v1"

SOURCES = ("backend", "command", "url", "object", "run")
"""The keys of which a table has exactly one: they say what answers."""

_PATTERNS = 'an array of patterns as in .gitignore such as ["docs/**"]'
_SECONDS = "seconds, a number above 0 such as 30"
_NAME_RULE = 'a text such as "hybrid"'
# By the innermost key that has a rule of its own.
RULES = {
    "system": "tables such as [system.mine]",
    "scope": "the name of a scope, or tables such as [scope.current]",
    "backend": "the name of a backend or of another system of this file",
    "options": "a table of the backend's or factory's own options",
    "command": 'an array of words such as ["python", "search.py"]',
    "processes": "a number of processes from 1 to 64",
    "timeout": _SECONDS,
    "start_timeout": _SECONDS,
    "env": 'an array of names such as ["INDEX_DIR"]',
    "root": "a path to cut off the front of what it returns",
    "url": 'an address such as "http://127.0.0.1:8080"',
    "headers": "a table of texts",
    "retries": "a number of retries from 0 to 10",
    "ca": "the path of a file of certificates",
    "object": 'a factory such as "my_package.search:make_retriever"',
    "path": "a folder beside this file",
    "run": "the path of a saved run",
    "order": '"rising" where a smaller score is better, else "falling"',
    "docid": 'a text with {} for the id such as "{}.txt"',
    "collapse": "true or false",
    "repeat": "a number of repeats from 1 to 1000",
    "final": "a number of results, 1 or more",
    "filter": '"before" or "after"',
    "price": "a table of numbers such as { query = 4, pair = 1.5, ktoken = 0.02 }",
    "unit": "a text",
    "ablate": "a table with changes",
    "changes": 'an array of changes such as ["rerank=none", "max_words=8"]',
    "include": _PATTERNS,
    "exclude": _PATTERNS,
    "rerank": 'the name of a reranker, or "none"',
    "rerank_options": "a table of the reranker's own options",
    "embedder": "the name of an embedder",
    "model": "the path of a model",
    "depth": "a number of results, 1 or more",
    "max_words": "a number of words, 1 or more",
    "blend": "true or false",
}


class SystemValues(TypedDict):
    """The keys of one table `system.NAME`; None where it is left out."""

    backend: str | None
    options: dict[str, Any]
    command: list[str] | None
    processes: int
    timeout: float
    start_timeout: float
    env: list[str]
    root: str | None
    url: str | None
    headers: dict[str, str]
    retries: int
    ca: str | None
    object: str | None
    path: str | None
    run: str | None
    order: str | None
    docid: str | None
    collapse: bool
    repeat: int
    scope: str | None
    filter: Literal["before", "after"]
    final: int | None
    price: dict[str, Any] | None
    rerank: str | None
    rerank_options: dict[str, Any] | None
    depth: int | None
    max_words: int | None
    blend: bool | None


class ScopeValues(TypedDict):
    """One table `scope.NAME`."""

    include: list[str] | None
    exclude: list[str]


class AblateValues(TypedDict):
    """The table `ablate`."""

    changes: list[str]


class FileValues(TypedDict):
    """The whole file but its schema."""

    system: dict[str, SystemValues]
    scope: dict[str, ScopeValues]
    ablate: AblateValues


def parse_tables(raw: bytes) -> tuple[FileValues, Mapping[str, frozenset[str]]]:
    """The values that `raw` spells, defaults filled in, and the keys that each system's table has.

    Raises OutsideSystemError with a message that goes on where the path of the file ends.
    """
    table = parse_toml(raw, OutsideSystemError, "systems file")
    if "schema" not in table:
        raise OutsideSystemError(f': no schema, start the file with schema = "{SCHEMA}"')
    if table["schema"] != SCHEMA:
        raise OutsideSystemError(f': unsupported schema {shown(table["schema"])}, write "{SCHEMA}"')
    values = _checked({key: value for key, value in table.items() if key != "schema"})
    systems = cast("Mapping[str, Mapping[str, object]]", table.get("system", {}))
    return values, {name: frozenset(system) for name, system in systems.items()}


@cache
def systems_model() -> type[BaseModel]:
    """The pydantic model of a systems file, but for its schema; built when it is first needed."""
    from pydantic import BaseModel, ConfigDict, Field

    strict = ConfigDict(strict=True, extra="forbid")
    text = Annotated[str, Field(min_length=1)]
    # A TOML author writes 30 where the type says 30.0.
    seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
    amount = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
    count = Annotated[int, Field(ge=1, le=1_000_000)]

    class PriceTable(BaseModel):
        model_config = strict
        query: amount = 0.0
        pair: amount = 0.0
        ktoken: amount = 0.0
        unit: text = "ms"

    class SystemTables(BaseModel):
        model_config = strict
        backend: text | None = None
        options: dict[str, Any] = {}
        command: Annotated[list[text], Field(min_length=1)] | None = None
        processes: Annotated[int, Field(ge=1, le=64)] = 1
        timeout: seconds = 30.0
        start_timeout: seconds = 60.0
        env: list[text] = []
        root: text | None = None
        url: text | None = None
        headers: dict[str, str] = {}
        retries: Annotated[int, Field(ge=0, le=10)] = 2
        ca: text | None = None
        object: text | None = None
        path: text | None = None
        run: text | None = None
        order: Literal["rising", "falling"] | None = None
        docid: text | None = None
        collapse: bool = False
        repeat: Annotated[int, Field(ge=1, le=1000)] = 1
        scope: text | None = None
        filter: Literal["before", "after"] = "before"
        final: count | None = None
        price: PriceTable | None = None
        rerank: text | None = None
        rerank_options: dict[str, Any] | None = None
        depth: count | None = None
        max_words: count | None = None
        blend: bool | None = None

    class ScopeTable(BaseModel):
        model_config = strict
        include: list[text] | None = None
        exclude: list[text] = []

    class AblateTable(BaseModel):
        model_config = strict
        changes: list[text] = []

    class SystemsTable(BaseModel):
        model_config = strict
        system: dict[str, SystemTables] = Field(default_factory=dict)
        scope: dict[str, ScopeTable] = Field(default_factory=dict)
        ablate: AblateTable = Field(default_factory=AblateTable)

    return SystemsTable


def _checked(table: Mapping[str, object]) -> FileValues:
    from pydantic import ValidationError

    try:
        return cast(FileValues, systems_model().model_validate(table).model_dump())
    except ValidationError as exc:
        faults = exc.errors(include_url=False, include_context=False)
        raise OutsideSystemError(field_fault(faults, _rule, _known_keys)) from exc


def _rule(steps: Sequence[int | str]) -> str:
    """A system or scope may be called as a key: only the steps below its name are looked at, if any."""
    inner = [step for step in steps[1 if steps[:1] == ("ablate",) else 2 :] if isinstance(step, str)]
    if "price" in inner and len(inner) > 1:
        return "a number from 0"
    return next((RULES[step] for step in reversed(inner) if step in RULES), "a table")


def _known_keys(steps: Sequence[int | str]) -> list[str]:
    """The keys that the table at these steps may have."""
    schema = systems_model().model_json_schema()
    if not steps:
        return ["schema", *schema["properties"]]
    inner = {"scope": "ScopeTable", "ablate": "AblateTable"}.get(str(steps[0]), "SystemTables")
    name = "PriceTable" if "price" in steps else inner
    return [*schema["$defs"][name]["properties"]]


def systems_schema() -> dict[str, Any]:
    """The JSON Schema of a systems file, once its TOML is read."""
    schema = systems_model().model_json_schema()
    for table in (schema, *schema["$defs"].values()):
        table.pop("title", None)
        for key, field in table["properties"].items():
            field.pop("title", None)
            if key in RULES:
                field["description"] = RULES[key]
            if "anyOf" in field:  # TOML has no null
                field.pop("default")
                field |= field.pop("anyOf")[0]
    for key in ("system", "scope"):
        schema["properties"][key]["propertyNames"] = {"pattern": f"^{NAME}$"}
    schema["$defs"]["SystemTables"]["oneOf"] = [{"required": [source]} for source in SOURCES]
    schema["properties"]["schema"] = {"const": SCHEMA, "description": "The format."}
    schema["required"] = ["schema"]
    return schema | {"title": f"A systems file ({SCHEMA})"}
