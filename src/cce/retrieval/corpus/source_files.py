"""The corpus: a directory in, source files with scrubbed text out, and a reason for every file left out.

Two steps that may run apart, the second in other processes: `walk` lists the files, `read_raw` reads
one of them and `read_source` scrubs it as well. Which files the rules leave is `gitignore.py`'s
business, what counts as secret that of `sensitive.py` and `redaction.py`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

from cce.domain.redaction import Redaction
from cce.retrieval.corpus.gitignore import list_files
from cce.retrieval.redaction.sensitive import is_sensitive, is_sensitive_if_strict

MAX_BYTES = 2 * 1024 * 1024
_MIN_READ = 1 << 16

# A link or a pipe that took the file's place since the walk is not followed, and does not block.
_OPEN_FLAGS = os.O_RDONLY | sum(
    getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_NOINHERIT", "O_BINARY")
)


class SkipReason(Enum):
    """Why a file is not indexed; the value is the text for people."""

    SENSITIVE = "its name promises secrets"
    JSONL = "a .jsonl file"
    TOO_LARGE = "larger than 2 MiB"
    UNREADABLE = "unreadable"
    NOT_UTF8 = "not UTF-8"
    NAME_NOT_UTF8 = "its name is not UTF-8"


class SourceFile(NamedTuple):
    """One file to index: `path` is relative and `/`-separated, `text` is UTF-8, scrubbed of its secrets."""

    path: str
    text: bytes


class Walk(NamedTuple):
    """What may be read, in byte order of path.

    `skipped` says why a path is missing (a name that is not UTF-8 is spelled with escapes);
    `notices` are one line each: what the walk could not see, and the way out.
    """

    paths: tuple[str, ...]
    skipped: Mapping[str, SkipReason]
    notices: tuple[str, ...]


def walk(root: str) -> Walk:
    """The files of `root` that no rule ignores, none of them opened; raises CorpusError."""
    listing = list_files(root)
    skipped = MappingProxyType(dict.fromkeys(listing.misnamed, SkipReason.NAME_NOT_UTF8))
    return Walk(listing.paths, skipped, listing.notices)


def read_source(root: str, path: str, redaction: Redaction = Redaction.STANDARD) -> SourceFile | SkipReason:
    """One file of a walk with scrubbed text, or why it is not indexed; a sensitive name is not opened."""
    text = read_raw(root, path, redaction)
    return text if isinstance(text, SkipReason) else SourceFile(path, scrub(text, redaction, path))


def read_raw(root: str, path: str, redaction: Redaction) -> bytes | SkipReason:
    """As `read_source`, but the text as it is: UTF-8 that must be scrubbed before anybody keeps it."""
    if redaction is not Redaction.OFF and is_sensitive(path.rpartition("/")[2]):
        return SkipReason.SENSITIVE
    if redaction is Redaction.STRICT and is_sensitive_if_strict(path):
        return SkipReason.SENSITIVE
    if path.endswith(".jsonl"):
        return SkipReason.JSONL
    try:
        text = _read_regular_file(os.path.join(os.fsencode(root), path.encode()))
    except OSError:
        return SkipReason.UNREADABLE
    if len(text) > MAX_BYTES:
        return SkipReason.TOO_LARGE
    try:
        text.decode()
    except UnicodeDecodeError:
        return SkipReason.NOT_UTF8
    return text


def scrub(text: bytes, redaction: Redaction, path: str) -> bytes:
    """What is indexed of the file `path`, which holds `text`."""
    if redaction is Redaction.OFF:
        return text
    if redaction is Redaction.STRICT:
        from cce.retrieval.redaction.strict import redact_strictly

        return redact_strictly(text, path)

    from cce.retrieval.redaction.standard import (
        redact,  # compiling its patterns is spared where no file changed
    )

    return redact(text)


def why_absent(root: str, skipped: Mapping[str, SkipReason], path: str) -> str | None:
    """Why `path`, which is not indexed of `root`, is left out; None if there is no such file."""
    reason = skipped.get(path)
    if reason is not None:
        return reason.value
    directory = os.fsencode(root)
    *parents, name = path.split("/")
    for parent in parents:
        entry = _find_entry(directory, parent)
        if entry is None or not entry.is_dir(follow_symlinks=False):
            return None
        directory = entry.path
    entry = _find_entry(directory, name)
    return "ignored" if entry is not None and entry.is_file(follow_symlinks=False) else None


def _find_entry(directory: bytes, name: str) -> os.DirEntry[bytes] | None:
    """The entry of exactly this name: asking for it would find `a.py` as `A.PY` on some systems."""
    wanted = name.encode(errors="replace")
    try:
        with os.scandir(directory) as entries:
            return next((entry for entry in entries if entry.name == wanted), None)
    except OSError:
        return None


def _read_regular_file(path: bytes) -> bytes:
    """At most one byte more than a corpus takes of a file; raises OSError if it is not a regular one."""
    descriptor = os.open(path, _OPEN_FLAGS)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("not a regular file")
        # Asked for as much as it says it has, the system need not make room for what may be there.
        return _read_at_most(descriptor, MAX_BYTES + 1, max(status.st_size + 1, _MIN_READ))
    finally:
        os.close(descriptor)


def _read_at_most(descriptor: int, n_bytes: int, n_at_once: int) -> bytes:
    """Up to `n_bytes`, however few of them the system hands over at a time."""
    pieces = []
    while n_bytes > 0 and (piece := os.read(descriptor, min(n_bytes, n_at_once))):
        pieces.append(piece)
        n_bytes -= len(piece)
    return b"".join(pieces)
