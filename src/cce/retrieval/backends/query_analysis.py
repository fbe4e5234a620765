"""Query analysis for `hybrid`: the tokens and path hints of a query, and whether it is a code lookup.

A path hint is a term between white space that holds a dot, so most likely a file or a part of one.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cce.domain.query import Query
from cce.domain.ranking import Chunk
from cce.tokens import WHITE_SPACE, tokenize

_LOOKUP_TOKENS = frozenset((b"function", b"class", b"method", b"def"))
_LOOKUP_TEXT = re.compile(rb"\.(?:py|js|jsx|ts|go|rb|rs|java)(?![a-z0-9_])|where is | defined")
_WHITE_SPACE_RUN = re.compile(f"[{WHITE_SPACE}]+")


class AnalyzedQuery(NamedTuple):
    """What was found in a query; `path_hints` are lower-cased."""

    tokens: tuple[bytes, ...]
    path_hints: tuple[str, ...]
    is_code_lookup: bool

    def occurs_in(self, chunk: Chunk) -> bool:
        """Whether the chunk holds a token, be it inside a word, or its path a hint."""
        content = chunk.content.lower()
        for token in self.tokens:  # asked of many chunks: `any` would take twice as long
            if token in content:
                return True
        if not self.path_hints:
            return False
        path = chunk.file_path.lower()
        return any(hint in path for hint in self.path_hints)


def analyze_query(query: Query) -> AnalyzedQuery:
    """All that `hybrid` asks of a query, found once for all its candidates."""
    terms = _WHITE_SPACE_RUN.split(query.text)
    return AnalyzedQuery(
        query.tokens,
        tuple(term.lower() for term in terms if "." in term),
        is_code_lookup(query.encoded),
    )


def is_code_lookup(query: bytes) -> bool:
    """Whether a query looks a name or a file up rather than describing behaviour."""
    text = query.lower()
    return (
        not _LOOKUP_TOKENS.isdisjoint(tokenize(text))
        or _LOOKUP_TEXT.search(text) is not None
        or b" function" in text.partition(b"find ")[2]
    )
