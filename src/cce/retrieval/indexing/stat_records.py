"""Stat records: files that need not be read again, for a command that trusts size, time and inode.

Git trusts them too. The records stand beside a snapshot and name it by its digest. A file is trusted if it
has the size, the modification time and the inode it had when it was last read, and had rested for a while by
then: a file that is written twice within one tick of its clock has the same time both times. Records that
are torn, foreign or of another snapshot are none; every file is then read.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from cce.retrieval.corpus.source_files import SkipReason

# FAT, the coarsest of the usual file systems, counts in steps of two seconds.
_REST_NS = 2_000_000_000
# Why a file is left out that was opened. Names are judged without that; permissions leave no time behind.
_BY_CONTENT = (SkipReason.TOO_LARGE, SkipReason.NOT_UTF8)


class Stat(NamedTuple):
    """What a file system says of a file: size in bytes, modification time in ns, inode."""

    n_bytes: int
    mtime_ns: int
    inode: int


class StatRecords(NamedTuple):
    """What was seen when the files of a snapshot were last read.

    taken_ns  when that began, in ns since 1970
    files     by path, of those that are indexed
    skipped   by path, of those that were left out, with the reason
    """

    taken_ns: int
    files: Mapping[str, Stat]
    skipped: Mapping[str, tuple[Stat, SkipReason]]

    def knows(self, path: str) -> bool:
        """Whether anything is recorded of `path`."""
        return path in self.files or path in self.skipped

    def is_indexed(self, path: str, found: Stat | None) -> bool:
        """Whether the text of `path` is still the indexed one, as far as `found` says."""
        return self._is_trusted(self.files.get(path), found)

    def why_skipped(self, path: str, found: Stat | None) -> SkipReason | None:
        """Why `path` is still left out, as far as `found` says; None if it must be read."""
        stat, reason = self.skipped.get(path, (None, None))
        return reason if self._is_trusted(stat, found) else None

    def _is_trusted(self, known: Stat | None, found: Stat | None) -> bool:
        return known is not None and known == found and known.mtime_ns < self.taken_ns - _REST_NS


def take_stats(root: str, paths: Iterable[str]) -> tuple[int, dict[str, Stat]]:
    """When this began, and what the file system says of each file; one that cannot be asked is left out.

    To be asked before a file is read: a change in between then shows the next time.
    """
    started = time.time_ns()
    folder, stats = os.fsencode(root), {}
    for path in paths:
        try:
            found = os.lstat(os.path.join(folder, path.encode()))
        except OSError:
            continue
        stats[path] = Stat(found.st_size, found.st_mtime_ns, found.st_ino)
    return started, stats


def records_of(
    taken_ns: int, stats: Mapping[str, Stat], indexed: Iterable[str], skipped: Mapping[str, SkipReason]
) -> StatRecords:
    """The records of a run that indexed and skipped these files."""
    return StatRecords(
        taken_ns,
        {path: stats[path] for path in indexed if path in stats},
        {
            path: (stats[path], reason)
            for path, reason in skipped.items()
            if reason in _BY_CONTENT and path in stats
        },
    )


def encode_records(records: StatRecords, snapshot: str) -> bytes:
    """The file of the records of the snapshot with this digest."""
    record = {
        "files": records.files,
        "skipped": {path: [*stat, reason.name] for path, (stat, reason) in records.skipped.items()},
        "snapshot": snapshot,
        "taken_ns": records.taken_ns,
    }
    return json.dumps(record, separators=(",", ":")).encode()


def read_records(path: str, snapshot: str) -> StatRecords | None:
    """The records at `path` of the snapshot with this digest; None if there are no sound ones."""
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read())
        if found["snapshot"] != snapshot:
            return None
        return StatRecords(
            int(found["taken_ns"]),
            {name: Stat(*stat) for name, stat in found["files"].items()},
            {name: (Stat(*stat), SkipReason[why]) for name, (*stat, why) in found["skipped"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
