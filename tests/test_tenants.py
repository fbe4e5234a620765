from __future__ import annotations

from pathlib import Path

import pytest

from cce.domain.scope import Scope
from cce.errors import OutsideSystemError
from cce.retrieval.systems.tenants import parse_tenants, read_tenants

FILE = """\
schema = "cce.tenants/v1"
shared = ["docs/**"]
[tenant.kestrel]
include = ["kestrel/**"]
exclude = ["kestrel/drafts/**"]
[tenant.harbor]
"""


def test_a_tenant_sees_what_is_shared_and_its_own_without_what_it_excludes() -> None:
    assert parse_tenants(FILE.encode()) == {
        "kestrel": Scope("kestrel", ("docs/**", "kestrel/**"), ("kestrel/drafts/**",)),
        "harbor": Scope("harbor", ("docs/**",)),
    }


def test_a_tenant_without_patterns_sees_nothing_and_not_everything() -> None:
    assert parse_tenants(b'schema = "cce.tenants/v1"\n[tenant.a]\n') == {"a": Scope("a", ())}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", ': no schema, write schema = "cce.tenants/v1"'),
        ('schema = "cce.systems/v1"', ": unsupported schema 'cce.systems/v1', write"),
        ('schema = "cce.tenants/v1"', ": tenant: missing, it must be tables such as"),
        ('schema = "cce.tenants/v1"\n[tenants.a]', "unknown key 'tenants'; did you mean 'tenant'"),
        (
            'schema = "cce.tenants/v1"\n[tenant.a]\nincludes = []',
            "tenant.a: unknown key 'includes'",
        ),
        (
            'schema = "cce.tenants/v1"\n[tenant.a]\ninclude = "x"',
            "tenant.a.include: must be an array",
        ),
        ('schema = "cce.tenants/v1"\n[tenant."a b"]', ": tenant 'a b': a name has 1 to 64 ASCII letters"),
        ('schema = "cce.tenants/v1"\nshared = [', "no readable TOML"),
    ],
)
def test_a_faulty_file_is_one_line_with_the_key(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "tenants.toml"
    path.write_text(text)
    with pytest.raises(OutsideSystemError) as caught:
        read_tenants(str(path))
    assert str(caught.value).startswith(f"{path}:")
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)
