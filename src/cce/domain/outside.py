"""What a system outside of the index is asked, and what it answers: as it was said, before any check.

A program, a service, an object of another framework and a saved run all answer with these. The door of
`retrieval.external` turns an answer into a ranking.
"""

from __future__ import annotations

from typing import NamedTuple


class ScopeRequest(NamedTuple):
    """The files that a question is limited to, as it travels to a system: patterns in .gitignore syntax.

    name     the scope of the systems file; None for a scope without a name
    tenant   who asks; None where nobody in particular does
    include  None where every file is included, empty for none
    """

    name: str | None
    tenant: str | None
    include: tuple[str, ...] | None
    exclude: tuple[str, ...]


class Question(NamedTuple):
    """One query for a system: `id` is that of its case, and may come again with another k or repeat.

    repeat  0-based: which time this is asked, for systems whose rankings differ
    """

    id: str
    text: str
    k: int
    scope: ScopeRequest | None = None
    repeat: int = 0


class OutsideResult(NamedTuple):
    """One result as a system said it; lines are 1-based and inclusive, both or neither given."""

    path: str
    start: int | None = None
    end: int | None = None
    kind: str | None = None
    score: float | None = None
    text: str | None = None


class FailedAnswer(NamedTuple):
    """An error in place of results, in the words of the system; it is text from outside."""

    message: str
    code: str | None = None


Answer = tuple[OutsideResult, ...] | FailedAnswer
"""The results, best first, or the failure; the order is the ranking, scores inform."""
