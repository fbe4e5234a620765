"""Which stretch of lines is most similar to a text that is gone, and how similar it is.

Line prints enter; the best stretch and its ratio leave. The ratio is that of difflib over lines: twice
the lines in common, divided by the lines of both. Only a few stretches that share enough lines are
compared, so the cost is bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from heapq import nsmallest
from itertools import accumulate

from cce.labels.tracking.places import LineTable, TextPlace
from cce.labels.tracking.texts import PRINT_BYTES, line_prints

THRESHOLD = 0.6
"""Ratios up to this count as another text; difflib's own cutoff for a close match."""

_N_FILES = 4
_N_STRETCHES = 3
_MAX_BLOCKS = 200
_AUTOJUNK_LINES = 300  # above, difflib ignores frequent lines (its autojunk): it is quadratic otherwise
_BLANK = int.from_bytes(line_prints([b""]), "big")

Prints = Sequence[int]


@dataclass(frozen=True, slots=True)
class Likeness:
    """A place, and the ratio of its lines to the wanted text."""

    place: TextPlace
    ratio: float


class Likenesses:
    """Finds similar texts in the files of a table."""

    def __init__(self, table: LineTable) -> None:
        """Reads nothing before the first search."""
        self._table = table
        self._files: list[tuple[str, bytes]] | None = None
        self._files_of_print: dict[int, list[int]] = {}

    def best(self, prints: bytes, own_path: str) -> Likeness | None:
        """The most similar stretch above THRESHOLD; among equals the one in `own_path`."""
        old = _unpacked(prints)
        best: Likeness | None = None
        for path, new in self._candidates(old, own_path):
            found = closest_stretch(old, new)
            if found is not None and found[0] > (best.ratio if best else THRESHOLD):
                ratio, first, last = found
                best = Likeness(TextPlace(path, first + 1, last), ratio)
        return best

    def _candidates(self, old: Prints, own_path: str) -> list[tuple[str, Prints]]:
        """The file `own_path`, and the few files that share the most distinct lines with the text."""
        if self._files is None:
            self._files = list(self._table.prints())
            for number, (_, prints) in enumerate(self._files):
                for line in dict.fromkeys(_unpacked(prints)):
                    self._files_of_print.setdefault(line, []).append(number)
        distinct = [line for line in dict.fromkeys(old) if line != _BLANK]
        shared = Counter(number for line in distinct for number in self._files_of_print.get(line, ()))
        enough = [number for number, n_shared in shared.items() if 2 * n_shared > THRESHOLD * len(distinct)]
        nearest = nsmallest(_N_FILES, enough, key=lambda number: (-shared[number], number))
        paths = [self._files[number] for number in nearest]
        own = [file for file in paths if file[0] == own_path] or [
            (own_path, line_prints(self._table.texts.lines(own_path) or ()))
        ]
        return [
            (path, _unpacked(prints))
            for path, prints in own + [file for file in paths if file[0] != own_path]
        ]


def likeness(old: bytes, new: bytes) -> float:
    """The ratio of two texts by their line prints, in [0, 1]."""
    matcher = SequenceMatcher(None, _unpacked(old), _unpacked(new), autojunk=len(old) > _AUTOJUNK_LINES)
    return matcher.ratio()


def closest_lines(old: bytes, new: bytes) -> tuple[float, int, int] | None:
    """As `closest_stretch`, of line prints."""
    return closest_stretch(_unpacked(old), _unpacked(new))


def closest_stretch(old: Prints, new: Prints) -> tuple[float, int, int] | None:
    """(ratio, start, end) of the stretch `new[start:end]` most similar to `old`; None without one."""
    best: tuple[float, int, int] | None = None
    for center in _promising_windows(old, new):
        low = max(0, center - len(old) // 2 - 1)
        high = min(len(new), center + len(old) + len(old) // 2 + 1)
        ratio, start, end = _trimmed(old, new[low:high])
        if ratio > 0.0 and (best is None or ratio > best[0]):
            best = ratio, low + start, low + end
    return best


def _promising_windows(old: Prints, new: Prints) -> list[int]:
    """Starts of the windows of `new`, as long as `old`, that share the most lines with it, without overlaps.

    The window slides line by line: `n_shared` counts its lines that `old` also has, each as often as in
    `old`. With `old` = a a b, the window a a a shares 2 lines.
    """
    wanted = Counter(line for line in old if line != _BLANK)
    width, n_shared = len(old), 0
    window: Counter[int] = Counter()
    shared = []
    for position, line in enumerate(new):
        if position >= width:
            gone = new[position - width]
            n_shared -= window[gone] <= wanted[gone]
            window[gone] -= 1
        window[line] += 1
        n_shared += window[line] <= wanted[line]
        shared.append(n_shared)
    ends = sorted((end for end, n in enumerate(shared) if n), key=lambda end: (-shared[end], end))
    starts: list[int] = []
    for end in ends[: _N_STRETCHES * 2 * width]:
        start = max(0, end - width + 1)
        if all(abs(start - other) >= width for other in starts):
            starts.append(start)
        if len(starts) == _N_STRETCHES:
            break
    return starts


def _trimmed(old: Prints, new: Prints) -> tuple[float, int, int]:
    """The best stretch of `new` that begins and ends with a common line, as (ratio, start, end)."""
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) > _AUTOJUNK_LINES)
    blocks = matcher.get_matching_blocks()[:-1][:_MAX_BLOCKS]
    n_common = [0, *accumulate(block.size for block in blocks)]
    best = (0.0, 0, 0)
    for i, first in enumerate(blocks):
        for j in range(i, len(blocks)):
            end = blocks[j].b + blocks[j].size
            ratio = 2 * (n_common[j + 1] - n_common[i]) / (len(old) + end - first.b)
            if ratio > best[0]:
                best = ratio, first.b, end
    return best


def _unpacked(prints: bytes) -> Prints:
    return [
        int.from_bytes(prints[start : start + PRINT_BYTES], "big")
        for start in range(0, len(prints), PRINT_BYTES)
    ]
