"""JSON that is mostly brackets: refused before a parser makes an object of each.

An empty list costs three bytes of text and sixty-four of memory, so 60 MB of them would take 1.8 GB. Text
that people and tools write has far more between its brackets. How deep brackets nest is the parsers' own
affair: they all stop at a depth.
"""

from __future__ import annotations

import re

MAX_FREE = 200_000
"""So many lists and objects need no text around them: at most some 50 MB of memory."""

MIN_BYTES = 16
"""What is above MAX_FREE must be this long a list or object, on average over the whole text."""

# Possessive, so that a string without an end is looked through once and not once a character.
_STRING = rb'"(?:[^"\\]|\\.)*+"?'


def is_mostly_brackets(text: bytes) -> bool:
    """Whether `text`, JSON, has more lists and objects than its length makes likely."""
    limit = max(MAX_FREE, len(text) // MIN_BYTES)
    if _n_opened(text) <= limit:  # two searches for a byte: nearly always the whole work
        return False
    return _n_opened(re.sub(_STRING, b"", text, flags=re.DOTALL)) > limit


def _n_opened(text: bytes) -> int:
    return text.count(b"[") + text.count(b"{")
