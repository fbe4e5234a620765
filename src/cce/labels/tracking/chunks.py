"""Chunks by name: which function or class a range of lines is, and where one of that name stands now.

The files of a corpus enter, parsed once and only where a name is asked for; chunks leave.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

from cce.domain.anchor import LineRange
from cce.labels.tracking.texts import AnchoredTexts

_WORD = re.compile(rb"\w+")


class NamedPlace(Protocol):
    """A chunk with its qualified name; lines are 1-based and inclusive."""

    start_line: int
    end_line: int
    kind: str
    same: int

    @property
    def segments(self) -> tuple[str, ...]:
        """The qualified name, outermost first; empty if it has none."""

    @property
    def last(self) -> str:
        """The last segment; empty without a name."""

    @property
    def head_line(self) -> int:
        """The first line of the decorators, attributes and comments directly above it."""

    @property
    def signature_end(self) -> int:
        """The last line of its parameter list; `start_line` if it has none."""


class ChunkName(NamedTuple):
    """What a trace says about the chunk that a range is, or lies in.

    is_whole  the range is all of the chunk
    same      chunks of this kind and name in the file
    has_head  the range begins with what stands directly above the chunk
    """

    segments: tuple[str, ...]
    kind: str
    is_whole: bool
    same: int
    has_head: bool = False


ChunksIn = Callable[[str, bytes], Sequence[NamedPlace]]
"""The chunks in the text of a file, in tree order."""


def no_chunks(_path: str, _text: bytes) -> Sequence[NamedPlace]:
    """For those who need no names."""
    return ()


class ChunksByName:
    """The chunks of the files of a corpus by name; reads nothing before the first question."""

    def __init__(self, texts: AnchoredTexts, chunks_in: ChunksIn) -> None:
        """`texts` are the files, `chunks_in` parses one of them."""
        self._texts = texts
        self._chunks_in = chunks_in
        self._chunks: dict[str, Sequence[NamedPlace]] = {}

    def chunks(self, path: str) -> Sequence[NamedPlace]:
        """The chunks of a file; none if the corpus has no such file."""
        if path not in self._chunks:
            text = None if self._chunks_in is no_chunks else self._texts.text(path)
            self._chunks[path] = () if text is None else self._chunks_in(path, text)
        return self._chunks[path]

    def name_at(self, path: str, span: LineRange) -> ChunkName | None:
        """The chunk that these lines are, or else the innermost one with a name that holds them."""
        whole = self.whole_at(path, span)
        if whole is not None:
            has_head = whole.start_line != span.first
            return ChunkName(whole.segments, whole.kind, True, whole.same, has_head)
        around = [
            chunk
            for chunk in self.chunks(path)
            if chunk.start_line <= span.first and span.last <= chunk.end_line and chunk.last
        ]
        if not around:
            return None
        # Tree order: of the chunks that hold the same lines the last one is the innermost.
        return ChunkName(around[-1].segments, around[-1].kind, False, around[-1].same)

    def whole_at(self, path: str, span: LineRange) -> NamedPlace | None:
        """The outermost chunk with a name that these lines are, with or without its head."""
        ending = [chunk for chunk in self.chunks(path) if chunk.end_line == span.last and chunk.last]
        exact = (chunk for chunk in ending if chunk.start_line == span.first)
        headed = (chunk for chunk in ending if chunk.start_line > span.first == chunk.head_line)
        return next(exact, None) or next(headed, None)

    def named(self, path: str, name: ChunkName) -> list[NamedPlace]:
        """The chunks of a file with this kind and name."""
        return [chunk for chunk in self.namesakes(path, name) if chunk.kind == name.kind]

    def namesakes(self, path: str, name: ChunkName) -> list[NamedPlace]:
        """The chunks of a file with this name, of any kind."""
        last = name.segments[-1]
        return [
            chunk for chunk in self.chunks(path) if chunk.last == last and chunk.segments == name.segments
        ]

    def elsewhere(self, own_path: str, name: ChunkName) -> list[tuple[str, NamedPlace]]:
        """The chunks of this kind and name in other files; only files with its words are parsed."""
        words = _WORD.findall(name.segments[-1].encode())
        sets = [self._files_of_word.get(word, frozenset()) for word in words]
        numbers = sorted(frozenset.intersection(*sets)) if sets else []
        paths = [path for path in (self._texts.paths[number] for number in numbers) if path != own_path]
        return [(path, chunk) for path in paths for chunk in self.named(path, name)]

    @cached_property
    def _files_of_word(self) -> dict[bytes, frozenset[int]]:
        files: dict[bytes, set[int]] = {}
        for number, path in enumerate(self._texts.paths):
            for word in set(_WORD.findall(b"\n".join(self._texts.lines(path) or ()))):
                files.setdefault(word, set()).add(number)
        return {word: frozenset(numbers) for word, numbers in files.items()}


def span_of(chunk: NamedPlace, name: ChunkName) -> LineRange:
    """The lines of a chunk, with its head if the label had one."""
    return LineRange(chunk.head_line if name.has_head else chunk.start_line, chunk.end_line)
