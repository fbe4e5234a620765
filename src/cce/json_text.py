"""JSON text: how ours is written, and what of others' is refused before a parser makes objects of it.

One function writes. Three texts differ on purpose: a set's lines, one object each, follow the hand that wrote
them; the page's payload is compact and escaped for HTML; snapshots have a head of one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

MAX_FREE = 200_000
"""Lists and objects that need no text around them: at most some 50 MB of memory.

An empty list costs three bytes of text and sixty-four of memory, so 60 MB of them would take 1.8 GB. Text
that people and tools write has far more between its brackets. How deep brackets nest is the parsers' own
affair: they all stop at a depth.
"""

MIN_BYTES = 16
"""Bytes per list or object, on average over the whole text, that a text with more than MAX_FREE must have."""

# Possessive, so that a string without an end is looked through once and not once a character.
_STRING = rb'"(?:[^"\\]|\\.)*+"?'


def dump_json(record: Mapping[str, object], *, sort_keys: bool = True) -> str:
    r"""Sorted keys, two-space indent, one final newline; raises ValueError for NaN and infinity.

    Text beyond ASCII stays as it is. A path that is not UTF-8 arrives with lone surrogates, which have no
    UTF-8: they leave as JSON escapes such as `\udcff`.
    """
    text = json.dumps(record, ensure_ascii=False, indent=2, sort_keys=sort_keys, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode() + "\n"


def is_mostly_brackets(text: bytes) -> bool:
    """Whether `text`, JSON, has more lists and objects than its length makes likely."""
    limit = max(MAX_FREE, len(text) // MIN_BYTES)
    if _n_opened(text) <= limit:  # two searches for a byte: nearly always the whole work
        return False
    return _n_opened(re.sub(_STRING, b"", text, flags=re.DOTALL)) > limit


def _n_opened(text: bytes) -> int:
    return text.count(b"[") + text.count(b"{")
