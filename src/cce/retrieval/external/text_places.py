"""Where a text stands in the corpus: frameworks hand over passages, often without their lines.

The texts of the files enter; lines leave. White space at both ends of a passage does not count, since
splitters strip it.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Collection
from functools import cached_property

from cce.retrieval.external.paths import PathReader
from cce.retrieval.indexing.index import Index, SegmentIndex

Lines = tuple[int, int]


class TextPlaces:
    """Looks passages up in the files of a corpus; each file is read when it is first needed, and kept."""

    def __init__(
        self,
        paths: Collection[str],
        text_of: Callable[[str], str],
        read_path: Callable[[str], str] = str,
    ) -> None:
        """`text_of` gives the indexed text of one of the files `paths`.

        read_path  what a system's spelling of a path means
        """
        self._paths = paths
        self._text_of = text_of
        self._read_path = read_path
        self._files: dict[str, _LinedText | None] = {}

    def lines_in(self, path: str, text: str, offset: int | None) -> Lines | None:
        """First and last line of `text` in the file; None if it is not there.

        offset  where it starts in characters, if the framework says so; it decides among equal passages
        """
        file = self._file(self._read_path(path))
        passage = text.strip()
        if file is None or not passage:
            return None
        lead = len(text) - len(text.lstrip())
        if offset is not None and file.text.startswith(passage, offset + lead):
            return file.lines(offset + lead, len(passage))
        start = file.text.find(passage)
        return None if start < 0 else file.lines(start, len(passage))

    def only_place(self, text: str) -> tuple[str, int, int] | None:
        """Path and lines of `text` if it stands in the corpus exactly once."""
        passage = text.strip()
        found: tuple[str, int, int] | None = None
        for path in self._paths if passage else ():
            file = self._file(path)
            start = -1 if file is None else file.text.find(passage)
            if file is None or start < 0:
                continue
            if found is not None or file.text.find(passage, start + 1) >= 0:
                return None
            found = path, *file.lines(start, len(passage))
        return found

    def _file(self, path: str) -> _LinedText | None:
        if path not in self._files:
            self._files[path] = _LinedText(self._text_of(path)) if path in self._paths else None
        return self._files[path]


class _LinedText:
    """One file: its text, and where its lines start."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        while (end := self.text.find("\n", starts[-1])) >= 0:
            starts.append(end + 1)
        return starts

    def lines(self, start: int, length: int) -> Lines:
        """The lines, 1-based and inclusive, of the characters from `start` on."""
        # With lines at 0, 4 and 9, the characters 4 to 8 are line 2: bisect gives 2 for both 4 and 8.
        return bisect_right(self._starts, start), bisect_right(self._starts, start + length - 1)


def text_places(index: Index | None, root: str | None, folder: str | None) -> TextPlaces:
    """The files of an index, none without one; `root` and `folder` as for PathReader."""
    if index is None:
        return TextPlaces((), str)
    reader = PathReader(index.has_file, index.root, root, folder)
    return TextPlaces(index.positions_by_file.keys(), _reader_of(index), lambda path: reader.read(path).path)


def _reader_of(index: Index) -> Callable[[str], str]:
    """What gives the text of a file: all of it, or, over a store, the lines of its chunks."""
    if isinstance(index, SegmentIndex):
        texts = dict(zip(index.segment.paths, index.segment.texts, strict=True))
        return lambda path: texts[path].decode()
    return lambda path: index.text(path, 1, sys.maxsize).decode()
