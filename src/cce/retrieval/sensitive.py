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
_SAMPLE_ENDINGS = (".example", ".sample", ".template", ".dist")


def is_sensitive(base_name: str) -> bool:
    """Whether a file of this name (no directory part) is left closed, in whatever case it is written."""
    name = base_name.lower()
    return name in _NAMES or _extension(name) in _EXTENSIONS or _is_environment(name)


def _extension(name: str) -> str | None:
    stem, dot, extension = name.rpartition(".")
    return extension if dot and stem else None  # a leading dot hides a file, it opens no extension


def _is_environment(name: str) -> bool:
    return name == ".env" or (name.startswith(".env.") and not name.endswith(_SAMPLE_ENDINGS))
