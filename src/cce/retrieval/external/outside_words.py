"""What a system says for itself, made fit to be shown: messages, bodies, standard error, passages.

Such text is from outside. Secrets are scrubbed as those of a corpus are, what came from the environment
becomes `***`, and what goes into a message is one line. All of it happens before a text is cut: half a secret
is no longer recognised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from urllib.parse import quote

from cce.quoting import on_one_line
from cce.retrieval.redaction.standard import redact

HIDDEN = "***"

# Nobody reads more of a fault, and scrubbing megabytes of it would take seconds.
_MAX_READ = 1 << 16
# A value as short as `1` or `dev` is no secret: inside other words it stays, or no text could be read.
_MIN_ANYWHERE = 4


class OutsideWords:
    """Cleans what one system says; `secrets` are the values that it got from the environment."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        spellings = {text for value in secrets for text in _spellings(value)}
        # The longest first, so that no value is left half shown because a part of it is one too.
        ordered = sorted(spellings, key=lambda text: (-len(text), text))
        self._hidden = re.compile("|".join(map(_anywhere_or_alone, ordered))) if ordered else None

    def clean(self, text: str) -> str:
        """`text` without secrets; its lines stay."""
        if self._hidden is not None:
            text = self._hidden.sub(HIDDEN, text)
        # Lone surrogates have no UTF-8, which is what is scrubbed.
        return redact(text.encode("utf-8", "replace")).decode()

    def first(self, said: bytes, n: int) -> str:
        """The first `n` characters of `said`, clean and on one line, in quotes."""
        text = _flat(self.clean(said[:_MAX_READ].decode("utf-8", "replace")))
        return f"'{text[:n]}…'" if len(text) > n else f"'{text}'"

    def last(self, said: bytes, n: int) -> str:
        """The last `n` characters of `said`, clean and on one line, in quotes; empty if it is blank."""
        text = _flat(self.clean(said[-_MAX_READ:].decode("utf-8", "replace")))
        if not text:
            return ""
        return f"'…{text[-n:]}'" if len(text) > n else f"'{text}'"

    def message(self, text: str, n: int) -> str:
        """A message of at most `n` characters, clean and on one line."""
        flat = _flat(self.clean(text[:_MAX_READ]))
        return flat if len(flat) <= n else f"{flat[:n]}…"


def _flat(text: str) -> str:
    return on_one_line(" ".join(text.split()))


def _spellings(value: str) -> tuple[str, ...]:
    """How a value may come back: as it is, in JSON, in a `repr`, in a URL."""
    if not value.strip():
        return ()
    return value, json.dumps(value)[1:-1], repr(value)[1:-1], quote(value, safe="")


def _anywhere_or_alone(text: str) -> str:
    escaped = re.escape(text)
    return escaped if len(text) >= _MIN_ANYWHERE else rf"(?<!\w){escaped}(?!\w)"
