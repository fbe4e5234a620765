"""How every JSON of ours is written, and how its records spell figures. One value in, one text out.

Two texts differ on purpose: the chunk list (`conformance`) keeps the order of its keys, which other
implementations compare, and the page's payload is compact and escaped for HTML.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from cce.numerals import format_score, format_signed

Json = dict[str, object]
"""A record: field -> value, ready to be dumped."""


def dump_json(record: Mapping[str, object], *, sort_keys: bool = True) -> str:
    r"""Sorted keys, two-space indent, one final newline; raises ValueError for NaN and infinity.

    Text beyond ASCII stays as it is. A path that is not UTF-8 arrives with lone surrogates, which have no
    UTF-8: they leave as JSON escapes such as `\udcff`.
    """
    text = json.dumps(record, ensure_ascii=False, indent=2, sort_keys=sort_keys, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode() + "\n"


def score_or_null(value: float | None) -> str | None:
    """Six decimals as a string; null for an undefined figure."""
    return None if value is None else format_score(value)


def signed_or_null(value: float | None) -> str | None:
    """Six decimals with a sign as a string; null for an undefined figure."""
    return None if value is None else format_signed(value)
