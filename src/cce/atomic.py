"""Files written whole or not at all: a crash, a full disk or a second writer never leaves half a file.

Bytes go into a new file beside the target, down to the disk, and then that file takes the target's place. A
writer holds a lock on its new file as long as it lives. A file without a lock was left by a killed writer,
and the next writer in that folder removes it. A signal that ends a writer removes its file through `atexit`.

A path that the user typed may be a link, which is followed and stays. `write_below` is for a path that nobody
typed: whoever made the folder (a clone, an archive) would choose with a link what is replaced.
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
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, NamedTuple

_TEMPORARY = r"\.cce-[0-9a-f]{16}\.tmp"
# A store leaves in pieces of one chunk; one system call per MiB instead of one per piece.
_BUFFER_BYTES = 1 << 20
_unfinished: set[str] = set()
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)

Content = bytes | Iterable[bytes]


class _Folder(NamedTuple):
    """The folder of a target: its path, or an open descriptor of it, which no link can redirect."""

    path: str
    descriptor: int | None = None

    def place(self, name: str) -> str:
        """How a call that also takes `descriptor` as its `dir_fd` names the entry `name`."""
        return name if self.descriptor is not None else os.path.join(self.path, name)


def write_atomically(path: str, content: Content, *, is_durable: bool = True) -> None:
    """Replace `path` by `content`, whole or in pieces; raises OSError and then leaves what was there.

    Without `is_durable` a power failure may leave a torn file: for readers that would notice.
    A link is followed, so that it stays a link. A device or pipe cannot be replaced: it is written to.
    """
    mode = _mode_of(path)
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as device:  # refuses a folder
            device.writelines(_pieces(content))
    elif not os.path.basename(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    else:
        folder, name = os.path.split(os.path.realpath(path))
        _replace(_Folder(folder), name, _pieces(content), mode, is_durable)


def write_below(root: str, names: Sequence[str], content: Content) -> None:
    """As `write_atomically` for the path `names` below the folder `root`, but no link in it is followed.

    Links in `root` are followed. Raises OSError for a link and for what is no regular file.
    """
    path = os.path.join(root, *names)
    link = link_below(root, names)
    if link is not None:
        raise OSError(errno.ELOOP, "is a link", link)
    with _opened(root, names[:-1]) as folder:
        mode = _own_mode(folder, names[-1])
        if mode is not None and not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "is not a regular file", path)
        _replace(folder, names[-1], _pieces(content), mode, is_durable=True)


def link_below(root: str, names: Sequence[str]) -> str | None:
    """The first link on the way from the folder `root` to what `names` lead to; None if there is none."""
    path = root
    for name in names:
        path = os.path.join(path, name)
        if os.path.islink(path) or _is_junction(path):
            return path
    return None


def _is_junction(path: str) -> bool:
    """Whether it is what Windows has for a link to a folder; Python before 3.12 cannot tell."""
    return bool(getattr(os.path, "isjunction", lambda _: False)(path))


@contextlib.contextmanager
def _opened(root: str, names: Sequence[str]) -> Iterator[_Folder]:
    """The folder that `names` lead to from `root`; once it is open, no link that comes later matters."""
    if os.open not in os.supports_dir_fd or os.scandir not in os.supports_fd:  # Windows
        yield _Folder(os.path.join(root, *names))
        return
    descriptor = os.open(root or os.curdir, _FOLDER_FLAGS & ~os.O_NOFOLLOW)
    try:
        for name in names:
            outer = descriptor
            descriptor = os.open(name, _FOLDER_FLAGS, dir_fd=outer)
            os.close(outer)
        yield _Folder("", descriptor)
    finally:
        os.close(descriptor)


def _pieces(content: Content) -> Iterable[bytes]:
    return (content,) if isinstance(content, bytes) else content


def _mode_of(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None
    except ValueError as exc:  # a NUL in the path
        raise OSError(errno.EINVAL, str(exc), path) from exc


def _own_mode(folder: _Folder, name: str) -> int | None:
    try:
        return os.stat(folder.place(name), dir_fd=folder.descriptor, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None


def _replace(folder: _Folder, name: str, pieces: Iterable[bytes], mode: int | None, is_durable: bool) -> None:
    _remove_leftovers(folder)
    atexit.unregister(_remove_unfinished)  # registered once, however many files are written
    atexit.register(_remove_unfinished)
    temporary, file = _create(folder, is_private=mode is not None)
    try:
        with file:
            file.writelines(pieces)
            file.flush()
            if is_durable:
                os.fsync(file.fileno())
            if mode is not None:
                os.chmod(folder.place(temporary), stat.S_IMODE(mode), dir_fd=folder.descriptor)
            if sys.platform != "win32":
                _rename(folder, temporary, name)  # still locked, so that no other writer takes it away
        if sys.platform == "win32":
            _rename(folder, temporary, name)  # Windows moves no open file
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(folder.place(temporary), dir_fd=folder.descriptor)
        raise
    finally:
        _unfinished.discard(os.path.join(folder.path, temporary))
    if is_durable:
        _sync_folder(folder)


def _rename(folder: _Folder, old: str, new: str) -> None:
    """Move a file within its folder; a link that is called `new` is replaced, not followed."""
    descriptor = folder.descriptor
    os.replace(folder.place(old), folder.place(new), src_dir_fd=descriptor, dst_dir_fd=descriptor)


def _create(folder: _Folder, *, is_private: bool) -> tuple[str, BinaryIO]:
    """A new locked file, and its name; what is to replace a file starts private and gets its mode later."""
    while True:
        name = f".cce-{os.urandom(8).hex()}.tmp"
        mode = 0o600 if is_private else 0o666
        path = os.path.join(folder.path, name)
        _unfinished.add(path)
        descriptor = os.open(folder.place(name), _CREATE, mode, dir_fd=folder.descriptor)
        if _is_kept(descriptor):
            return name, open(descriptor, "wb", _BUFFER_BYTES)
        os.close(descriptor)
        _unfinished.discard(path)


def _remove_unfinished() -> None:
    """Remove the temporary files of this process; runs at exit, also after a signal."""
    for path in tuple(_unfinished):
        with contextlib.suppress(OSError):
            os.unlink(path)


def _remove_leftovers(folder: _Folder) -> None:
    """Remove the files of dead writers; what fails is left to the next writer."""
    place = folder.path if folder.descriptor is None else folder.descriptor
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for name in [entry.name for entry in entries if re.fullmatch(_TEMPORARY, entry.name)]:
            with contextlib.suppress(OSError):
                _remove_abandoned(folder, name)


def _sync_folder(folder: _Folder) -> None:
    """Make the rename itself durable, where the system lets a folder be opened."""
    with contextlib.suppress(OSError):
        if folder.descriptor is not None:
            os.fsync(folder.descriptor)
            return
        descriptor = os.open(folder.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


if sys.platform == "win32":
    # An open file cannot be removed there. Only between closing and renaming it is unprotected.
    _GRACE_SECONDS = 60.0

    def _is_kept(_: int) -> bool:
        return True

    def _remove_abandoned(folder: _Folder, name: str) -> None:
        path = folder.place(name)
        if time.time() - os.stat(path).st_mtime > _GRACE_SECONDS:
            os.unlink(path)

else:
    import fcntl

    # A link or a pipe under such a name is neither followed nor waited for.
    _EXAMINE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK

    def _is_kept(descriptor: int) -> bool:
        """Lock a new file; False if a writer that took it for a leftover was faster and removed it.

        Where the file system has no locks, no writer can prove that another one is dead, and
        leftovers stay.
        """
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        return os.fstat(descriptor).st_nlink > 0

    def _remove_abandoned(folder: _Folder, name: str) -> None:
        path = folder.place(name)
        descriptor = os.open(path, _EXAMINE, dir_fd=folder.descriptor)
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises while its writer lives
                os.unlink(path, dir_fd=folder.descriptor)
        finally:
            os.close(descriptor)
