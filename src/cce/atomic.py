"""Files written whole or not at all: a crash, a full disk or a second writer never leaves half a file."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile


def write_atomically(path: str, content: bytes) -> None:
    """Replace `path` by `content`; raises OSError and then leaves what was there before.

    A link is followed, so that it stays a link. A device or pipe cannot be replaced: it is written to.
    """
    target = os.path.realpath(path)
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(target).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            _write_through(target, content)
            return
    folder = os.path.dirname(target)
    descriptor, temporary = tempfile.mkstemp(prefix=".cce-", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode_for(target))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _write_through(device: str, content: bytes) -> None:
    with open(device, "wb", buffering=0) as file:
        file.write(content)


def _mode_for(target: str) -> int:
    """Permissions of the file to be replaced, or those that a new file gets."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _sync_folder(folder: str) -> None:
    """Make the rename itself durable, where the system lets a folder be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
