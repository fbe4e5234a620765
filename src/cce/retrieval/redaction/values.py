"""Values: whether what is assigned to a name that promises a secret is one.

The standard rules' placeholders are no secrets, nor are references to a value that is kept elsewhere. The
kind of a text, by its path, says whether a bare word behind `=` or `:` is a literal.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache

from cce.retrieval.redaction.standard import is_placeholder

_compiled = cache(re.compile)

_SETTINGS_TEXT = """
    yml yaml env ini cfg conf cnf config properties toml tf tfvars hcl editorconfig npmrc pypirc netrc
    example sample template dist
"""
_CODE_TEXT = """
    py pyi pyx js jsx mjs cjs ts tsx mts cts rb rs c h cc cpp cxx hpp hh go java kt kts cs php swift
    scala lua pl pm dart ex exs erl hs ml clj m mm vue svelte groovy gradle r jl zig nim sol ipynb css
    scss less html htm xhtml erb ejs hbs jinja j2 json map
"""

_SETTINGS = frozenset(_SETTINGS_TEXT.split())
_CODE = frozenset(_CODE_TEXT.split())


class TextKind(Enum):
    """Settings have literals only, code has expressions; other text, such as prose, may have both."""

    SETTINGS = 1
    CODE = 2
    OTHER = 3


_REFERENCE = rb"""(?x)
      \$[A-Za-z_][A-Za-z0-9_]*\Z                                 # $NAME
    | %[A-Za-z_][A-Za-z0-9_]*%\Z                                 # %NAME%
    | %?\{[^{}]*\}\Z | \[[^\[\]]*\]\Z | \([^()]*\)\Z           # {name} %{name} [name] (name)
    | (?i: process\.env | os\.environ | import\.meta | env\[ | secrets\.[a-z] )
    | (?i: vault | secretref | op | ref\+[a-z]+ | ssm | env | file | https? | arn | data ):  # its place
    | (?:\.{0,2}|~)/(?:[a-z0-9_.-]+/)*[a-z0-9_.-]*\Z              # a path
    | (?i: (?:fake|invalid|wrong|redacted|removed|insert|replace|enter)[ _-] ) | < | \.\.\.
"""
_TEMPLATES = (b"${", b"$(", b"#{", b"{{", b"<%", b"%(", b"%s", b"{0}", b"(?", b"[REDACTED:")
_SPACE = rb"\s"
_DIGIT, _LETTER = rb"[0-9]", rb"[A-Za-z]"
_PARTS = rb"[A-Za-z0-9]{12,}"
# From a letter to a digit or back, and from a small letter to a capital that opens no word.
_CHANGE = rb"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])|[a-z](?=[A-Z](?![a-z]))"
_SYNTAX = rb"[(){}\[\]<>\"'`;,\s]"
_WORDS = rb"[A-Za-z]+(?:[ _./:-]+[A-Za-z]+)*[0-9]?"
_KEY_WORDS = (
    rb"(?i)pass|secret|token|key|auth|user|login|cred|field|input|hidden|string|required|missing|"
    rb"value|text|name|type|label|error|hash|encrypt|none|null|undefined|default"
)
_MIN_BYTES = 8


def is_kept(value: bytes) -> bool:
    """Whether `value` is a placeholder, or refers to a secret that is kept elsewhere."""
    return (
        not value
        or is_placeholder(value)
        or any(sign in value for sign in _TEMPLATES)
        or _compiled(_REFERENCE).match(value[:256]) is not None
        or _is_one_character(value)
    )


def is_literal(value: bytes) -> bool:
    """Whether `value`, known to be a literal, is a secret of its own: long enough, and not kept."""
    return len(value) >= _MIN_BYTES and not is_kept(value)


def is_wordy(value: bytes) -> bool:
    """Whether `value` speaks of a secret: words only, one of which such texts have."""
    head = value[:256]
    return _compiled(_WORDS).fullmatch(head) is not None and _compiled(_KEY_WORDS).search(head) is not None


def is_mixed(value: bytes) -> bool:
    """Whether `value` is a literal with letters and digits, without white space, and no code."""
    head = value[:512]
    return (
        is_literal(value)
        and _compiled(_SPACE).search(head) is None
        and _compiled(_DIGIT).search(head) is not None
        and _compiled(_LETTER).search(head) is not None
        and not is_wordy(value)
    )


def is_random(value: bytes, is_mixed: bool = False) -> bool:
    """Whether `value` looks made by a machine: no name in code has so many changes within one word.

    is_mixed  letters and digits are enough
    """
    head = value[:512]
    if not is_literal(value) or _compiled(_SYNTAX).search(head):
        return False
    if is_mixed:
        return _compiled(_DIGIT).search(head) is not None and _compiled(_LETTER).search(head) is not None
    return any(_n_changes(part) >= 3 for part in _compiled(_PARTS).findall(head))


def _n_changes(part: bytes) -> int:
    return len(_compiled(_CHANGE).findall(part))


def _is_one_character(value: bytes) -> bool:
    """Whether its letters are all alike, as in XXXX-XXXX."""
    return len(set(value) - set(b"-_./ +=")) <= 1


def kind_of(path: str) -> TextKind:
    """The kind of the text in the file `path`."""
    name = path.rpartition("/")[2].lower()
    extension = name.rpartition(".")[2]
    if extension in _SETTINGS or name.startswith(".env"):
        return TextKind.SETTINGS
    return TextKind.CODE if extension in _CODE and "." in name else TextKind.OTHER
