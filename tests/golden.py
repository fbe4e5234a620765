"""Byte-exact expectations: a mismatch prints a diff, accepting one is a deliberate act."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import pytest


class Goldens:
    """The files of one folder; each must be asked for by some test."""

    def __init__(self, folder: Path, *, accept: bool) -> None:
        """With `accept` what a test measured becomes the expectation; refused in CI."""
        if accept and os.environ.get("CI"):
            raise pytest.UsageError("--accept-goldens is refused in CI: accept on your machine and commit")
        self._folder = folder
        self._accept = accept

    def check(self, name: str, actual: bytes) -> None:
        """Fail with a diff unless the golden called `name` holds exactly `actual`."""
        self.check_file(self._folder / name, actual)

    def check_file(self, file: Path, actual: bytes) -> None:
        """Fail with a diff unless `file`, wherever it lies, holds exactly `actual`."""
        if self._accept:
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(actual)
        expected = file.read_bytes() if file.exists() else b""
        if actual != expected:
            name = file.relative_to(self._folder.parent).as_posix()
            pytest.fail(
                f"{_diff(name, expected, actual)}\nif this is right: pytest --accept-goldens", pytrace=False
            )

    def orphans(self, known: set[str]) -> set[str]:
        """Files in the folder that are not in `known`."""
        return {path.name for path in self._folder.iterdir()} - known


def _diff(name: str, expected: bytes, actual: bytes) -> str:
    lines = difflib.unified_diff(
        expected.decode("utf-8", "backslashreplace").splitlines(),
        actual.decode("utf-8", "backslashreplace").splitlines(),
        name,
        "measured now",
        lineterm="",
    )
    return "\n".join(list(lines)[:60]) or f"{name} differs in line ends or encoding only"
