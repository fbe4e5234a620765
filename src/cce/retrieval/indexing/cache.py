"""The cache: the last segment of every corpus, so that a run costs what has changed since.

Whether a file is the same is decided by its content, never by its times. One snapshot a corpus
holds every file on its own, so one changed file costs one file. Only scrubbed text gets here, never
into the corpus itself, and into a folder that only its owner may read. A cache that cannot be used
is no error: the run takes longer.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from cce.atomic import write_atomically
from cce.domain.redaction import Redaction
from cce.errors import UsageError
from cce.quoting import quoted
from cce.retrieval.chunking.languages import CHUNK_KINDS, PACKS
from cce.retrieval.indexing.segment import Segment
from cce.retrieval.indexing.snapshots import Snapshot, encode_snapshot, read_corpus, read_snapshot

if TYPE_CHECKING:
    from cce.retrieval.indexing.stat_records import StatRecords

# Raised whenever the same file would be scrubbed, cut, counted or named differently.
PIPELINE_VERSION = 2
_SUFFIX = ".segment"
_RECORDS_SUFFIX = ".stat"
_LIMIT_VARIABLE = "CCE_CACHE_BYTES"
# The limit where nobody sets one: a snapshot of 1.3 GB of source has 1.6 GB.
_LEAST_LIMIT = 4 << 30
_SHARE_OF_FREE_SPACE = 10
_MAX_DIGITS = 18


class Entry(NamedTuple):
    """One snapshot: its file name, size in bytes, time of last use and the directory it was made of.

    `corpus` is None where the file does not say so, as those of earlier versions.
    """

    name: str
    n_bytes: int
    used: float
    corpus: str | None

    @property
    def is_orphan(self) -> bool:
        """Whether nobody can use it any more: its directory is gone, or unknown."""
        return self.corpus is None or not os.path.isdir(self.corpus)


class Cache:
    """Snapshots in one folder, as many as a limit allows.

    Those of directories that are gone are dropped first, then the least recently used ones, never the
    newest. `evicted` has what this process dropped.
    """

    def __init__(self, folder: str, max_bytes: int | None = None) -> None:
        """`max_bytes` is None for the larger of 4 GiB and a tenth of the free space of the disk."""
        self.folder = folder
        self._max_bytes = max_bytes
        self.evicted: list[Entry] = []

    @property
    def max_bytes(self) -> int:
        """How many bytes all snapshots together may have."""
        if self._max_bytes is not None:
            return self._max_bytes
        return max(_LEAST_LIMIT, _free_bytes(self.folder) // _SHARE_OF_FREE_SPACE)

    def load(self, corpus: str, redaction: Redaction = Redaction.STANDARD) -> Snapshot | None:
        """The last segment of the directory `corpus`, if a sound one of this pipeline is there."""
        path = self._path(corpus, redaction)
        snapshot = read_snapshot(path, _fingerprint_with(redaction))
        if snapshot is not None:
            with contextlib.suppress(OSError):
                os.utime(path)
        return snapshot

    def save(
        self, corpus: str, segment: Segment, redaction: Redaction = Redaction.STANDARD
    ) -> Snapshot | None:
        """Keep `segment` for the directory `corpus`; None where the folder may not be used."""
        with contextlib.suppress(OSError):
            if self._prepare_folder(corpus):
                root, digest = os.path.realpath(corpus), b""

                def pieces() -> Iterator[bytes]:
                    nonlocal digest
                    for piece in encode_snapshot(segment, root, _fingerprint_with(redaction)):
                        digest = bytes(piece)
                        yield digest

                path = self._path(corpus, redaction)
                write_atomically(path, pieces(), is_durable=False)
                self._evict(os.path.basename(path))
                return Snapshot(segment, digest.hex())
        return None

    def load_records(self, corpus: str, redaction: Redaction, snapshot: Snapshot) -> StatRecords | None:
        """What was seen when the files of `snapshot` were last read, if that was kept."""
        from cce.retrieval.indexing.stat_records import read_records  # for commands that trust them

        return read_records(self._path(corpus, redaction) + _RECORDS_SUFFIX, snapshot.digest)

    def save_records(
        self, corpus: str, redaction: Redaction, snapshot: Snapshot, records: StatRecords
    ) -> None:
        """Keep what was seen when the files of `snapshot` were read; beside a snapshot, so never alone."""
        from cce.retrieval.indexing.stat_records import encode_records

        with contextlib.suppress(OSError):
            if self._prepare_folder(corpus):
                content = encode_records(records, snapshot.digest)
                write_atomically(self._path(corpus, redaction) + _RECORDS_SUFFIX, content, is_durable=False)

    def entries(self) -> list[Entry]:
        """All snapshots, the most recently used first."""
        with contextlib.suppress(OSError):
            return sorted(self._scan(), key=lambda entry: (-entry.used, entry.name))
        return []

    def clear(self) -> int:
        """Remove all snapshots; returns how many bytes they had."""
        n_bytes = 0
        for entry in self.entries():
            with contextlib.suppress(OSError):
                self._remove(entry)
                n_bytes += entry.n_bytes
        return n_bytes

    def _path(self, corpus: str, redaction: Redaction) -> str:
        identity = hashlib.blake2b(os.fsencode(os.path.realpath(corpus)), digest_size=16).hexdigest()
        return os.path.join(self.folder, f"{identity}{_mode(redaction)}{_SUFFIX}")

    def _prepare_folder(self, corpus: str) -> bool:
        """Make the folder private; False if it is somebody else's, or inside the corpus."""
        corpus_root, folder = os.path.realpath(corpus), os.path.realpath(self.folder)
        if folder == corpus_root or folder.startswith(corpus_root.rstrip(os.sep) + os.sep):
            return False
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        status = os.stat(self.folder)
        if sys.platform != "win32":
            if status.st_uid != os.geteuid():
                return False
            if stat.S_IMODE(status.st_mode) != 0o700:
                os.chmod(self.folder, 0o700)
        return True

    def _evict(self, newest: str) -> None:
        """Drop what is above the limit, but for `newest`: a run would else write what no run ever reads."""
        entries = self.entries()
        excess = sum(entry.n_bytes for entry in entries) - self.max_bytes
        if excess <= 0:
            return
        for entry in sorted(entries, key=lambda entry: (not entry.is_orphan, entry.used, entry.name)):
            if excess > 0 and entry.name != newest:
                with contextlib.suppress(OSError):
                    self._remove(entry)
                    excess -= entry.n_bytes
                    self.evicted.append(entry)

    def _remove(self, entry: Entry) -> None:
        path = os.path.join(self.folder, entry.name)
        with contextlib.suppress(OSError):
            os.unlink(path + _RECORDS_SUFFIX)
        os.unlink(path)

    def _scan(self) -> Iterator[Entry]:
        with os.scandir(self.folder) as found:
            for entry in found:
                if entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    yield Entry(entry.name, status.st_size, status.st_mtime, read_corpus(entry.path))


