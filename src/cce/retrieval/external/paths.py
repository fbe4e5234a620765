"""Which file of the corpus a system means: the first reading of its path that is one.

Systems spell paths as their own index has them: absolute, with backslashes, below another root, with lines
behind a colon. All work is on the text, so that a run reads the same on every operating system.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

Lines = tuple[int, int]

# `a.py:12`, `a.py:12-20`, `a.py:12:5` (line and column), `a.py#L12`, `a.py#L12-L20`. More digits are no line.
_TAIL = r"(?s)(.+?)(?::(\d{1,15})(?:-(\d{1,15})|:\d{1,15})?|#L(\d{1,15})(?:-L(\d{1,15}))?)"


class PathReading(NamedTuple):
    """A path as it was understood; `lines` where its tail names some, `is_known` for a file of the corpus."""

    path: str
    lines: Lines | None = None
    is_known: bool = True


class PathReader:
    """Reads the paths of one system."""

    def __init__(
        self,
        is_file: Callable[[str], bool],
        corpus: str | None = None,
        root: str | None = None,
        folder: str | None = None,
    ) -> None:
        """`is_file` knows the files of the corpus.

        corpus  its directory, None for a store
        root    what the system puts in front of its paths
        folder  of the systems file: what relative paths of the system may start from
        """
        self._is_file = is_file
        self._tops = _spellings(corpus)
        self._root = None if root is None else _slashed(root)
        self._folder = None if folder is None else _absolute(folder)
        self._readings: dict[str, PathReading] = {}

    def read(self, path: str) -> PathReading:
        """The first reading of `path` that is a file of the corpus, else the path as written."""
        reading = self._readings.get(path)
        if reading is None:
            reading = self._readings[path] = self._read(path)
        return reading

    def _read(self, path: str) -> PathReading:
        for spelled, lines in _with_and_without_tail(path):
            for candidate in self._candidates(spelled):
                if self._is_file(candidate):
                    return PathReading(candidate, lines)
        return PathReading(_plain(path), None, is_known=False)

    def _candidates(self, path: str) -> Iterator[str]:
        spellings = dict.fromkeys((path, _slashed(path)))
        for spelled in spellings:
            yield _plain(spelled)
        for spelled in spellings:
            yield from self._below_corpus(spelled)
        for spelled in spellings:
            if self._root is not None:
                yield from _below(spelled, self._root)
        for spelled in spellings:
            if self._folder is not None:
                yield from self._below_corpus(posixpath.join(self._folder, spelled))

    def _below_corpus(self, path: str) -> Iterator[str]:
        for top in self._tops:
            yield from _below(posixpath.normpath(path), top)


def _with_and_without_tail(path: str) -> Iterator[tuple[str, Lines | None]]:
    yield path, None
    found = re.fullmatch(_TAIL, path)
    if found is not None:
        spelled, first, last, marked_first, marked_last = found.groups()
        start = int(first or marked_first)
        end = last or marked_last
        yield spelled, (start, start if end is None else int(end))


def _spellings(directory: str | None) -> tuple[str, ...]:
    """The real path of a directory, and the one by which the user reached it."""
    if directory is None:
        return ()
    real = os.path.realpath(directory).replace(os.sep, "/")
    return tuple(dict.fromkeys((real, _absolute(directory))))


def _absolute(directory: str) -> str:
    return os.path.abspath(directory).replace(os.sep, "/")


def _slashed(path: str) -> str:
    return path.replace("\\", "/")


def _plain(path: str) -> str:
    """`path` without empty segments and `.`, which name nothing."""
    return "/".join(segment for segment in path.split("/") if segment not in ("", "."))


def _below(path: str, top: str) -> Iterator[str]:
    """What `path` is called below `top`, if it lies there."""
    front = top.rstrip("/") + "/"
    if path.startswith(front):
        yield _plain(path[len(front) :])
