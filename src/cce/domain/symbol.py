"""Symbols: what a label calls a function or class, and which qualified names it fits.

    kind:name     kind may be empty: method_definition:Stack.push   :Stack.push   :Point::fmt

A qualified name is a tuple of segments, outermost first. Names are compared piece by piece, from the end:
`.`, `::` and `#` separate pieces, empty ones are dropped, and a leading `static`, `get` or `set` does not
count. `TRAIT for TYPE`, the segment of a Rust impl, is never split, and TYPE alone fits it as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from cce.tokens import WHITE_SPACE

_SEPARATOR = re.compile(r"::|[.#]")
_MODIFIERS = ("static ", "get ", "set ")
FOR = " for "
"""What stands between the trait and the type in the segment of a Rust impl."""


class Symbol(NamedTuple):
    """The name that a label gives, and the kind of chunk where it says one."""

    kind: str | None
    name: str

    @property
    def pieces(self) -> tuple[str, ...]:
        """The pieces of the name, outermost first."""
        return split_name(self.name)

    def fits(self, kind: str, segments: Sequence[str]) -> bool:
        """Whether a chunk of this kind and qualified name is meant; a chunk without a name never is."""
        return (self.kind is None or self.kind == kind) and is_name_of(self.pieces, segments)


def parse_symbol(text: str) -> Symbol | None:
    """The symbol in `text`, what an anchor has right of its `#`; None if it is a kind alone.

    The name may be empty or hold no piece: who reads the anchor says so.
    """
    kind, colon, name = text.partition(":")
    return Symbol(kind.strip(WHITE_SPACE) or None, name.strip(WHITE_SPACE)) if colon else None


def split_name(name: str) -> tuple[str, ...]:
    """The pieces of a name as people write it: `A::B#m`, `A.B.m` and `static A.B.m` give A, B, m.

    A separator within `TRAIT for TYPE` separates too: only the name of a chunk tells where a trait begins.
    """
    pieces = (_without_modifiers(piece.strip(WHITE_SPACE)) for piece in _SEPARATOR.split(name))
    return tuple(piece for piece in pieces if piece)


def is_name_of(pieces: Sequence[str], segments: Sequence[str]) -> bool:
    """Whether a name with these pieces is the end of the qualified name `segments`."""
    end = len(pieces)
    for segment in reversed(segments):
        if end == 0:
            break
        n_fitting = _n_fitting(pieces, end, segment)
        if n_fitting == 0:
            return False
        end -= n_fitting
    return end == 0 and bool(pieces)


def name_text(segments: Sequence[str]) -> str:
    """A qualified name as one text; a symbol with it as its name fits the chunk."""
    joined = ""
    for segment in segments:
        # Ruby's segments begin with what separates them: `Stack` and `#push` are `Stack#push`.
        joined += segment if not joined or segment[:1] in "#." else f".{segment}"
    return joined


def _n_fitting(pieces: Sequence[str], end: int, segment: str) -> int:
    """How many of `pieces[:end]` the end of them spells `segment` with; 0 if it spells something else.

    Fewer pieces than the segment has fit only if they are all there are: `m` fits `exports.m`.
    """
    whole = split_name(segment)
    if FOR not in segment:
        return _n_common(pieces, end, whole, is_part_enough=True)
    # The longer form first: where it fits, its last pieces are those of TYPE as well.
    return _n_common(pieces, end, whole, is_part_enough=False) or _n_common(
        pieces, end, split_name(segment.partition(FOR)[2]), is_part_enough=True
    )


def _n_common(pieces: Sequence[str], end: int, wanted: Sequence[str], *, is_part_enough: bool) -> int:
    n = min(end, len(wanted)) if is_part_enough else len(wanted)
    is_there = 0 < n <= end and tuple(pieces[end - n : end]) == tuple(wanted[len(wanted) - n :])
    return n if is_there else 0


def _without_modifiers(piece: str) -> str:
    while piece.startswith(_MODIFIERS):
        piece = piece.partition(" ")[2].lstrip(WHITE_SPACE)
    return piece
