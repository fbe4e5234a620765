r"""Text from outside, made safe to show: control and bidi characters are written as escapes.

Sets, paths, stores and servers may hold escape sequences, and bidi controls, which make a line read otherwise
than it is (CVE-2021-42574). An escape such as `\x1b` replaces each, so no information is lost. There are two
strengths. Reports use `one_line`, which leaves all ordinary text as it is; messages use `on_one_line`, which
also escapes what cannot be seen, such as a no-break space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

_SHOWN_CHARACTERS = 60
_SHOWN_BITS = 200  # 61 digits, as many as characters of a text

_OBEYED = (
    "\x00-\x1f\x7f-\x9f"  # C0, DEL and C1: what moves a cursor or opens an escape sequence
    "\u2028\u2029"  # what ends a line for some readers
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # Unicode's Bidi_Control characters, all twelve
    "\ud800-\udfff"  # lone surrogates: no character at all
)
# Compiled when a text first needs them, which few runs have: all that these find does not print.
_IN_LINE = f"[{_OBEYED}]"
# Colours are ours: they are put around text that was escaped before. Line ends and tabs lay out a report.
_IN_TERMINAL = f"(?![\n\t])[{_OBEYED}](?<!\x1b)|\x1b(?!\\[[0-9;]*m)"


def quoted(text: str) -> str:
    """`text` as a message shows it: in quotes, cut to a sane length, on one line."""
    return f"'{on_one_line(shortened(text, _SHOWN_CHARACTERS))}'"


def on_one_line(text: str) -> str:
    """`text` with every character that does not print as an escape; backslashes stay single."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _spelled(c) for c in text)


def shown_integer(value: int) -> str:
    """`value` in digits if a reader can take them in: `str` refuses thousands of them."""
    return str(value) if value.bit_length() <= _SHOWN_BITS else "a huge integer"


def one_line(text: str) -> str:
    r"""`text` with control characters, bidi controls, line ends and lone surrogates as `\n` or `\u202e`."""
    return text if text.isprintable() else re.sub(_IN_LINE, lambda found: _spelled(found[0]), text)


def one_line_in_json(text: str) -> str:
    """JSON on one line whose strings, once parsed, show what `one_line` shows; U+0000 to U+001F stay."""
    return re.sub(_IN_LINE, lambda found: "\\" + _spelled(found[0]), text)


def for_terminal(text: str) -> str:
    """Our own lines, safe for a terminal: only line ends, tabs and colours stay control characters."""
    return re.sub(_IN_TERMINAL, lambda found: _spelled(found[0]), text)


def shortened(text: str, n: int) -> str:
    """`text` cut to `n` characters, with `…` where it was cut."""
    return text if len(text) <= n else f"{text[:n]}…"


def counted(n: int, noun: str, plural: str = "") -> str:
    """`1 case`, `2 cases`; `plural` where it is not the noun with an s."""
    return f"{n} {noun if n == 1 else plural or f'{noun}s'}"


def listed(texts: Iterable[str], n_texts: int, n_shown: int) -> str:
    """The first `n_shown` of `n_texts` texts, which alone are made: `a, b, …`."""
    return ", ".join(islice(texts, n_shown)) + (", …" if n_texts > n_shown else "")


def listed_with_rest(texts: Iterable[str], n_texts: int, n_shown: int) -> str:
    """As `listed`, and how many are not shown: `a, b, … 3 more`."""
    rest = f" {n_texts - n_shown} more" if n_texts > n_shown else ""
    return f"{listed(texts, n_texts, n_shown)}{rest}"


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
