"""Private keys that the standard rule leaves: PGP, PuTTY, SSH2, and those whose end is missing.

A block without an end goes as far as its text looks like base64, so that code behind it stays.
"""

from __future__ import annotations

import re
from functools import cache

_compiled = cache(re.compile)

_BEGIN = rb"----[- ]BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?[ -]----|Private-Lines:[ \t]*[0-9]+"
_END = rb"----[- ]END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?[ -]----"
# What may stand between two lines of a key, be they lines of a string in code.
_BETWEEN = rb"(?:\\[nr]|[\s\"'`,;|#*\\-])*(?:\+\s+[\"'`])?"
_HEADER = rb"[A-Za-z][A-Za-z-]{2,30}:[ \t][^\n\\\"']{1,200}"
_RUN = rb"[A-Za-z0-9+/=]+"
_MIN_RUN = 16
_MAC = rb"Private-MAC:[ \t]*([0-9A-Fa-f]{16,})"
_MARK = b"[REDACTED:PRIVATE_KEY]"


def redact_key_blocks(text: bytes) -> bytes:
    """`text` with a mark for each block, and the line ends that the block had."""
    if b"PRIVATE KEY" not in text and b"Private-" not in text:
        return text
    kept, position = [], 0
    begins = list(_compiled(_BEGIN).finditer(text))
    next_end = _compiled(_END).search(text)
    for number, begin in enumerate(begins):
        if begin.start() < position:
            continue
        limit = begins[number + 1].start() if number + 1 < len(begins) else len(text)
        while next_end is not None and next_end.start() < begin.end():
            next_end = _compiled(_END).search(text, next_end.end())
        is_whole = next_end is not None and next_end.end() <= limit and not begin[0].startswith(b"Private")
        end = next_end.end() if is_whole and next_end else _end_of_block(text, begin.end(), limit)
        if end > begin.end():
            start = begin.end() if begin[0].startswith(b"Private") else begin.start()
            kept += [text[position:start], _with_lines(text[start:end])]
            position = end
    text = b"".join([*kept, text[position:]]) if kept else text
    return _compiled(_MAC).sub(b"Private-MAC: " + _MARK, text)


def _with_lines(block: bytes) -> bytes:
    lead = b"\n" if block.startswith((b"\n", b"\r\n")) else b""
    return lead + _MARK + b"\n" * (block.count(b"\n") - len(lead))


def _end_of_block(text: bytes, start: int, limit: int) -> int:
    """Where what looks like base64 ends; `start` if nothing does."""
    end, position, is_body = start, start, False
    while position < limit:
        between = _compiled(_BETWEEN).match(text, position, limit)
        position = between.end() if between else position
        header = None if is_body else _compiled(_HEADER).match(text, position, limit)
        if header:
            position = header.end()
            continue
        run = _compiled(_RUN).match(text, position, limit)
        if run is None:
            break
        is_last = is_body and _n_lines(text[end:position]) < 2 and _is_alone(text, run.end())
        if len(run[0]) < _MIN_RUN and not is_last:
            break
        is_body = True
        end = position = run.end()
    return end


def _n_lines(between: bytes) -> int:
    return between.count(b"\n") + between.count(b"\\n")


def _is_alone(text: bytes, end: int) -> bool:
    """Whether a line, or a string of one, ends at `end`: the last line of a key is a short one."""
    return end == len(text) or text[end : end + 1] in b"\r\n\"'`\\"
