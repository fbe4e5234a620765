"""Secrets assigned to a name, wherever the standard rules do not look.

A name ends in a word such as `password` or `apiKey`, whatever stands before it. Behind it come the signs
that close it (a quote, a bracket), a type, an operator, and the value: a string, an indented block of
YAML, the text of an XML element, or bare. How sure a value must be depends on all of these: a bare one in
code is an expression as a rule, one in settings never is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from operator import itemgetter
from typing import NamedTuple

from cce.retrieval.redaction.standard import value_span
from cce.retrieval.redaction.values import TextKind, is_literal, is_mixed, is_random, is_wordy, kind_of

_compiled = cache(re.compile)

_MARK = b"[REDACTED:SECRET]"

# (a literal every match starts with, the last word of a name), in lower case.
WORDS = (
    (b"pass", rb"pass(?:word|wd|phrase|code)?"),
    (b"pwd", rb"pwd"),
    (b"pw", rb"pw"),
    (b"secret", rb"secret(?:[_-]?key(?:[_-]?base)?)?"),
    (b"token", rb"token"),
    (b"key", rb"key"),
    (b"auth", rb"auth"),
    (b"identified by", rb"identified by"),
)
_KEY_OWNERS = (
    rb"(?:api|app|access|account|auth|private|secret|encrypt|encryption|crypto|signing|sign|master|shared|storage"
    rb"|service|client|consumer|subscription|functions?|hmac|aes|jwt)[_.-]?\Z"
)
_BARE = frozenset({b"pass", b"pw", b"auth"})  # too common without a word before them

_PUBLIC = (b"public", b"publickey", b"public_key", b"public-key")

_CLOSE = rb"[0-9]{0,3}(?P<close>\\?[\"'`])?\]?(?:\[[0-9]*\])?[?!]?"
_TYPE = rb"(?:&'[a-z_]+|[a-z&*?\[\]<>.|:_ \t0-9]){1,80}?"
_OPERATOR = (
    rb"(?:(?P<typed>[ \t]*:(?!=)"
    + _TYPE
    + rb"=(?![=>~]))(?=\s*(?:[a-z_][a-z0-9_.:]{0,60}!?\()?[a-z@$]{0,2}[\"'`])"
    rb"|[ \t]+\*?[a-z.\[\]]{1,40}[ \t]*=(?![=>~])(?=\s*[\"'`])"
    rb"|(?P<item>,?\s{0,80}[\"']?value[\"']?[ \t]*[:=])"
    rb"|(?P<test>[ \t]*(?:===?|!==?))(?=[ \t]*[\"'`])"
    rb"|[ \t]*(?P<op>:=|=>|->|\?\?=|\?=|\|\|=|\+=|=(?![=>~])|:(?!=))"
    rb"|(?P<xml>>)(?:<!\[cdata\[)?"
    rb"|(?P<comma>[ \t]*,)(?=\s*[\"'`])"
    rb"|(?P<space>[ \t]+)(?=[^\s=:]))"
)

_QUOTED = (
    rb"(?:\s{0,80}(?:\(\s{0,80})?(?P<prefix>[A-Za-z@$]{1,2})?(?P<quote>\"\"\"|'''|\\[\"']|[\"']))"
    rb"|[ \t]{0,80}(?:\([ \t]{0,80})?(?:[A-Za-z]{1,10})?(?P<tick>\\?`)(?!`)"
)
_CALL = rb"[ \t]*(?:new[ \t]+)?[A-Za-z_][A-Za-z0-9_.:]{0,60}!?\(\s{0,80}[bru]?(?P<quote>[\"'])(?P<tick>)"
_BLOCK = rb"[ \t]*[|>][0-9+-]{0,2}[ \t]*(?:#[^\n]*)?\r?\n"
_BARE_VALUE = rb"[ \t]*(?P<value>[^\s\"'`,;<>(){}\[\]&]{1,128})"
_LINE_VALUE = rb"[ \t]*(?P<value>[^\s\"'`#][^\n\r]*)"
_LINE_START = (
    rb"[ \t]*(?:[-*+][ \t]+)?(?:(?:export|set|setx|declare|readonly|local|env|arg|-e|--env)[ \t]+)*[\"']?\Z"
)
_NAME_SIGNS = b"abcdefghijklmnopqrstuvwxyz0123456789_.-"
_MAX_NAME = 80
_REST_OF_BARE = rb"[^\s\"'`,;<>(){}\[\]&]*"
_MAX_INNER = 256  # a value as long as this is not looked into again


class _Found(NamedTuple):
    """A name with its operator: `word` is its last word, and its value is looked for at `end`."""

    start: int
    end: int
    word: bytes
    operator: re.Match[bytes]


class _Value(NamedTuple):
    """Where a value is, and where to go on if it is none; `is_secret` is the verdict."""

    start: int
    end: int
    is_secret: bool
    resume: int


def redact_strict_assignments(text: bytes, path: str) -> bytes:
    """`text` of the file `path` with a mark in place of each value, which keeps its line ends."""
    kept, position, scanned = [], 0, 0
    lowered = text.lower()
    kind = kind_of(path)
    for found in sorted(_names(lowered), key=itemgetter(0, 1)):
        if found.start < scanned:
            continue
        value = _value(text, lowered, found, kind)
        if value is None:
            continue
        scanned = value.end if value.is_secret else value.resume
        if value.is_secret:
            inner = text[value.start : value.end]
            kept += [text[position : value.start], _MARK + b"\n" * inner.count(b"\n")]
            position = value.end
    return b"".join([*kept, text[position:]]) if kept else text


def _names(lowered: bytes) -> Iterator[_Found]:
    for literal, word in WORDS:
        if literal in lowered:
            for found in _compiled(b"(?P<word>" + word + b")" + _CLOSE + _OPERATOR).finditer(lowered):
                yield _Found(found.start(), found.end(), found["word"], found)


def _value(text: bytes, lowered: bytes, found: _Found, kind: TextKind) -> _Value | None:
    """The value of a name; None if it has none, or is no name of a secret."""
    name = _name_before(lowered, found.start)
    if not _is_secret_name(text, name, found):
        return None
    operator = found.operator
    if operator["xml"]:
        return _element(text, lowered, found)
    if (
        kind is not TextKind.CODE
        and operator["op"] == b":"
        and (block := _compiled(_BLOCK).match(text, found.end))
    ):
        return _block(text, found.start - len(name), block.end())
    if quoted := _compiled(_QUOTED).match(text, found.end):
        return _quoted(text, quoted, found)
    if operator["comma"] or operator["test"]:
        return None
    if (operator["op"] or operator["typed"]) and (call := _compiled(_CALL).match(text, found.end)):
        start, end, resume = _string_span(text, call)
        return _Value(start, end, is_random(text[start:end]), _resume(start, end, resume))
    return _bare(text, found, name, kind)


def _name_before(lowered: bytes, start: int) -> bytes:
    """The part of the name before its last word."""
    before = lowered[max(0, start - _MAX_NAME) : start]
    return before[len(before.rstrip(_NAME_SIGNS)) :]


def _is_secret_name(text: bytes, name: bytes, found: _Found) -> bool:
    word = found.word
    name_start = found.start - len(name)
    if text[max(0, name_start - 10) : name_start] == b"[REDACTED:" or name.endswith(_PUBLIC):
        return False
    if found.operator["comma"] and not _is_first_argument(text, name_start):
        return False
    if word == b"key":
        return _compiled(_KEY_OWNERS).search(name[-16:]) is not None
    if word in _BARE:
        at_hump = (
            text[found.start : found.start + 1].isupper() and text[found.start - 1 : found.start].islower()
        )
        return (
            name.endswith((b"_", b"-", b"."))
            or at_hump
            or (word == b"auth" and bool(found.operator["close"]))
        )
    return True


def _is_first_argument(text: bytes, name_start: int) -> bool:
    """Whether a string that starts with the name comes first in a pair of brackets."""
    return text[max(0, name_start - 4) : name_start].rstrip(b"\\\"'` \t").endswith(b"(")


def _quoted(text: bytes, quoted: re.Match[bytes], found: _Found) -> _Value:
    start, end, resume = _string_span(text, quoted)
    value = text[start:end]
    is_format = b"f" in (quoted["prefix"] or b"").lower() and b"{" in value
    return _Value(start, end, not is_format and _is_secret_string(value, found), _resume(start, end, resume))


def _resume(start: int, end: int, behind: int) -> int:
    """Where to go on behind a value that stays: inside a short one, so that a name in it counts."""
    return start if end - start <= _MAX_INNER else behind


def _string_span(text: bytes, quoted: re.Match[bytes]) -> tuple[int, int, int]:
    """First and last position inside the string, and where it ends."""
    start, quote = quoted.end(), quoted["quote"] or quoted["tick"]
    if len(quote) == 1:
        return value_span(text, start - 1)
    end = text.find(quote, start)
    limit = len(text) if end < 0 else end
    line_end = text.find(b"\n", start, limit) if end < 0 or len(quote) == 2 else -1
    if line_end >= 0 or end < 0:
        stop = line_end if line_end >= 0 else limit
        return start, stop, stop
    return start, end, end + len(quote)


def _is_secret_string(value: bytes, found: _Found) -> bool:
    value = value.strip()
    operator, word = found.operator, found.word
    if not is_literal(value):
        return False
    if word == b"auth":
        return is_random(value)
    if word == b"identified by":
        return True
    if operator["comma"] or operator["test"] or operator["space"]:
        return is_mixed(value)
    if _compiled(rb"\s").search(value[:512]):
        return word == b"passphrase" and not is_wordy(value)
    if word == b"key" or word == b"token":
        return is_mixed(value) or is_random(value)
    return not is_wordy(value)


def _element(text: bytes, lowered: bytes, found: _Found) -> _Value | None:
    """The text of an XML element, up to its closing tag."""
    start = found.end
    end = text.find(b"<", start, start + _MAX_INNER)
    cdata_end = text.find(b"]]>", start, start + _MAX_INNER)
    end = cdata_end if lowered[found.start : start].endswith(b"[cdata[") else end
    if end < 0 or text[end : end + 2] not in (b"</", b"]]"):
        return None
    value = text[start:end].strip()
    is_secret = is_literal(value) and not _compiled(rb"\s").search(value) and not is_wordy(value)
    return _Value(start, end, is_secret, start)


def _block(text: bytes, name_start: int, start: int) -> _Value | None:
    """The lines behind a name that are indented more than it is."""
    line_start = text.rfind(b"\n", max(0, name_start - _MAX_NAME), name_start) + 1
    indent = _compiled(rb"[ \t]*(?:-[ \t]+)*").match(text, line_start)
    width = 0 if indent is None else indent.end() - line_start
    end = first = start
    for line in _compiled(rb"([ \t]*)([^\n]*)(?:\n|\Z)").finditer(text, start):
        if line[2].strip():
            if len(line[1]) <= width:
                break
            first = line.start(2) if first == start else first
            end = line.end(2)
        if line.end() == len(text):
            break
    value = text[first:end]
    return _Value(first, end, is_literal(value.strip()), end) if end > start else None


def _bare(text: bytes, found: _Found, name: bytes, kind: TextKind) -> _Value | None:
    is_assigned = found.operator["op"] in (b"=", b":")
    if kind is TextKind.SETTINGS and is_assigned and _is_line_start(text, found.start - len(name)):
        return _setting(text, found.end)
    match = _compiled(_BARE_VALUE).match(text, found.end)
    if match is None:
        return None
    start, end = match.span("value")
    is_secret = _is_secret_word(text, match["value"].decode(errors="ignore").encode(), found, name, kind)
    if is_secret and (rest := _compiled(_REST_OF_BARE).match(text, end)):
        end = rest.end()
    return _Value(start, end, is_secret, start)


def _is_secret_word(text: bytes, value: bytes, found: _Found, name: bytes, kind: TextKind) -> bool:
    """Whether a bare word, of which `value` is the start, is a literal and a secret."""
    if found.operator["space"]:
        return name.startswith(b"--") and is_mixed(value)
    if kind is TextKind.CODE:
        return is_random(value)
    is_variable = found.operator["op"] == b"=" and text[found.start : found.start + 1].isupper()
    return is_mixed(value) or (is_variable and is_literal(value) and not is_wordy(value))


def _is_line_start(text: bytes, name_start: int) -> bool:
    """Whether nothing but a dash or a word such as `export` stands before the name on its line."""
    before = text[max(0, name_start - _MAX_NAME) : name_start].lower()
    line = before[before.rfind(b"\n") + 1 :]
    is_whole = len(line) < _MAX_NAME or len(line) == name_start
    return is_whole and _compiled(_LINE_START).match(line) is not None


def _setting(text: bytes, start: int) -> _Value | None:
    """The rest of a line of settings, without a comment."""
    match = _compiled(_LINE_VALUE).match(text, start)
    if match is None:
        return None
    start, value = match.start("value"), match["value"]
    for comment in (b" #", b"\t#"):
        value = value.partition(comment)[0]
    value = value.rstrip(b" \t,;\"'")
    return _Value(start, start + len(value), _is_setting(value), start)


def _is_setting(value: bytes) -> bool:
    """Whether the rest of a line of settings is a secret, or the tail of one that the standard rules left."""
    head, _, tail = value.partition(_MARK)
    if not head and tail.strip():
        return True
    return (
        is_literal(value)
        and not value.startswith((b"!", b"*", b"&", b"|", b">", b"{", b"["))
        and not is_wordy(value)
    )
