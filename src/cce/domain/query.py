"""A query: what every backend is asked, and what has been computed for it so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from cce.tokens import tokenize

_T = TypeVar("_T")


class Query:
    """One question to the backends of one index; make a new one for each question.

    text       as the user wrote it
    encoded    the same in UTF-8; a lone surrogate becomes `?`
    tokens     of `encoded`, in order, repeats kept
    unlimited  the same question about all chunks
    allowed    positions of the chunks that may be returned; None for all, an empty set for none
    """

    __slots__ = ("_memo", "allowed", "encoded", "text", "tokens", "unlimited")

    def __init__(
        self, text: str, allowed: frozenset[int] | None = None, unlimited: Query | None = None
    ) -> None:
        """`unlimited` is the query that this one limits."""
        self.text: Final = text
        self.encoded: Final = text.encode("utf-8", "replace")
        self.tokens: Final = tuple(tokenize(self.encoded))
        self.allowed: Final = allowed
        self.unlimited: Final = unlimited or self
        self._memo: dict[tuple[Callable[..., Any], tuple[object, ...]], Any] = {}

    def once(self, compute: Callable[..., _T], *arguments: object) -> _T:
        """`compute(self, *arguments)`, computed once however many backends ask for it.

        The memo lives as long as the query: scores of every chunk for every query would fill the memory.
        """
        key = compute, arguments
        if key not in self._memo:
            self._memo[key] = compute(self, *arguments)
        result: _T = self._memo[key]
        return result

    def allows(self, position: int) -> bool:
        """Whether the chunk at `position` may be returned."""
        return self.allowed is None or position in self.allowed

    def within(self, allowed: frozenset[int] | None) -> Query:
        """The same question about those of `allowed` that may be returned already; None limits nothing.

        The same object for the same set, so systems with one scope share what they compute.
        """
        if allowed is None:
            return self
        both = allowed if self.allowed is None else self.allowed & allowed
        return self.once(_limit, both)


def _limit(query: Query, allowed: frozenset[int]) -> Query:
    return Query(query.text, allowed, query.unlimited)
