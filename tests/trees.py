"""Small trees for tests: planted files, links, pipes, and somebody whom permissions bind."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

POSIX_NAMES = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
BYTE_NAMES = pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps names that are not UTF-8")
needs_fifo = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


def plant(root: Path, files: dict[str, str | bytes]) -> Path:
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
    return root


def plant_empty(root: Path, *paths: str) -> Path:
    return plant(root, dict.fromkeys(paths, ""))


def link(target: Path | str, name: Path) -> None:
    try:
        os.symlink(target, name)
    except OSError:
        pytest.skip("links cannot be made here")


@contextmanager
def unprivileged() -> Iterator[None]:
    """As somebody whom permissions bind: the superuser, whom they do not, steps down meanwhile."""
    if not hasattr(os, "geteuid"):
        pytest.skip("no POSIX permissions here")
    if os.geteuid() != 0:
        yield
        return
    try:
        os.seteuid(65534)
    except OSError:
        pytest.skip("running as root, which no permission binds, and unable to step down")
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that other users may enter, unlike `tmp_path`."""
    root = Path(tempfile.mkdtemp())
    root.chmod(0o777)
    yield root
    for directory, _, _ in os.walk(root):
        for name in os.listdir(directory):
            path = Path(directory, name)
            if not path.is_symlink():
                path.chmod(0o755)
    shutil.rmtree(root)


@contextmanager
def unprivileged_with(root: Path, modes: dict[str, int]) -> Iterator[None]:
    """As `unprivileged`, with these permissions below `root`."""
    if not hasattr(os, "geteuid"):
        pytest.skip("no POSIX permissions here")
    for path, mode in modes.items():
        (root / path).chmod(mode)
    try:
        with unprivileged():
            yield
    finally:
        for path in modes:
            (root / path).chmod(0o755)


def write_set(folder: Path, *cases: object) -> None:
    """The file `set.jsonl`: a header that names the corpus `src`, and these lines."""
    lines = [{"schema": "cce.relevance/v1", "corpus": "src"}, *cases]
    (folder / "set.jsonl").write_bytes("".join(json.dumps(line) + "\n" for line in lines).encode())
