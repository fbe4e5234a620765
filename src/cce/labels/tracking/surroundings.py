"""Surroundings: what stands around a place, and whether that speaks for one text or for its twin.

A place enters; what is around it leaves, as prints. Three things can speak for a text: the lines
before a place, the lines after it, and the file it is in. Only what tells two texts apart speaks.
"""

from __future__ import annotations

from dataclasses import dataclass

from cce.labels.tracking.places import LineTable, TextPlace
from cce.labels.tracking.texts import NAME_BYTES, PRINT_BYTES, line_prints, name_print

N_NEIGHBOURS = 12
"""How many lines on each side are looked at."""

_END = line_prints([b"\0"])  # the ends of a file count as a line of their own kind
_BLANK = line_prints([b""])
_SIDE_BYTES = 1 + PRINT_BYTES
_LENGTH_BYTES = 2
_N_LINES_MORE = 10  # a short file may grow by more than half of it

Sides = tuple[bytes, bytes]
"""Prints of the lines before and of those after, the nearest first."""


def sides_of(table: LineTable, place: TextPlace, n_lines: int = N_NEIGHBOURS) -> Sides:
    """Up to `n_lines` lines on each side of a place."""
    prints, reach = table.file_prints(place.path), n_lines * PRINT_BYTES
    start, end = (place.first - 1) * PRINT_BYTES, place.last * PRINT_BYTES
    turned = bytearray(prints[max(0, start - reach) : start][::-1])
    turned[::2], turned[1::2] = turned[1::2], turned[::2]  # which had turned the bytes of each print, too
    return (bytes(turned) + _END)[:reach], (prints[end : end + reach] + _END)[:reach]


def n_agreeing(prints: bytes, others: bytes) -> int:
    """How many prints are the same before the first that differs."""
    n = 0
    while n < min(len(prints), len(others)) and prints[n : n + PRINT_BYTES] == others[n : n + PRINT_BYTES]:
        n += PRINT_BYTES
    return n // PRINT_BYTES


def stands_between(table: LineTable, place: TextPlace, kept: Sides) -> bool:
    """Whether the nearest lines of both sides are the same."""
    return sides_of(table, place, 1) == (kept[0][:PRINT_BYTES], kept[1][:PRINT_BYTES])


def is_beside(kept: Sides, now: Sides) -> bool:
    """Whether a place has the nearest lines of either side, and one of them says something.

    A blank line and the end of a file do not, unless the text is all there is between two ends.
    """
    if kept == now == (_END, _END):
        return True
    return any(
        _says_something(ours[: n_agreeing(ours, theirs) * PRINT_BYTES])
        for ours, theirs in zip(kept, now, strict=True)
    )


def _says_something(prints: bytes) -> bool:
    each = (prints[start : start + PRINT_BYTES] for start in range(0, len(prints), PRINT_BYTES))
    return any(line not in (_BLANK, _END) for line in each)


@dataclass(frozen=True, slots=True)
class Parting:
    """On one side: the `depth`-th line is the first at which a twin differs, `line` is its print there.

    Depth 0 means that they do not differ.
    """

    depth: int
    line: bytes

    def speaks(self, kept: bytes, now: bytes) -> tuple[bool, bool]:
        """Whether the lines `now` speak for the text, whose own were `kept`, and whether for the twin."""
        if not self.depth:
            return False, False
        n_same = n_agreeing(kept, now)
        start = (self.depth - 1) * PRINT_BYTES
        is_twin = n_same == self.depth - 1 and now[start : start + PRINT_BYTES] == self.line
        return n_same >= self.depth, is_twin

    def touches(self, kept: bytes, now: bytes) -> bool:
        """Whether the twin's nearest line is the nearest of `now`."""
        nearest = self.line if self.depth == 1 else kept[:PRINT_BYTES]
        return now[:PRINT_BYTES] == nearest


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was: a print of its name, and how many lines it had."""

    name: bytes
    n_lines: int

    def is_as_long(self, table: LineTable, path: str) -> bool:
        """Whether the file that is at `path` now is about as long."""
        n_lines = len(table.texts.lines(path) or ())
        return abs(n_lines - self.n_lines) <= max(_N_LINES_MORE, self.n_lines // 2)


def file_at(table: LineTable, path: str) -> File:
    """What is kept of a file."""
    return File(name_print(path), min(len(table.texts.lines(path) or ()), 256**_LENGTH_BYTES - 1))


@dataclass(frozen=True, slots=True)
class Twin:
    """Another place of the same text: its file, and where each side parts."""

    file: File
    before: Parting
    after: Parting

    @property
    def partings(self) -> tuple[Parting, Parting]:
        """Those of both sides."""
        return self.before, self.after

    def encoded(self) -> str:
        """All of it in hex, always equally long."""
        sides = (bytes([side.depth]) + side.line for side in self.partings)
        return (self.file.name + self.file.n_lines.to_bytes(_LENGTH_BYTES, "big") + b"".join(sides)).hex()


def decoded_twin(text: str) -> Twin:
    """What `encoded` made; raises ValueError for anything else."""
    code = bytes.fromhex(text)
    if len(code) != NAME_BYTES + _LENGTH_BYTES + 2 * _SIDE_BYTES:
        raise ValueError("no twin")
    file, before, after = code[: -2 * _SIDE_BYTES], code[-2 * _SIDE_BYTES : -_SIDE_BYTES], code[-_SIDE_BYTES:]
    return Twin(
        File(file[:NAME_BYTES], int.from_bytes(file[NAME_BYTES:], "big")),
        Parting(before[0], before[1:]),
        Parting(after[0], after[1:]),
    )


def twin_at(table: LineTable, place: TextPlace, own: Sides) -> Twin:
    """What is kept of a twin of a text with the neighbours `own`."""
    before, after = map(_parting, own, sides_of(table, place))
    return Twin(file_at(table, place.path), before, after)


def _parting(own: bytes, other: bytes) -> Parting:
    start = n_agreeing(own, other) * PRINT_BYTES
    if start == len(own):
        return Parting(0, bytes(PRINT_BYTES))
    return Parting(start // PRINT_BYTES + 1, other[start : start + PRINT_BYTES].ljust(PRINT_BYTES, b"\0"))
