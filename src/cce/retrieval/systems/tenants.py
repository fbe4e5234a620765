"""The reader of tenants files: a `cce.tenants/v1` TOML file in, one scope per tenant out.

A tenant may see what the file shares and what it includes, without what it excludes: nobody else's files.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from cce.domain.scope import Scope
from cce.domain.systems import NAME, NAME_RULE, is_system_name
from cce.errors import OutsideSystemError
from cce.files import read_bytes
from cce.quoting import on_one_line, quoted
from cce.toml_tables import field_fault, parse_toml, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel

SCHEMA = "cce.tenants/v1"

_PATTERNS = 'an array of patterns as in .gitignore such as ["docs/**"]'
_RULES = {
    "shared": f"{_PATTERNS}: the files of every tenant",
    "tenant": "tables such as [tenant.kestrel]",
    "include": _PATTERNS,
    "exclude": f"{_PATTERNS}; it wins over shared",
}


def read_tenants(path: str) -> Mapping[str, Scope]:
    """The files that each tenant may see, by name; raises OutsideSystemError."""
    raw = read_bytes(path, "the tenants file", OutsideSystemError, "name a readable TOML file")
    try:
        return parse_tenants(raw)
    except OutsideSystemError as exc:
        raise OutsideSystemError(f"{on_one_line(path)}{exc}") from exc


def parse_tenants(raw: bytes) -> Mapping[str, Scope]:
    """As `read_tenants`, for the bytes of a file; messages go on where its path ends."""
    from pydantic import ValidationError

    table = parse_toml(raw, OutsideSystemError, "tenants file")
    if table.get("schema") != SCHEMA:
        found = f"unsupported schema {shown(table['schema'])}" if "schema" in table else "no schema"
        raise OutsideSystemError(f': {found}, write schema = "{SCHEMA}"')
    try:
        values: dict[str, Any] = (
            tenants_model()
            .model_validate({key: value for key, value in table.items() if key != "schema"})
            .model_dump()
        )
    except ValidationError as exc:
        faults = exc.errors(include_url=False, include_context=False)
        raise OutsideSystemError(field_fault(faults, _rule, _known_keys)) from exc
    return {name: _scope(name, tenant, values["shared"]) for name, tenant in values["tenant"].items()}


def _scope(name: str, tenant: Mapping[str, Sequence[str]], shared: Sequence[str]) -> Scope:
    if not is_system_name(name):
        raise OutsideSystemError(f": tenant {quoted(name)}: {NAME_RULE}")
    return Scope(name, (*shared, *tenant["include"]), tuple(tenant["exclude"]))


@cache
def tenants_model() -> type[BaseModel]:
    """The pydantic model of a tenants file, but for its schema; built when it is first needed."""
    from pydantic import BaseModel, ConfigDict, Field

    strict = ConfigDict(strict=True, extra="forbid")
    patterns = list[Annotated[str, Field(min_length=1)]]

    class TenantTable(BaseModel):
        model_config = strict
        include: patterns = []
        exclude: patterns = []

    class TenantsTable(BaseModel):
        model_config = strict
        shared: patterns = []
        tenant: Annotated[dict[str, TenantTable], Field(min_length=1)]

    return TenantsTable


def _rule(steps: Sequence[int | str]) -> str:
    keys = [step for step in steps if isinstance(step, str)]
    if len(keys) > 2:
        return _RULES[keys[2]]
    return _RULES[keys[0]] if len(keys) == 1 else "a table"


def _known_keys(steps: Sequence[int | str]) -> list[str]:
    return ["include", "exclude"] if steps else ["schema", "shared", "tenant"]


def tenants_schema() -> dict[str, Any]:
    """The JSON Schema of a tenants file, once its TOML is read."""
    schema = tenants_model().model_json_schema()
    for table in (schema, *schema["$defs"].values()):
        table.pop("title", None)
        for key, field in table["properties"].items():
            field.pop("title", None)
            field["description"] = _RULES[key]
    schema["properties"]["tenant"]["propertyNames"] = {"pattern": f"^{NAME}$"}
    schema["properties"]["schema"] = {"const": SCHEMA, "description": "The format."}
    schema["required"] = ["schema", "tenant"]
    return schema | {"title": f"A tenants file ({SCHEMA})"}
