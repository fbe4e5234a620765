"""Where a text stands in a corpus: all runs of lines that equal a given one.

Fingerprints of all lines are concatenated, so a text is found by a substring search; each match is then
verified on the real lines. The cost is linear in the lines of the corpus.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from operator import eq

from cce.labels.tracking.blocks import blocks
from cce.labels.tracking.chunks import ChunksByName, ChunksIn, no_chunks
from cce.labels.tracking.texts import PRINT_BYTES, AnchoredTexts, Lines, line_prints, name_print, pin_of_lines


@dataclass(frozen=True, slots=True)
class TextPlace:
    """Lines `first` to `last` of a file, 1-based and inclusive."""

    path: str
    first: int
    last: int


IsText = Callable[[Lines], bool]
"""Whether these lines are the wanted text."""


class LineTable:
    """All lines of a corpus by their prints; reads nothing before the first search."""

    def __init__(self, texts: AnchoredTexts, chunks_in: ChunksIn = no_chunks) -> None:
        """`texts` are the files to search; `chunks_in` tells what the chunks in one are called."""
        self.texts = texts
        self.chunks = ChunksByName(texts, chunks_in)
        self.has_names = chunks_in is not no_chunks

    @cached_property
    def _line_strip(self) -> _Strip:
        prints = ((path, line_prints(self.texts.lines(path) or ())) for path in self.texts.paths)
        return _Strip(prints, PRINT_BYTES)

    @cached_property
    def names(self) -> frozenset[bytes]:
        """Prints of the paths of all files."""
        return frozenset(map(name_print, self.texts.paths))

    @cached_property
    def _paths_by_pin(self) -> dict[str, list[str]]:
        paths: dict[str, list[str]] = {}
        for path in self.texts.paths:
            for pin in dict.fromkeys(self.texts.pins(path, None)):
                paths.setdefault(pin, []).append(path)
        return paths

    def files(self, pin: str) -> list[str]:
        """The files whose whole text this pin holds for."""
        return self._paths_by_pin.get(pin, [])

    def prints(self) -> Iterator[tuple[str, bytes]]:
        """All files with their line prints, in corpus order."""
        return self._line_strip.all_files()

    def file_prints(self, path: str) -> bytes:
        """The line prints of one file."""
        return self._line_strip.piece(path)

    def places(self, prints: bytes, is_text: IsText) -> Iterator[TextPlace]:
        """The places of lines with these prints that satisfy `is_text`, in corpus order."""
        for path, start, end in self._line_strip.find(prints):
            place = TextPlace(path, start + 1, end)
            if is_text(self.lines_at(place)):
                yield place

    def places_of_pin(self, pin: str, n_lines: int, own_path: str) -> list[TextPlace]:
        """The places of `n_lines` lines of which only the pin is known.

        The file `own_path` is searched first. A text that it has is looked for in the others as it is; one
        that it has not may be a block of another file.
        """
        lines = self.texts.lines(own_path) or ()
        for start in range(len(lines) - n_lines + 1):
            text = lines[start : start + n_lines]
            if pin_of_lines(text) == pin:
                return list(self.places(line_prints(text), partial(eq, text)))
        return self._blocks.get((n_lines, pin), [])

    @cached_property
    def _blocks(self) -> dict[tuple[int, str], list[TextPlace]]:
        """The places of all blocks of the corpus by their number of lines and their pin."""
        found: dict[tuple[int, str], list[TextPlace]] = {}
        for path in self.texts.paths:
            lines = self.texts.lines(path) or ()
            for start, end in blocks(lines):
                place = TextPlace(path, start + 1, end)
                found.setdefault((end - start, pin_of_lines(lines[start:end])), []).append(place)
        return found

    def lines_at(self, place: TextPlace) -> Lines:
        """The lines at `place`."""
        return (self.texts.lines(place.path) or ())[place.first - 1 : place.last]


class _Strip:
    """Fingerprints of a fixed width, concatenated over all files.

    Two files of 3 and 2 lines with prints of 2 bytes give 10 bytes and the starts [0, 6, 10].
    """

    def __init__(self, pieces: Iterable[tuple[str, bytes]], width: int) -> None:
        self._width = width
        self._paths: list[str] = []
        self._starts: list[int] = []
        joined = bytearray()
        for path, piece in pieces:
            if piece:
                self._paths.append(path)
                self._starts.append(len(joined))
                joined += piece
        self._bytes = bytes(joined)
        self._starts.append(len(joined))
        self._numbers = {path: number for number, path in enumerate(self._paths)}

    def all_files(self) -> Iterator[tuple[str, bytes]]:
        for number, path in enumerate(self._paths):
            yield path, self._bytes[self._starts[number] : self._starts[number + 1]]

    def piece(self, path: str) -> bytes:
        number = self._numbers.get(path)
        return b"" if number is None else self._bytes[self._starts[number] : self._starts[number + 1]]

    def find(self, wanted: bytes) -> Iterator[tuple[str, int, int]]:
        """(path, start, end) of all occurrences; 0-based numbers of fingerprints in the file, half-open."""
        position = self._bytes.find(wanted) if wanted else -1
        while position >= 0:
            # The last file that starts at or before the position: with starts [0, 6, 10] byte 7 is in file 1.
            number = bisect_right(self._starts, position) - 1
            end = position + len(wanted)
            # An occurrence may begin inside a fingerprint or cross the end of a file: these do not count.
            is_whole = (position - self._starts[number]) % self._width == 0
            if is_whole and end <= self._starts[number + 1]:
                start = self._starts[number]
                yield self._paths[number], (position - start) // self._width, (end - start) // self._width
            position = self._bytes.find(wanted, position + 1)
