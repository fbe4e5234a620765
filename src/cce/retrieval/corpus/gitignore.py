"""Which files the `.gitignore` rules and the pruned directories leave: a directory in, paths out.

The rules are read by ripgrep's engine, which is imported only where there are any. Added here is what
it lacks: it opens a rule file through a link or a pipe, takes a set that nothing closes for text, and
keeps silent about rule files it cannot read and names it cannot tell. Where it must not read a rule file
as it is, it walks a copy. Nothing is opened but directories and rule files.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from cce.errors import CorpusError
from cce.files import reason
from cce.quoting import on_one_line

_RULE_FILE = b".gitignore"
# In a worktree or a submodule it is a file, with a path of this machine in it.
_GIT = b".git"
# The engine needs ninety times the size in memory; rules that people write are a thousandth of this.
_MAX_RULE_BYTES = 1024 * 1024
_PRUNED = ("node_modules", "venv", "__pycache__", "dist", "build")
_PRUNED_BYTES = frozenset(name.encode() for name in _PRUNED)


class Listing(NamedTuple):
    """What a walk finds, everything in byte order.

    `paths` are regular files, relative and `/`-separated; `misnamed` are files and directories whose
    name is not UTF-8, spelled with escapes; `notices` are one line each: place, fault, way out.
    """

    paths: tuple[str, ...]
    misnamed: tuple[str, ...]
    notices: tuple[str, ...]


def list_files(root: str) -> Listing:
    """The regular files at or below `root` that no rule ignores.

    Raises CorpusError if `root` cannot be listed, and for a rule file of more than 1 MiB that counts.
    Rules count from `root` down and from nowhere else, whether or not it is a git checkout.
    """
    survey = _Survey(_real_directory(root))
    if survey.take_all():
        return survey.listing()
    survey = _Survey(survey.root)
    if survey.is_engine_safe() and survey.follow(survey.root):
        return survey.listing()
    return _list_by_copy(root)


def _real_directory(root: str) -> bytes:
    try:
        directory = os.path.realpath(os.fsencode(root))
        os.scandir(directory).close()
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path
        fault = f"{on_one_line(root)}: {reason(exc)}"
        raise CorpusError(f"{fault}: the corpus must be a directory that can be listed") from exc
    return directory


def _list_by_copy(root: str) -> Listing:
    """As `list_files`, with a copy of the tree's names and plain rule files for the engine to walk."""
    import tempfile  # seldom needed, and slow to import

    survey = _Survey(_real_directory(root))
    try:
        copy = tempfile.mkdtemp()
        try:
            target = os.path.realpath(os.fsencode(copy))
            _copy_names(survey.root, target)
            survey.follow(target, is_copy=True)
        finally:
            _remove_tree(os.fsencode(copy))
    except OSError as exc:
        fault = f"its .gitignore rules need a temporary copy of its file names ({reason(exc)})"
        # `gettempdir` raises where no folder can be written to.
        way_out = f"free some space in {tempfile.tempdir or 'TMPDIR'}, or name a shorter folder as TMPDIR"
        raise CorpusError(f"{on_one_line(root)}: {fault}: {way_out}") from exc
    return survey.listing()


class _Survey:
    """Lists directories, all of them or each one the engine enters, and so knows what is there."""

    def __init__(self, root: bytes) -> None:
        """`root` is absolute and free of links."""
        self.root = root
        self._files: set[bytes] = set()
        self._directories: set[bytes] = {b""}
        self._paths: list[bytes] = []
        self._misnamed: list[bytes] = []
        self._notices: list[str] = []

    def take_all(self) -> bool:
        """Take in everything, as is right without rules; False, and unfinished, if there is a rule file."""
        waiting = [b""]
        while waiting:
            directory = waiting.pop()
            entries = self._enter(directory)
            if entries.has_rule_file:
                return False
            self._paths += [_join(directory, name) for name in filter(_is_utf8, entries.files)]
            waiting += [_join(directory, name) for name in filter(_is_utf8, entries.directories)]
        return True

    def is_engine_safe(self) -> bool:
        """Whether the engine can tell paths below the root, and may open the root's rule file."""
        return _is_utf8(self.root) and not _is_misread(_join(self.root, _RULE_FILE))

    def follow(self, engine_root: bytes, *, is_copy: bool = False) -> bool:
        """Take in all the engine yields; False, and unfinished, if it must not go on in this tree."""
        for path in _surviving(engine_root):
            if path in self._directories:
                entries = self._enter(path)
                if not (is_copy or self._is_safe_below(path, entries)):
                    return False
            elif path in self._files:
                self._paths.append(path)
        return True

    def listing(self) -> Listing:
        """What was found so far."""
        return Listing(
            tuple(path.decode() for path in sorted(self._paths)),
            tuple(_spell(path) for path in sorted(self._misnamed)),
            tuple(sorted(self._notices)),
        )

    def _enter(self, directory: bytes) -> _Entries:
        """Note what `directory` holds."""
        try:
            entries = _read_directory(_join(self.root, directory))
        except OSError as exc:
            self._notices.append(
                f"{_spell(directory)}/: {reason(exc)}: its files are left out; make it readable"
            )
            return _Entries([], [], has_rule_file=False)
        prefix = directory + b"/" if directory else b""
        for name in entries.files:
            if _is_utf8(name):
                self._files.add(prefix + name)
            else:
                self._misnamed.append(prefix + name)
        for name in entries.directories:
            if _is_utf8(name):
                self._directories.add(prefix + name)
            else:
                self._misnamed.append(prefix + name + b"/")
        if entries.has_rule_file:
            self._judge_rule_file(prefix + _RULE_FILE)
        return entries

    def _is_safe_below(self, directory: bytes, entries: _Entries) -> bool:
        """Whether the engine may open the rule files just below `directory`, which holds `entries`.

        It opens those of the directories it enters before it says so. One that is too large is an error only
        then: the directory may be ignored.
        """
        paths = [_join(self.root, directory, name, _RULE_FILE) for name in entries.directories]
        return not any(_is_too_large(path) or _is_misread(path) for path in paths)

    def _judge_rule_file(self, path: bytes) -> None:
        if _is_too_large(_join(self.root, path)):
            raise CorpusError(
                f"{_spell(_join(self.root, path))}: is larger than 1 MiB, too much for ignore rules; "
                "shorten it or remove it"
            )
        fault = _rule_file_fault(_join(self.root, path))
        if fault is not None:
            self._notices.append(f"{_spell(path)}: {fault}")


