from __future__ import annotations

import pytest

from cce.retrieval.redaction.sensitive import is_sensitive, is_sensitive_if_strict


@pytest.mark.parametrize(
    "name",
    [
        *("credentials.json", "credentials.yml", "credentials.yaml"),
        *("secrets.json", "secrets.yml", "secrets.yaml"),
        *(".netrc", ".pgpass", ".htpasswd", ".dockercfg", "kubeconfig"),
        *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"),
    ],
)
def test_names_that_promise_secrets_are_sensitive_in_any_case(name: str) -> None:
    assert is_sensitive(name)
    assert is_sensitive(name.upper())
    assert is_sensitive(name.title())


@pytest.mark.parametrize(
    "name", ["credentials.toml", "my-secrets.json", "secrets.json.py", "netrc", "id_rsa.pub"]
)
def test_names_that_only_resemble_them_are_not(name: str) -> None:
    assert not is_sensitive(name)


@pytest.mark.parametrize("extension", ["pem", "key", "p12", "pfx", "keystore", "jks", "ppk", "der", "asc"])
def test_the_last_extension_decides(extension: str) -> None:
    assert is_sensitive(f"server.{extension}")
    assert is_sensitive(f"server.{extension.upper()}")
    assert is_sensitive(f"server.old.{extension}")
    assert not is_sensitive(f"server.{extension}.py")
    assert not is_sensitive(f"server{extension}")


def test_a_leading_dot_opens_no_extension() -> None:
    assert not is_sensitive(".key")
    assert is_sensitive(".a.key")
    assert is_sensitive("..key")


def test_a_trailing_dot_leaves_an_empty_extension() -> None:
    assert not is_sensitive("key.")
    assert not is_sensitive("server.pem.")


@pytest.mark.parametrize(
    "name", [".env", ".ENV", ".env.local", ".env.example.local", ".env.", ".env.examples"]
)
def test_environment_files_are_sensitive(name: str) -> None:
    assert is_sensitive(name)


@pytest.mark.parametrize("ending", [".example", ".sample", ".template", ".dist", ".DIST"])
def test_samples_of_environment_files_are_not(ending: str) -> None:
    assert not is_sensitive(f".env{ending}")
    assert not is_sensitive(f".env.production{ending}")


@pytest.mark.parametrize("name", ["env", ".envrc", "prod.env", ".environment", ""])
def test_other_names_around_env_are_not(name: str) -> None:
    assert not is_sensitive(name)


@pytest.mark.parametrize(
    "path",
    [
        ".npmrc",
        "web/.npmrc",
        ".pypirc",
        ".git-credentials",
        "terraform.tfstate",
        "prod/terraform.tfstate.backup",
        "terraform.tfvars",
        "prod.auto.tfvars.json",
        ".docker/config.json",
        "home/.aws/credentials",
        "keys.kdbx",
        ".my.cnf",
        "config/master.key.gpg",
    ],
)
def test_strictly_more_names_promise_secrets(path: str) -> None:
    assert is_sensitive_if_strict(path)
    assert is_sensitive_if_strict(path.upper())
    assert not is_sensitive(path.rpartition("/")[2])


@pytest.mark.parametrize(
    "path",
    ["npmrc.md", "config.json", "docker/config.json", "main.tf", "terraform.tfvars.example", "credentials"],
)
def test_names_that_only_look_like_them_are_opened(path: str) -> None:
    assert not is_sensitive_if_strict(path)
