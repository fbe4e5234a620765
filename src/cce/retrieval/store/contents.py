"""The contents of a store's chunks, of which those that lie in an earlier one take no memory of their own.

A store spells out every content, so of functions in each other it holds the innermost one many times over.
"""

from __future__ import annotations

from cce.retrieval.indexing.segment import Content

_HEAD_BYTES = 64


class Contents:
    """Gives each content its place in a text; chunks come in the order of the store."""

    def __init__(self) -> None:
        self._texts: list[bytes] = []
        self._path: str | None = None
        self._lines = range(0)
        self._start = 0

    def place(self, path: str, first_line: int, last_line: int, content: bytes) -> Content:
        """Where `content` stands: in the newest text if its lines and bytes are there, else in its own."""
        start = -1
        if path == self._path and self._lines.start <= first_line and last_line < self._lines.stop:
            start = self._find(content)
        if start < 0:
            self._texts.append(content)
            self._path, self._lines, start = path, range(first_line, last_line + 1), 0
        # Another place with the same bytes would do as well. From here on, so that the starts ascend.
        self._start = start
        return Content(self._texts, len(self._texts) - 1, start, start + len(content))

    def _find(self, content: bytes) -> int:
        """Where `content` stands in the newest text, not before the last one found; -1 if it does not."""
        text = self._texts[-1]
        start = text.find(
            content[:_HEAD_BYTES], self._start
        )  # to prepare a search for all of it takes longer
        if start < 0 or text.startswith(content, start):
            return start
        return text.find(content, start)
