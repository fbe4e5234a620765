"""Where a text stands in a corpus: every run of lines that equals a given one.

Fingerprints of all lines are laid end to end, so that looking for a text is a search for bytes; each
place found that way is then compared for real. Cost is linear in the lines of the corpus.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from cce.labels.tracking.texts import PRINT_BYTES, AnchoredTexts, Lines, line_prints, name_print, pin_of_lines

MAX_UNTRACED_LINES = 200
"""A longer text of which only the pin is known is looked for in its own file alone."""

_PIN_BYTES = 8


@dataclass(frozen=True, slots=True)
class TextPlace:
    """Lines `first` to `last` of a file, 1-based and inclusive."""

    path: str
    first: int
    last: int


IsText = Callable[[Lines], bool]
"""Whether some lines are the text that is looked for."""


class LineTable:
    """All lines of a corpus by what they look like; reads nothing until something is looked for."""

    def __init__(self, texts: AnchoredTexts) -> None:
        """`texts` are the files to look in."""
        self.texts = texts
        self._windows: dict[tuple[int, tuple[str, ...]], _Strip] = {}

    @cached_property
    def _line_strip(self) -> _Strip:
        prints = ((path, line_prints(self.texts.lines(path) or ())) for path in self.texts.paths)
        return _Strip(prints, PRINT_BYTES)

    @cached_property
    def names(self) -> frozenset[bytes]:
        """Prints of the names of all files."""
        return frozenset(map(name_print, self.texts.paths))

    @cached_property
    def _paths_by_pin(self) -> dict[str, list[str]]:
        paths: dict[str, list[str]] = {}
        for path in self.texts.paths:
            for pin in dict.fromkeys(self.texts.pins(path, None)):
                paths.setdefault(pin, []).append(path)
        return paths

    def files(self, pin: str) -> list[str]:
        """The files for whose whole text this pin holds."""
        return self._paths_by_pin.get(pin, [])

    def prints(self) -> Iterator[tuple[str, bytes]]:
        """Every file with its line prints, in corpus order."""
        return self._line_strip.each_file()

    def file_prints(self, path: str) -> bytes:
        """The line prints of one file."""
        return self._line_strip.piece(path)

    def places(self, prints: bytes, is_text: IsText) -> Iterator[TextPlace]:
        """Where lines with these prints stand that are the text looked for, in corpus order."""
        for path, start, end in self._line_strip.find(prints):
            place = TextPlace(path, start + 1, end)
            if is_text(self.lines_at(place)):
                yield place

    def places_of_pin(self, pin: str, n_lines: int, own_path: str) -> list[TextPlace]:
        """Where `n_lines` lines stand of which no print is known, only their pin."""
        is_short = n_lines <= MAX_UNTRACED_LINES
        key = (n_lines, self.texts.paths if is_short else (own_path,))
        if key not in self._windows:
            windows = ((path, self._window_pins(path, n_lines)) for path in key[1])
            self._windows[key] = _Strip(windows, _PIN_BYTES)
        return [
            TextPlace(path, start + 1, start + n_lines)
            for path, start, _ in self._windows[key].find(bytes.fromhex(pin))
        ]

    def _window_pins(self, path: str, n_lines: int) -> bytes:
        lines = self.texts.lines(path) or ()
        starts = range(len(lines) - n_lines + 1)
        return bytes.fromhex("".join(pin_of_lines(lines[start : start + n_lines]) for start in starts))

    def lines_at(self, place: TextPlace) -> Lines:
        """The lines that stand at `place`."""
        return (self.texts.lines(place.path) or ())[place.first - 1 : place.last]


class _Strip:
    """Fingerprints of a fixed width, those of all files end to end."""

    def __init__(self, pieces: Iterable[tuple[str, bytes]], width: int) -> None:
        self._width = width
        self._paths: list[str] = []
        self._starts: list[int] = []
        laid = bytearray()
        for path, piece in pieces:
            if piece:
                self._paths.append(path)
                self._starts.append(len(laid))
                laid += piece
        self._bytes = bytes(laid)
        self._starts.append(len(laid))
        self._numbers = {path: number for number, path in enumerate(self._paths)}

    def each_file(self) -> Iterator[tuple[str, bytes]]:
        for number, path in enumerate(self._paths):
            yield path, self._bytes[self._starts[number] : self._starts[number + 1]]

    def piece(self, path: str) -> bytes:
        number = self._numbers.get(path)
        return b"" if number is None else self._bytes[self._starts[number] : self._starts[number + 1]]

    def find(self, wanted: bytes) -> Iterator[tuple[str, int, int]]:
        """The path and the half-open range of fingerprints of each occurrence."""
        position = self._bytes.find(wanted) if wanted else -1
        while position >= 0:
            number = bisect_right(self._starts, position) - 1
            end = position + len(wanted)
            # A find may begin inside a fingerprint, or run over from one file into the next.
            is_whole = (position - self._starts[number]) % self._width == 0
            if is_whole and end <= self._starts[number + 1]:
                start = self._starts[number]
                yield self._paths[number], (position - start) // self._width, (end - start) // self._width
            position = self._bytes.find(wanted, position + 1)
