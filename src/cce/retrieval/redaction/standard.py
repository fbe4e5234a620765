"""Secrets in file contents: UTF-8 text in, the same text with `[REDACTED:LABEL]` in their place out.

Two layers, in this order: tokens whose shape alone gives them away, then values assigned to names
such as `password`. Every step reads the text a fixed number of times, whatever the text is, so no
expression here may look for an end that could be missing, or start again inside a run it has read.
Which files are not even opened is `sensitive.py`'s business.

Expressions are compiled when a text first needs them: most never are, and all together would take as
long as scrubbing half a megabyte.

Possessive groups would say some of it more shortly, but CPython 3.11.2 matches them wrongly.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from cce.tokens import WHITE_SPACE

_compiled = cache(re.compile)

_BEGIN_KEY = rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----"
_END_KEY = rb"-----END [A-Z0-9 ]*PRIVATE KEY-----"

# (label, a literal every match holds, shape). Looking for a literal is the fastest way to find none.
_TOKENS = (
    ("ANTHROPIC_KEY", b"sk-ant-", rb"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("OPENAI_KEY", b"sk-", rb"sk-[A-Za-z0-9]{32,}"),
    ("STRIPE_KEY", b"sk_live_", rb"sk_live_[A-Za-z0-9]{16,}"),
    ("GITHUB_TOKEN", b"gh", rb"gh[pousr]_[A-Za-z0-9]{36,}"),
    ("SLACK_TOKEN", b"xox", rb"xox[baprs]-[A-Za-z0-9-]{10,}"),
    ("AWS_ACCESS_KEY", b"AKIA", rb"AKIA[0-9A-Z]{16}"),
    ("GOOGLE_API_KEY", b"AIza", rb"AIza[0-9A-Za-z_-]{35}"),
)

# The second branch takes a run that begins no web token in one step: all starts inside it fail alike.
_WEB_TOKEN = rb"(?P<whole>(?:eyJ[A-Za-z0-9_-]{10,}\.){2}[A-Za-z0-9_-]{10,})|eyJ[A-Za-z0-9_-]*"

_LONG_S, _KELVIN = "\u017f".encode(), "\u212a".encode()  # fold to s and k
_WIDE_SPACE = b"|".join(space.encode() for space in WHITE_SPACE if not space.isascii())
_SPACE = rb"[\t-\r ]*(?:(?:" + _WIDE_SPACE + rb")[\t-\r ]*)*"
_OPERATOR = _SPACE + rb"[:=]" + _SPACE
# (a literal every match holds, key), both in lower case. No key holds the start of another match of it.
_KEYS = (
    (b"password", rb"password"),
    (b"passwd", rb"passwd"),
    (b"secret", rb"secret(?:[_-]?key)?"),
    (b"api", rb"api[_-]?key"),
    (b"access", rb"access[_-]?key"),
    (b"auth", rb"auth[_-]?token"),
    (b"private", rb"private[_-]?key"),
    (b"token", rb"token"),
)
_FOLDED_KEYS = tuple(
    key.replace(b"s", b"(?:s|" + _LONG_S + b")").replace(b"k", b"(?:k|" + _KELVIN + b")") for _, key in _KEYS
)

_JOINERS = "\u200c\u200d"
# Letters by property (Other_Alphabetic) that are symbols by category.
_CIRCLED_LETTERS = "[\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189]"


@cache
def _quoted_step(quote: bytes) -> re.Pattern[bytes]:
    """What may end a value opened by `quote`: the group `end` if it does.

    The one branch that looks ahead stops at the next quote, where the following look-ahead begins.
    """
    return re.compile(
        rb"""(?x: \\[^\n]?                               # a backslash takes the next character along
          | QQ                                         # a doubled quote
          | Q (?! \Z | [\t\n\f\r !-,./:-@[-^`{-~] )    # no end, white space, punctuation but _ - follows
          | Q (?= [^Q\t\n\f\r ]* Q )                   # another quote follows before any white space
          | (?P<end> Q | \n )
        )""".replace(b"Q", quote)
    )


_QUOTES = (b'"', b"'", b"`")
_ASCII_SPACE = rb"[\t\n\f\r ]"
_MIN_SECRET_BYTES = 8  # also keeps null, nil, none, true and false
_REDACTED = rb"\[REDACTED:[^\]]*\]"
_PLACEHOLDER_STARTS = (
    b"your",
    b"my-",
    b"the-",
    b"example",
    b"changeme",
    b"placeholder",
    b"dummy",
    b"test",
    b"sample",
    b"xxx",
)
_PLACEHOLDER_WRAPS = ((b"<", b">"), (b"${", b"}"), (b"{{", b"}}"))


def redact(text: bytes) -> bytes:
    """`text` without its secrets; lines keep their number unless a private key spans several.

    text     UTF-8
    returns  UTF-8; scrubbing it again changes nothing
    """
    if b"-----BEGIN " in text:
        text = _redact_private_keys(text)
    for label, literal, shape in _TOKENS:
        if literal in text:
            text = _compiled(shape).sub(_mark(label), text)
    if b"eyJ" in text:
        text = _compiled(_WEB_TOKEN).sub(lambda found: _mark("JWT") if found["whole"] else found[0], text)
    return _redact_assignments(text)


def _mark(label: str) -> bytes:
    return f"[REDACTED:{label}]".encode()


def _redact_private_keys(text: bytes) -> bytes:
    kept, position = [], 0
    while begin := _compiled(_BEGIN_KEY).search(text, position):
        end = _compiled(_END_KEY).search(text, begin.end())
        if end is None:  # then no later one has an end either
            break
        kept += [text[position : begin.start()], _mark("PRIVATE_KEY")]
        position = end.end()
    return b"".join([*kept, text[position:]]) if kept else text


def _redact_assignments(text: bytes) -> bytes:
    kept, position, scanned = [], 0, 0
    for start, value_start in _assignments(text):
        if start < scanned:
            continue
        first, last, scanned = value_span(text, value_start)
        if not _is_harmless(text[first:last]):
            kept += [text[position:first], _mark("SECRET")]
            position = last
    return b"".join([*kept, text[position:]]) if kept else text


def _assignments(text: bytes) -> Iterator[tuple[int, int]]:
    """Where each key starts and what is assigned to it starts, by position; they may overlap."""
    lowered = text.lower()
    if not text.isascii() and (_LONG_S in text or _KELVIN in text):
        keys = list(_FOLDED_KEYS)
    else:
        keys = [key for literal, key in _KEYS if literal in lowered]
    spans = [
        (found.start(), assigned.end())
        for key in keys
        for found in _compiled(key).finditer(lowered)
        if (assigned := _compiled(_OPERATOR).match(lowered, found.end()))
    ]
    return (span for span in sorted(spans) if not _is_word_before(text, span[0]))


def _is_word_before(text: bytes, position: int) -> bool:
    """Whether the character that ends at `position` is part of a word, as Unicode defines words."""
    start = position - 1
    while start > 0 and text[start] & 0xC0 == 0x80:  # a continuation byte
        start -= 1
    return position > 0 and _is_word(text[start:position].decode())


def _is_word(character: str) -> bool:
    category = unicodedata.category(character)
    return (
        category[0] in "LM"
        or category in ("Nd", "Nl", "Pc")
        or character in _JOINERS
        or _compiled(_CIRCLED_LETTERS).match(character) is not None
    )


def value_span(text: bytes, start: int) -> tuple[int, int, int]:
    """First and last position of the value's inner text, and where the value ends, quotes included."""
    quote = text[start : start + 1]
    if quote not in _QUOTES:
        space = _compiled(_ASCII_SPACE).search(text, start)
        end = space.start() if space else len(text)
        return start, end, end
    ends = (found.start() for found in _quoted_step(quote).finditer(text, start + 1) if found["end"])
    end = next(ends, len(text))
    return start + 1, end, end + text.startswith(quote, end)


def _is_harmless(value: bytes) -> bool:
    is_dull = len(value) < _MIN_SECRET_BYTES or is_placeholder(value)
    return is_dull and next(_assignments(value), None) is None


def is_placeholder(value: bytes) -> bool:
    """Whether `value`, which is not empty, stands for a secret that was never there."""
    return (
        _compiled(_REDACTED).fullmatch(value) is not None
        or value.lower().startswith(_PLACEHOLDER_STARTS)
        or any(value.startswith(left) and value.endswith(right) for left, right in _PLACEHOLDER_WRAPS)
        or _is_one_character(value)
    )


def _is_one_character(value: bytes) -> bool:
    character = value.decode()[0].encode()
    return value == character * (len(value) // len(character))
