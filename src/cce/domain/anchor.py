"""An anchor says what a good answer must touch: a file, a kind of chunk, lines of a file.

    path            path#kind           #kind
    path@a-b        path#kind@a-b       (lines 1-based, inclusive)

Text goes in, an Anchor or an AnchorError comes out. The fixture reader adds file and line to the message.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cce.domain.ranking import Chunk
from cce.errors import AnchorError
from cce.quoting import quoted
from cce.tokens import WHITE_SPACE

_RANGE_ALPHABET = re.compile(r"[0-9-]+")
_RANGE = re.compile(r"([0-9]+)-([0-9]+)")

# Far above any file, and below 640, the smallest limit that sys.set_int_max_str_digits accepts: int() never
# refuses such a number.
_MAX_LINE_DIGITS = 600


class LineRange(NamedTuple):
    """Lines `first` to `last`, 1-based and inclusive; matching costs the same for any width."""

    first: int
    last: int


class Anchor(NamedTuple):
    """`text` is the anchor as written; of `path` and `kind` at least one is set, `lines` only with a path."""

    text: str
    path: str | None
    kind: str | None
    lines: LineRange | None

    @property
    def named(self) -> tuple[str | None, str | None, LineRange | None]:
        """What it names, however it is written: equal for anchors that say the same."""
        return self.path, self.kind, self.lines

    def matches(self, chunk: Chunk) -> bool:
        """Whether `chunk` satisfies every part this anchor names."""
        if self.path is not None and self.path != chunk.file_path:
            return False
        if self.kind is not None and self.kind != chunk.kind:
            return False
        lines = self.lines
        return lines is None or (chunk.start_line <= lines.last and lines.first <= chunk.end_line)


def parse_anchor(text: str) -> Anchor:
    """The anchor that `text` spells; raises AnchorError with the fault and the way out."""
    body, lines = _split_range(text)
    path, hash_sign, kind = body.partition("#")
    path, kind = path.strip(WHITE_SPACE), kind.strip(WHITE_SPACE)
    if hash_sign and not kind:
        raise AnchorError(
            f"anchor {quoted(text)} has an empty kind after '#', write path#kind or drop the '#'"
        )
    if not path and not kind:
        raise AnchorError(f"anchor {quoted(text)} names no path and no kind, write path, path#kind or #kind")
    if lines is not None and not path:
        raise AnchorError(f"anchor {quoted(text)} has a line range without a path, write path@a-b")
    return Anchor(text, path or None, kind or None, lines)


def _split_range(text: str) -> tuple[str, LineRange | None]:
    body, at_sign, tail = text.rpartition("@")
    tail = tail.strip(WHITE_SPACE)
    if not at_sign or not _RANGE_ALPHABET.fullmatch(tail):
        return text, None  # `user@host.py` is an ordinary path
    return body, _parse_range(text, tail)


def _parse_range(text: str, tail: str) -> LineRange:
    bounds = _RANGE.fullmatch(tail)
    if bounds is None:
        raise AnchorError(f"anchor {quoted(text)} has a malformed line range, write @a-b as in a.py@3-9")
    first, last = (_line_number(text, digits) for digits in bounds.groups())
    if not 1 <= first <= last:
        raise AnchorError(
            f"anchor {quoted(text)} has a line range that is not 1 <= a <= b, write it as a.py@3-9"
        )
    return LineRange(first, last)


def _line_number(text: str, digits: str) -> int:
    significant = digits.lstrip("0")
    if len(significant) > _MAX_LINE_DIGITS:
        raise AnchorError(
            f"anchor {quoted(text)} has a line number of {len(significant)} digits,"
            f" write one of at most {_MAX_LINE_DIGITS}"
        )
    return int(significant or "0")
