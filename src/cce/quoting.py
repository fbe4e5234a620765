"""Foreign text in a message: on one line, printable, never long."""

from __future__ import annotations

_SHOWN_CHARACTERS = 60
_SHOWN_BITS = 200


def quoted(text: str) -> str:
    """`text` as a message shows it: in quotes, cut to a sane length, on one line."""
    cut = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return f"'{on_one_line(cut)}'"


def on_one_line(text: str) -> str:
    """`text` with every character that does not print as an escape; backslashes stay single."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shown_integer(value: int) -> str:
    """`value` in digits if a reader can take them in: `str` refuses thousands of them."""
    return str(value) if value.bit_length() <= _SHOWN_BITS else "a huge integer"
