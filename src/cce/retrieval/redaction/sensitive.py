"""File names that promise secrets: base names in, yes or no out; such files are never opened."""

from __future__ import annotations

_NAMES = frozenset(
    f"{stem}.{extension}" for stem in ("credentials", "secrets") for extension in ("json", "yml", "yaml")
) | {
    ".netrc",
    ".pgpass",
    ".htpasswd",
    ".dockercfg",
    "kubeconfig",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
}
_EXTENSIONS = frozenset({"pem", "key", "p12", "pfx", "keystore", "jks", "ppk", "der", "asc"})
_STRICT_NAMES_TEXT = """
    .npmrc .yarnrc .yarnrc.yml .pypirc .git-credentials .gitcredentials .vault-token .vault_pass .my.cnf
    .mylogin.cnf .boto .s3cfg .terraformrc terraform.rc .dockerconfigjson .bash_history .zsh_history
    .psql_history .mysql_history .python_history .irb_history application_default_credentials.json
    master.key credentials.toml credentials.xml .netrc.gpg _netrc id_ecdsa_sk id_ed25519_sk secrets.toml
    secrets.ini secrets.env local.settings.json
"""
_STRICT_EXTENSIONS = frozenset(
    {"tfstate", "tfvars", "pkcs12", "pkcs8", "bks", "kdbx", "kdb", "agekey", "ovpn", "gpg", "pgp"}
)
_STRICT_NAMES = frozenset(_STRICT_NAMES_TEXT.split())
# Names that say nothing alone: the folder they are in does.
_STRICT_ENDINGS = (
    ".docker/config.json",
    ".aws/credentials",
    ".aws/config",
    ".kube/config",
    ".gem/credentials",
    ".cargo/credentials",
    ".config/gh/hosts.yml",
)
_SAMPLE_ENDINGS = (".example", ".sample", ".template", ".dist")


def is_sensitive(base_name: str) -> bool:
    """Whether a file of this name (no directory part) is left closed, in whatever case it is written."""
    name = base_name.lower()
    return name in _NAMES or _extension(name) in _EXTENSIONS or _is_environment(name)


def is_sensitive_if_strict(path: str) -> bool:
    """Whether the file `path` is left closed besides where the strict rules hold; a sample is opened."""
    lowered = path.lower()
    name = lowered.rpartition("/")[2]
    is_state_backup = name.endswith((".tfstate.backup", ".tfvars.json"))
    is_in_folder = any(f"/{lowered}".endswith(f"/{ending}") for ending in _STRICT_ENDINGS)
    return name in _STRICT_NAMES or _extension(name) in _STRICT_EXTENSIONS or is_state_backup or is_in_folder


def _extension(name: str) -> str | None:
    stem, dot, extension = name.rpartition(".")
    return extension if dot and stem else None  # a leading dot hides a file, it opens no extension


def _is_environment(name: str) -> bool:
    return name == ".env" or (name.startswith(".env.") and not name.endswith(_SAMPLE_ENDINGS))
