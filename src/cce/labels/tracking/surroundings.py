"""Surroundings: the lines and the file around a place, and whether they support a text or its twin.

A place enters; the prints around it leave. Three things can support a text: the lines before a place,
the lines after it, and its file. Only differences between the two count.
"""

from __future__ import annotations

from dataclasses import dataclass

from cce.labels.tracking.places import LineTable, TextPlace
from cce.labels.tracking.texts import NAME_BYTES, PRINT_BYTES, line_prints, name_print

N_NEIGHBOURS = 12
"""How many lines on each side are compared."""

_END = line_prints([b"\0"])  # the start and the end of a file count as a line that no text has
_BLANK = line_prints([b""])
_SIDE_BYTES = 1 + PRINT_BYTES
_LENGTH_BYTES = 2
_MAX_GROWTH = 10  # lines by which any file may change; longer files may by half their length

Sides = tuple[bytes, bytes]
"""(prints of the lines before, prints of the lines after), nearest first."""


def sides_of(table: LineTable, place: TextPlace, n_lines: int = N_NEIGHBOURS) -> Sides:
    """Up to `n_lines` lines on each side of a place."""
    prints, reach = table.file_prints(place.path), n_lines * PRINT_BYTES
    start, end = (place.first - 1) * PRINT_BYTES, place.last * PRINT_BYTES
    # The prints before come in reverse order. Reversing bytes also swaps the two bytes of each print, so
    # they are swapped back: aA bB cC -> Cc Bb Aa -> cC bB aA.
    reverse = bytearray(prints[max(0, start - reach) : start][::-1])
    reverse[::2], reverse[1::2] = reverse[1::2], reverse[::2]
    return (bytes(reverse) + _END)[:reach], (prints[end : end + reach] + _END)[:reach]


def n_agreeing(prints: bytes, others: bytes) -> int:
    """The number of equal prints before the first that differs."""
    n = 0
    while n < min(len(prints), len(others)) and prints[n : n + PRINT_BYTES] == others[n : n + PRINT_BYTES]:
        n += PRINT_BYTES
    return n // PRINT_BYTES


def stands_between(table: LineTable, place: TextPlace, kept: Sides) -> bool:
    """Whether the nearest line on each side is the kept one."""
    return sides_of(table, place, 1) == (kept[0][:PRINT_BYTES], kept[1][:PRINT_BYTES])


def is_beside(kept: Sides, now: Sides) -> bool:
    """Whether a place has the kept nearest lines on at least one side, and one of them is distinctive.

    A blank line and the end of a file are not distinctive, unless the text is the whole file.
    """
    if kept == now == (_END, _END):
        return True
    return any(
        _is_distinctive(ours[: n_agreeing(ours, theirs) * PRINT_BYTES])
        for ours, theirs in zip(kept, now, strict=True)
    )


def _is_distinctive(prints: bytes) -> bool:
    lines = (prints[start : start + PRINT_BYTES] for start in range(0, len(prints), PRINT_BYTES))
    return any(line not in (_BLANK, _END) for line in lines)


@dataclass(frozen=True, slots=True)
class Parting:
    """On one side: the `depth`-th line is the first one that differs in a twin; `line` is its print there.

    Depth 0 means that no line differs.
    """

    depth: int
    line: bytes

    def votes(self, kept: bytes, now: bytes) -> tuple[bool, bool]:
        """(whether the lines `now` support the text, which had `kept`; whether they support the twin)."""
        if not self.depth:
            return False, False
        n_same = n_agreeing(kept, now)
        start = (self.depth - 1) * PRINT_BYTES
        is_twin = n_same == self.depth - 1 and now[start : start + PRINT_BYTES] == self.line
        return n_same >= self.depth, is_twin

    def touches(self, kept: bytes, now: bytes) -> bool:
        """Whether the nearest line of `now` is that of the twin."""
        nearest = self.line if self.depth == 1 else kept[:PRINT_BYTES]
        return now[:PRINT_BYTES] == nearest


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was: a print of its name, and how many lines it had."""

    name: bytes
    n_lines: int

    def is_as_long(self, table: LineTable, path: str) -> bool:
        """Whether the file at `path` has about as many lines now."""
        n_lines = len(table.texts.lines(path) or ())
        return abs(n_lines - self.n_lines) <= max(_MAX_GROWTH, self.n_lines // 2)


def file_at(table: LineTable, path: str) -> File:
    """The print of the path and the number of lines of a file."""
    return File(name_print(path), min(len(table.texts.lines(path) or ()), 256**_LENGTH_BYTES - 1))


@dataclass(frozen=True, slots=True)
class Twin:
    """Another place of the same text: its file, and the first difference on each side."""

    file: File
    before: Parting
    after: Parting

    @property
    def partings(self) -> tuple[Parting, Parting]:
        """The first differences before and after."""
        return self.before, self.after

    def encoded(self) -> str:
        """The twin in hex, of fixed length: name 4 bytes, number of lines 2, per side depth 1 and print 2."""
        sides = (bytes([side.depth]) + side.line for side in self.partings)
        return (self.file.name + self.file.n_lines.to_bytes(_LENGTH_BYTES, "big") + b"".join(sides)).hex()


def decoded_twin(text: str) -> Twin:
    """The twin that `encoded` spelled; raises ValueError for another text."""
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
    """The twin at `place` of a text with the neighbours `own`."""
    before, after = map(_parting, own, sides_of(table, place))
    return Twin(file_at(table, place.path), before, after)


def _parting(own: bytes, other: bytes) -> Parting:
    start = n_agreeing(own, other) * PRINT_BYTES
    if start == len(own):
        return Parting(0, bytes(PRINT_BYTES))
    return Parting(start // PRINT_BYTES + 1, other[start : start + PRINT_BYTES].ljust(PRINT_BYTES, b"\0"))