def default_cache() -> Cache | None:
    """The cache in CCE_CACHE_DIR, else in the user's cache folder; None for a user who has no home.

    Raises UsageError if CCE_CACHE_BYTES is no number of bytes.
    """
    max_bytes = _typed_limit()
    folder = os.environ.get("CCE_CACHE_DIR")
    if folder:
        return Cache(folder, max_bytes)
    from platformdirs import user_cache_dir

    try:
        folder = user_cache_dir("cce", appauthor=False)
    except RuntimeError:  # without HOME and an entry in passwd, platformdirs 4.14 raises ..
        return None
    # .. and 4.0 answers with a path that starts with `~`: a folder of that name would be made here.
    return Cache(folder, max_bytes) if os.path.isabs(folder) else None


def _typed_limit() -> int | None:
    typed = os.environ.get(_LIMIT_VARIABLE)
    if not typed:
        return None
    # isdecimal() alone accepts digits of other scripts.
    if not (typed.isascii() and typed.isdecimal() and len(typed) <= _MAX_DIGITS):
        raise UsageError(f"{_LIMIT_VARIABLE} is {quoted(typed)}: write a number of bytes, such as 4294967296")
    return int(typed)


def _free_bytes(folder: str) -> int:
    """Bytes free on the disk of `folder`, which may not be there yet; 0 where that is unknown."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            import shutil  # the other systems know it without this import, which takes milliseconds

            return shutil.disk_usage(folder).free
        found = os.statvfs(folder)
        return found.f_bavail * found.f_frsize
    return 0


@cache
def fingerprint() -> str:
    """What decides, besides a file's path and content, how it is indexed, and what a snapshot leaves unsaid.

    A snapshot has positions in CHUNK_KINDS, and a row decides whether a file is cut at all: so the whole
    table is in it.
    """
    versions = [_version(name) for name in ("tree_sitter", *(pack.grammar_package for pack in PACKS))]
    packs = [pack._replace(import_rule=None) for pack in PACKS]
    rules = [pack.import_rule and pack.import_rule.__qualname__ for pack in PACKS]
    table = json.dumps([packs, rules, CHUNK_KINDS])
    return json.dumps(
        [PIPELINE_VERSION, sys.byteorder, *versions, hashlib.sha256(table.encode()).hexdigest()]
    )


def _fingerprint_with(redaction: Redaction) -> str:
    """A snapshot under the standard rules is none under the strict ones, whatever its file is called."""
    return fingerprint() + _mode(redaction)


def _mode(redaction: Redaction) -> str:
    return "" if redaction is Redaction.STANDARD else f".{redaction.value}"


def _version(package: str) -> str:
    """The name of the folder that an installer leaves beside a package: it ends in the version.

    `importlib.metadata` knows the version too, but takes some twenty milliseconds to import.
    """
    spec = find_spec(package)
    parent = os.path.dirname(os.path.dirname(spec.origin or "")) if spec else ""
    folders = [name for name in _installed(parent or ".") if name.startswith(f"{package}-")]
    return ", ".join(sorted(folders)) or "unknown"


@cache  # the grammars are mostly in one folder
def _installed(parent: str) -> list[str]:
    return [name for name in os.listdir(parent) if name.endswith(".dist-info")]
