"""How records spell figures: six decimals as a string, null for an undefined one."""

from __future__ import annotations

from cce.domain.ranking import Chunk, Location
from cce.domain.redaction import Redaction
from cce.numerals import format_score, format_signed

Json = dict[str, object]
"""A record: field -> value, ready to be dumped."""


def score_or_null(value: float | None) -> str | None:
    """A score or a p value."""
    return None if value is None else format_score(value)


def kind_or_null(result: Chunk | Location) -> str | None:
    """The kind of a chunk, or of the chunk that a location is most like."""
    return result.kind if isinstance(result, Chunk) else result.likeness or result.kind


def signed_or_null(value: float | None) -> str | None:
    """A difference, with its sign."""
    return None if value is None else format_signed(value)


def redact_field(redaction: Redaction) -> Json:
    """`redact` under the strict rules; a report under the standard ones does not name them."""
    return {"redact": redaction.value} if redaction is Redaction.STRICT else {}
