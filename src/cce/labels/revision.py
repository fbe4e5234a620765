"""A set file under edit: its lines as bytes, and which of them changed.

A path enters; lines are replaced one by one; a unified diff leaves, or the file is replaced atomically.
Lines are never added or removed, so the diff needs no alignment.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from cce.errors import UsageError
from cce.files import write_file
from cce.measurement.fixtures.reading import read_set_file
from cce.quoting import on_one_line

_N_CONTEXT = 3


class Revision:
    """The file `path` as it was read, with replaced lines."""

    def __init__(self, path: str, raw: bytes | None = None) -> None:
        """`raw` are the bytes of the file, if already read; raises FixtureError if it cannot be read."""
        self.path = path
        self._raw = read_set_file(path) if raw is None else raw
        self._lines = self._raw.split(b"\n")
        self._changed: dict[int, bytes] = {}

    @property
    def raw(self) -> bytes:
        """The file's bytes as they were read."""
        return self._raw

    @property
    def n_lines(self) -> int:
        """The number of lines; an empty one after the last line end counts."""
        return len(self._lines)

    def line(self, number: int) -> bytes:
        """Line `number`, 1-based, with its replacement if there is one, without the line end."""
        return self._changed.get(number - 1, self._lines[number - 1])

    def replace(self, number: int, line: bytes) -> None:
        """Put `line` in place of line `number`."""
        if line == self._lines[number - 1]:
            self._changed.pop(number - 1, None)
        else:
            self._changed[number - 1] = line

    def write(self) -> None:
        """Replace the file atomically; raises UsageError if it cannot be written or was changed meanwhile."""
        place = on_one_line(self.path)
        if read_set_file(self.path) != self._raw:
            raise UsageError(f"{place}: changed since it was read, so nothing was written; run it again")
        if not _is_writable(self.path):
            raise UsageError(f"{place}: is not writable, so nothing was written; allow writing to it")
        lines = [self._changed.get(number, line) for number, line in enumerate(self._lines)]
        content = b"\n".join(lines)
        fault = "cannot be written ({}), so it is as it was; make its folder writable"
        write_file(self.path, content, UsageError, fault)
        self._raw, self._lines, self._changed = content, lines, {}

    def diff(self) -> str:
        """A unified diff of the replaced lines; empty if there are none."""
        if not self._changed:
            return ""
        place = on_one_line(self.path)
        return "".join([f"--- {place}\n+++ {place}\n", *self._hunks()])

    def _hunks(self) -> Iterator[str]:
        n_lines = len(self._lines) - (not self._lines[-1])  # a final line end opens no line
        for first, last in self._neighbourhoods(n_lines):
            size = last - first
            yield f"@@ -{first + 1},{size} +{first + 1},{size} @@\n"
            yield from self._hunk_lines(first, last)

    def _neighbourhoods(self, n_lines: int) -> Iterator[tuple[int, int]]:
        """Ranges of lines around the changes, 0-based and half-open; ranges that touch are joined."""
        first = last = -1
        for number in sorted(self._changed):
            start, end = max(0, number - _N_CONTEXT), min(n_lines, number + _N_CONTEXT + 1)
            if last >= start:
                last = end
                continue
            if last >= 0:
                yield first, last
            first, last = start, end
        yield first, last

    def _hunk_lines(self, first: int, last: int) -> Iterator[str]:
        old: list[int] = []
        for number in range(first, last):
            if number in self._changed:
                old.append(number)
                continue
            yield from self._replaced(old)
            old = []
            yield self._shown(" ", self._lines[number], number)
        yield from self._replaced(old)

    def _replaced(self, numbers: list[int]) -> Iterator[str]:
        for number in numbers:
            yield self._shown("-", self._lines[number], number)
        for number in numbers:
            yield self._shown("+", self._changed[number], number)

    def _shown(self, sign: str, line: bytes, number: int) -> str:
        has_end = number < len(self._lines) - 1
        return f"{sign}{line.decode()}\n" + ("" if has_end else "\\ No newline at end of file\n")


def _is_writable(path: str) -> bool:
    # The mode too: for a superuser os.access is true even where the owner allows no writing.
    mode = os.stat(path).st_mode
    return os.access(path, os.W_OK) and bool(mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
