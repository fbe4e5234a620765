"""Files written whole or not at all: a crash, a full disk or a second writer never leaves half a file.

Bytes go into a new file beside the target, down to the disk, and then that file takes the target's
place. A writer holds a lock on its new file as long as it lives. So the file of a killed writer
shows that nobody is at work on it, and the next writer in that folder removes it. A writer that a
signal ends in order removes its file itself.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import re
import stat
import sys
import time
from collections.abc import Iterable
from typing import BinaryIO

_TEMPORARY = r"\.cce-[0-9a-f]{16}\.tmp"
_BUFFER_BYTES = 1 << 20
_unfinished: set[str] = set()
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_atomically(path: str, content: bytes | Iterable[bytes], *, is_durable: bool = True) -> None:
    """Replace `path` by `content`, whole or in pieces; raises OSError and then leaves what was there.

    Without `is_durable` a power failure may leave a torn file: for readers that would notice.
    A link is followed, so that it stays a link. A device or pipe cannot be replaced: it is written to.
    """
    pieces = (content,) if isinstance(content, bytes) else content
    mode = _mode_of(path)
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as device:  # refuses a folder
            device.writelines(pieces)
    elif not os.path.basename(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    else:
        _replace(os.path.realpath(path), pieces, mode, is_durable)


def _mode_of(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None
    except ValueError as exc:  # a NUL in the path
        raise OSError(errno.EINVAL, str(exc), path) from exc


def _replace(target: str, pieces: Iterable[bytes], mode: int | None, is_durable: bool) -> None:
    folder = os.path.dirname(target)
    _remove_leftovers(folder)
    atexit.unregister(_remove_unfinished)  # once is enough
    atexit.register(_remove_unfinished)
    temporary, file = _create(folder, is_private=mode is not None)
    try:
        with file:
            file.writelines(pieces)
            file.flush()
            if is_durable:
                os.fsync(file.fileno())
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            if sys.platform != "win32":
                os.replace(temporary, target)  # still locked, so that no other writer takes it away
        if sys.platform == "win32":
            os.replace(temporary, target)  # Windows moves no open file
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    finally:
        _unfinished.discard(temporary)
    if is_durable:
        _sync_folder(folder)


def _create(folder: str, *, is_private: bool) -> tuple[str, BinaryIO]:
    """A new locked file, and its path; what is to replace a file starts private and gets its mode later."""
    while True:
        path = os.path.join(folder, f".cce-{os.urandom(8).hex()}.tmp")
        _unfinished.add(path)
        descriptor = os.open(path, _CREATE, 0o600 if is_private else 0o666)
        if _is_kept(descriptor):
            return path, open(descriptor, "wb", _BUFFER_BYTES)
        os.close(descriptor)
        _unfinished.discard(path)


def _remove_unfinished() -> None:
    """What a signal leaves to do when it ends the process in the middle of writing."""
    for path in tuple(_unfinished):
        with contextlib.suppress(OSError):
            os.unlink(path)


def _remove_leftovers(folder: str) -> None:
    """Remove the files of dead writers; whatever stands in the way of that can wait."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for path in [entry.path for entry in entries if re.fullmatch(_TEMPORARY, entry.name)]:
            with contextlib.suppress(OSError):
                _remove_abandoned(path)


def _sync_folder(folder: str) -> None:
    """Make the rename itself durable, where the system lets a folder be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


if sys.platform == "win32":
    # An open file cannot be removed there. Only between closing and renaming it is unprotected.
    _GRACE_SECONDS = 60.0

    def _is_kept(_: int) -> bool:
        return True

    def _remove_abandoned(path: str) -> None:
        if time.time() - os.stat(path).st_mtime > _GRACE_SECONDS:
            os.unlink(path)

else:
    import fcntl

    # Nothing that was planted under such a name is followed or waited for.
    _EXAMINE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK

    def _is_kept(descriptor: int) -> bool:
        """Lock a new file; False if a writer that took it for a leftover was faster and removed it.

        Where the file system has no locks, no writer can prove that another one is dead, and
        leftovers stay.
        """
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        return os.fstat(descriptor).st_nlink > 0

    def _remove_abandoned(path: str) -> None:
        descriptor = os.open(path, _EXAMINE)
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises while its writer lives
                os.unlink(path)
        finally:
            os.close(descriptor)
