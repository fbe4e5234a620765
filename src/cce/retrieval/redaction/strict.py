"""Secrets beyond the norm: what `--redact strict` takes besides the standard rules, which run unchanged.

    text ──> standard rules ──> key blocks ──> shapes ──> assignments ──┐
      ^────────────── again, as long as that changes something ─────────┘

Lines keep their number. The path decides whether an unquoted value is a literal, as in settings, or an
expression, as in code.
"""

from __future__ import annotations

from cce.retrieval.redaction.assignments import redact_strict_assignments
from cce.retrieval.redaction.private_keys import redact_key_blocks
from cce.retrieval.redaction.shapes import redact_shapes
from cce.retrieval.redaction.standard import redact

# One mark may show what another one hid, such as a key word behind a token. More than three rounds were
# never seen to change a text; the limit keeps the work linear whatever the text is.
_MAX_ROUNDS = 8
_MARK = b"[REDACTED:"


def redact_strictly(text: bytes, path: str) -> bytes:
    """`text` of the file `path` without its secrets, those of the standard rules included.

    text     UTF-8
    returns  UTF-8; scrubbing it again changes nothing
    """
    for _ in range(_MAX_ROUNDS):
        before = text
        text = _redact_once(redact(text), path)
        if text == before:
            break
    return text


def count_secrets(text: bytes, path: str) -> int:
    """How many likely secrets are in `text`, which went through the standard rules."""
    scrubbed = _redact_once(text, path)
    return 0 if scrubbed == text else max(1, scrubbed.count(_MARK) - text.count(_MARK))


def _redact_once(text: bytes, path: str) -> bytes:
    return redact_strict_assignments(redact_shapes(redact_key_blocks(text)), path)
