"""The tokenizer and the token estimate: both wings measure with this one ruler."""

from __future__ import annotations

import re

_WORD = re.compile(rb"[a-z0-9_]+")

# Unicode's White_Space property. `str.split`, `str.strip` and `\s` also take U+001C to U+001F.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def tokenize(text: bytes) -> list[bytes]:
    """Maximal runs of `[A-Za-z0-9_]` over UTF-8 bytes, ASCII lower-cased, in order, repeats kept."""
    return _WORD.findall(text.lower())


def estimate_tokens(n_bytes: int) -> int:
    """About four bytes per token, at least one: the usual rule of thumb for English text and code."""
    return max(1, n_bytes // 4)