class _Entries(NamedTuple):
    """Names in one directory: regular files, and directories that are not pruned; no links.

    `has_rule_file` tells of anything by that name, be it a file or not, in letters of either case.
    """

    files: list[bytes]
    directories: list[bytes]
    has_rule_file: bool


def _read_directory(directory: bytes) -> _Entries:
    files: list[bytes] = []
    directories: list[bytes] = []
    has_rule_file = False
    with os.scandir(directory) as found:
        for entry in found:
            has_rule_file = has_rule_file or entry.name.lower() == _RULE_FILE
            if entry.name == _GIT:
                continue
            if entry.is_file(follow_symlinks=False):
                files.append(entry.name)
            elif entry.is_dir(follow_symlinks=False) and not _is_pruned(entry.name):
                directories.append(entry.name)
    return _Entries(files, directories, has_rule_file)


def _is_pruned(name: bytes) -> bool:
    return name.startswith(b".") or name in _PRUNED_BYTES


def _surviving(root: bytes) -> Iterator[bytes]:
    """Relative paths the rules leave, links too; a directory (the root is empty) before what it holds."""
    from pathlib import Path

    import rignore  # needs `pathlib`, whose import takes longer than a walk without rules

    walker = rignore.Walker(
        Path(os.fsdecode(root)),
        ignore_hidden=False,
        read_ignore_files=False,
        read_parents_ignores=False,
        read_git_ignore=True,
        read_global_git_ignore=False,
        read_git_exclude=False,
        require_git=False,
        # In an override an exclamation mark leaves out; a final slash makes it directories only.
        overrides=["!.*/", *(f"!{name}/" for name in _PRUNED)],
        follow_links=False,
        case_insensitive=False,
        same_file_system=False,
    )
    n_skipped = len(root.rstrip(os.sep.encode())) + 1
    while True:
        try:
            path = next(walker)
        except StopIteration:
            return
        except (OSError, ValueError):  # unlistable, or no UTF-8: found again by _Survey, which can name it
            continue
        if path is not None:
            yield os.fspath(path).encode()[n_skipped:].replace(os.sep.encode(), b"/")


def _is_odd_rule_file(path: bytes) -> bool:
    """Whether a rule file is a link, a pipe or a device: git reads none of them, the engine would."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _is_misread(path: bytes) -> bool:
    """Whether the engine would find other rules in the file than git does."""
    if _is_odd_rule_file(path):
        return True
    rules = _read_or_nothing(path)
    return b"[" in rules and _readable(rules) != rules


def _readable(rules: bytes) -> bytes:
    """The rules without the lines that the engine and git read differently."""
    from cce.retrieval.corpus.rule_lines import without_unclosed_sets  # few rule files have sets

    return without_unclosed_sets(rules)


def _is_too_large(path: bytes) -> bool:
    """Whether it is a rule file that nobody should read whole."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size > _MAX_RULE_BYTES


def _rule_file_fault(path: bytes) -> str | None:
    if _is_odd_rule_file(path):
        return "not a regular file: its rules do not count; put a copy of the file there"
    try:
        with open(path, "rb") as file:
            file.read().decode()
    except (FileNotFoundError, IsADirectoryError):
        return None
    except OSError as exc:
        return f"{reason(exc)}: its rules do not count; make it readable"
    except UnicodeDecodeError as exc:
        line = exc.object.count(b"\n", 0, exc.start) + 1
        return f"not UTF-8: its rules from line {line} on do not count; save it as UTF-8"
    return None


def _copy_names(source: bytes, target: bytes) -> None:
    """Rebuild the tree under `source` in `target`: directories, empty files, and plain rule files."""
    pending = [b""]
    while pending:
        directory = pending.pop()
        try:
            entries = _read_directory(_join(source, directory))
        except OSError:  # its notice comes when the walk gets there, if it does
            continue
        for name in filter(_is_utf8, entries.files):
            with open(_join(target, directory, name), "wb") as file:
                if name == _RULE_FILE:
                    file.write(_readable(_read_or_nothing(_join(source, directory, name))))
        for name in filter(_is_utf8, entries.directories):
            os.mkdir(_join(target, directory, name))
            pending.append(_join(directory, name))


def _remove_tree(root: bytes) -> None:
    """Remove what can be removed of `root`. `shutil.rmtree` calls itself for every level of a tree."""
    directories = [root]
    for directory in directories:  # which grows meanwhile, parents before what they hold
        with contextlib.suppress(OSError), os.scandir(directory) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    directories.append(entry.path)
                else:
                    os.unlink(entry.path)
    for directory in reversed(directories):
        with contextlib.suppress(OSError):
            os.rmdir(directory)


def _read_or_nothing(path: bytes) -> bytes:
    """The rules of a file, as far as the engine may see them."""
    if _is_too_large(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _join(*parts: bytes) -> bytes:
    return b"/".join(part for part in parts if part)


def _is_utf8(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _spell(path: bytes) -> str:
    """`path` on one printable line."""
    return on_one_line(path.decode(errors="backslashreplace"))
