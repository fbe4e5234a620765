r"""Anchored texts: which bytes of a corpus an anchor covers.

The texts of a corpus enter; the lines and pins of a path leave. The text is the scrubbed one that is
indexed, so nothing made from it reveals a secret. Lines end at `\n` and are compared without trailing
ASCII white space; whole files also without a byte order mark and empty lines at the end. So an editor
or a checkout that tidies up changes no label.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cce.domain.anchor import LineRange

Lines = tuple[bytes, ...]

_BOM = b"\xef\xbb\xbf"

N_DIGITS = 16  # 64 bits: a collision among a million texts has a probability of 3e-8
PRINT_BYTES = 2
_PRINT_MASK = 0xFFFF  # the lower PRINT_BYTES of a CRC-32
NAME_BYTES = 4


class Texts(Protocol):
    """The files of a corpus as they are indexed."""

    @property
    def paths(self) -> Sequence[str]:
        """The files that may be read, in corpus order."""

    def text(self, path: str) -> bytes | None:
        """The scrubbed text of the file `path`, None if the corpus has no such file."""


class AnchoredTexts:
    """The lines and pins of the files of a corpus, by path; both are kept in memory after the first use."""

    def __init__(self, texts: Texts) -> None:
        """Nothing is read until a path is asked for."""
        self._texts = texts
        self.paths = tuple(texts.paths)
        self._files: dict[str, _FileText | None] = {}
        self._pins: dict[tuple[str, LineRange | None], tuple[str, ...]] = {}

    def text(self, path: str) -> bytes | None:
        """The scrubbed text of a file, read anew: few ask for more than its lines."""
        return self._texts.text(path)

    def lines(self, path: str) -> Lines | None:
        """The lines of the file without trailing white space; None if the corpus has no such file."""
        file = self._file(path)
        return None if file is None else file.lines

    def pin(self, path: str, span: LineRange | None) -> str | None:
        """The pin of the text at this path and range; None if there is no text.

        A range that reaches past the end of the file covers the lines up to the end. None as `span` is
        the whole file.
        """
        pins = self.pins(path, span)
        return pins[0] if pins else None

    def pins(self, path: str, span: LineRange | None) -> tuple[str, ...]:
        """All pins that hold for the text at this path and range, the one to write first.

        Older versions pinned a file by its bytes as they are. A byte order mark may come or go without
        making a pin stale.
        """
        if (path, span) not in self._pins:
            self._pins[path, span] = self._work_out_pins(path, span)
        return self._pins[path, span]

    def _work_out_pins(self, path: str, span: LineRange | None) -> tuple[str, ...]:
        file = self._file(path)
        if file is None:
            return ()
        if span is None:
            return file.pins
        if span.first > len(file.lines):
            return ()
        lines = file.lines[span.first - 1 : span.last]
        if span.first > 1:
            return (pin_of_lines(lines),)
        bare = lines[0].removeprefix(_BOM)
        return (pin_of_lines(lines), *(pin_of_lines((first, *lines[1:])) for first in (bare, _BOM + bare)))

    def _file(self, path: str) -> _FileText | None:
        if path not in self._files:
            text = self._texts.text(path)
            self._files[path] = None if text is None else _FileText.of(text)
        return self._files[path]


@dataclass(frozen=True, slots=True)
class _FileText:
    """`pins` are all pins that hold for the whole file, the one to write first."""

    pins: tuple[str, ...]
    lines: Lines

    @classmethod
    def of(cls, text: bytes) -> _FileText:
        return cls((pin_of(_tidied(text)), pin_of(text)), split_lines(text))


def pin_of(text: bytes) -> str:
    """The pin of a text: the first N_DIGITS hex digits of its SHA-256."""
    return hashlib.sha256(text).hexdigest()[:N_DIGITS]


def pin_of_lines(lines: Lines) -> str:
    """The pin of a range; its lines come without trailing white space."""
    return pin_of(b"\n".join(lines))


def _tidied(text: bytes) -> bytes:
    """`text` without a byte order mark, trailing white space of its lines and empty lines at its end."""
    lines = list(split_lines(text.removeprefix(_BOM)))
    while lines and not lines[-1]:
        lines.pop()
    return b"\n".join(lines)


def split_lines(text: bytes) -> Lines:
    """The lines of `text` without trailing white space; no empty line follows a final line end."""
    lines = text.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return tuple(line.rstrip() for line in lines)


def line_prints(lines: Iterable[bytes]) -> bytes:
    """Two bytes per line, equal for equal lines: enough to compare texts, too few to reconstruct one.

    They are the lower half of a CRC-32: for the line `pass`, d424 in hex.
    """
    prints = (zlib.crc32(line) & _PRINT_MASK for line in lines)
    return b"".join(value.to_bytes(PRINT_BYTES, "big") for value in prints)


def name_print(path: str) -> bytes:
    """Four bytes per path, since one is compared with all paths of a corpus."""
    return zlib.crc32(path.encode()).to_bytes(NAME_BYTES, "big")
