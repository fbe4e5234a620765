"""Secrets that their shape or their place gives away: tokens of today, URLs, webhooks, headers.

Each row has a literal that every match holds, as looking for it is the fastest way to find none, and a
pattern with one group: `body` is replaced with all before it, `secret` and `path` alone, `random` and
`mixed` only if what they hold looks like a secret. Every repeat without a limit is the last thing of its
pattern or ends at a sign it cannot hold, so that no row reads a text more than a fixed number of times.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from cce.retrieval.redaction.values import is_kept, is_random

_compiled = cache(re.compile)


class _Row(NamedTuple):
    label: str
    literal: bytes
    pattern: bytes


def _token(label: str, literal: bytes, rest: bytes, body: bytes) -> _Row:
    """A token that starts with `literal`, which starts a word.

    The look behind stands after the literal: an expression that begins with one is searched for quickly.
    """
    start = re.escape(literal)
    return _Row(label, literal, start + b"(?<![A-Za-z0-9]" + start + b")" + rest + b"(?P<body>" + body + b")")


_W20 = rb"[A-Za-z0-9_-]{20,}"
_A32 = rb"[A-Za-z0-9]{32,}"
# A body takes all letters and digits, so that none is left to start the next token.
# Prefixes that share a literal share a row: looking for literals is what takes time.
_TOKENS = (
    _token("GITHUB_TOKEN", b"github_pat_", b"", rb"[A-Za-z0-9_]{22,}"),
    _token(
        "GITLAB_TOKEN",
        b"gl",
        rb"(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-",
        _W20 + rb"(?:\.[0-9a-z]{2}\.[0-9a-z]{9,})?",
    ),
    _token("GRAFANA_TOKEN", b"glsa_", b"", _A32),
    _token("NPM_TOKEN", b"npm_", b"", _A32),
    _token("PYPI_TOKEN", b"pypi-", b"", rb"[A-Za-z0-9_-]{32,}"),
    _token("HUGGINGFACE_TOKEN", b"hf_", b"", rb"[A-Za-z0-9]{30,}"),
    _token("OPENAI_KEY", b"sk-", rb"(?:proj|svcacct|admin|None|or-v1)-", _W20),
    _token("STRIPE_KEY", b"rk_live_", b"", rb"[A-Za-z0-9]{16,}"),
    _token("STRIPE_KEY", b"whsec_", b"", rb"[A-Za-z0-9+/=]{24,}"),
    _token("AWS_ACCESS_KEY", b"ASIA", b"", rb"[0-9A-Z]{16}[A-Za-z0-9]*"),
    _token("SLACK_TOKEN", b"xapp-", b"", rb"[A-Za-z0-9-]{10,}"),
    _token("SLACK_TOKEN", b"xoxe", b"", rb"[.-][A-Za-z0-9.-]{10,}"),
    _token("SENDGRID_KEY", b"SG.", b"", rb"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _token("VAULT_TOKEN", b"hv", rb"[sbr]\.", _W20),
    _token("GOOGLE_TOKEN", b"ya29.", b"", _W20),
    _token("GOOGLE_SECRET", b"GOCSPX-", b"", _W20),
    _Row("DIGITALOCEAN_TOKEN", b"_v1_", rb"\bdo[opr]_v1_(?P<body>[0-9a-f]{32}[A-Za-z0-9]*)"),
    _token("SHOPIFY_TOKEN", b"shp", rb"(?:at|ca|pa|ss)_", rb"[0-9a-fA-F]{32}[A-Za-z0-9]*"),
    _token("DOCKER_TOKEN", b"dckr_", rb"[po]at_", rb"[A-Za-z0-9_-]{20,}"),
    _token("DATABRICKS_TOKEN", b"dapi", b"", rb"[0-9a-f]{32}[A-Za-z0-9]*"),
    _token("ATLASSIAN_TOKEN", b"ATATT3", b"", rb"[A-Za-z0-9_=-]{30,}"),
    _token("GROQ_KEY", b"gsk_", b"", _A32),
    _token("AGE_KEY", b"AGE-SECRET-KEY-1", b"", rb"[0-9A-Z]{40}[A-Za-z0-9]*"),
    _Row("TERRAFORM_TOKEN", b".atlasv1.", rb"(?:[A-Za-z0-9]{14})?\.atlasv1\.(?P<body>[A-Za-z0-9_=-]{20,})"),
)

# In a URL, text up to what cannot be part of one.
_URL = rb"[^\s\"'`<>\\)\]}]"
_WEBHOOKS = (
    _Row(
        "WEBHOOK",
        b"hooks.slack.com/",
        rb"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<path>[A-Za-z0-9+/_-]{20,})",
    ),
    _Row("WEBHOOK", b"/webhooks/", rb"/api/(?:v[0-9]+/)?webhooks/(?P<path>[0-9]{5,}/[A-Za-z0-9_-]{20,})"),
    _Row(
        "WEBHOOK",
        b"webhook",
        rb"office(?:365)?\.com/webhook(?:b2)?/(?P<path>[A-Za-z0-9@-]{8,200}/" + _URL + rb"{8,})",
    ),
    _Row("WEBHOOK", b"/messages?key=", rb"/messages\?(?P<path>key=" + _URL + rb"{20,})"),
    _Row("WEBHOOK", b"/hooks/catch/", rb"/hooks/catch/(?P<path>[0-9]{4,}/[A-Za-z0-9]{5,})"),
    _Row(
        "TELEGRAM_TOKEN",
        b"api.telegram.org/",
        rb"telegram\.org/bot(?P<secret>[0-9]{6,12}:[A-Za-z0-9_-]{30,})",
    ),
    _Row("SIGNATURE", b"sig=", rb"[?&](?:amp;)?sig=(?P<secret>[A-Za-z0-9%+/_=-]{20,})"),
)

_TO_VALUE = rb"[\"'`\]\\]{0,4}[ \t]{0,9}(?:=>|[:=,])[ \t]{0,9}\\?[\"'`]?[ \t]{0,9}"
_SCHEME = rb"(?i:bearer|basic|token|apikey|api-key|key)[ \t]+"
_VALUE = rb"[A-Za-z0-9._~+/=:-]{8,}"
_NAMES = ((b"uthori", rb"uthori[sz]ation"), (b"AUTHORI", rb"AUTHORI[SZ]ATION"))
_HEADERS = (
    *(
        _Row("AUTHORIZATION", literal, name + _TO_VALUE + _SCHEME + rb"(?P<secret>" + _VALUE + rb")")
        for literal, name in _NAMES
    ),
    # Without a scheme, or without the header's name, only what looks random.
    _Row("AUTHORIZATION", b"uthori", rb"uthori[sz]ation" + _TO_VALUE + rb"(?P<random>" + _VALUE + rb")"),
    _Row("AUTHORIZATION", b"earer ", rb"earer[ \t]+(?P<random>" + _VALUE + rb")"),
    _Row("AUTHORIZATION", b"Basic ", rb"Basic[ \t]+(?P<random>[A-Za-z0-9+/]{12,}={0,2})"),
)
_COMMANDS = (
    _Row("SECRET", b" -u", rb" -u[ \t=]?[\"']?[A-Za-z0-9_.@-]{1,64}:(?P<mixed>[^\s\"'`:]{8,})"),
    _Row("SECRET", b"--user", rb"--user[ \t=][\"']?[A-Za-z0-9_.@-]{1,64}:(?P<mixed>[^\s\"'`:]{8,})"),
    _Row(
        "SECRET",
        b"machine ",
        rb"machine[ \t]+[^\s]{1,128}\s+login\s+[^\s]{1,128}\s+password\s+(?P<secret>[^\s]{8,})",
    ),
)
ROWS = (*_TOKENS, *_WEBHOOKS, *_HEADERS, *_COMMANDS)

_AUTHORITY = rb"://([^\s:/@\[\]\"'`<>(){}$?#,;|\\]{0,128})(?::([^\s\"'`<>\\]{1,256}))?@"
_PORT = rb"[0-9]{1,5}(?:[/?#,]|\Z)"
_DULL_PASSWORDS = frozenset(
    b"pass passwd password passw0rd pwd secret user username token key port host x-oauth-basic".split()
)
_MIN_PASSWORD = 4


def redact_shapes(text: bytes) -> bytes:
    """`text` with a mark in place of each secret of these shapes."""
    for row in ROWS:
        if row.literal in text:
            text = _compiled(row.pattern).sub(_marker(row.label), text)
    if b"://" in text and b"@" in text:
        text = _compiled(_AUTHORITY).sub(_without_credentials, text)
    return text


@cache
def _marker(label: str) -> _Marker:
    return _Marker(label)


class _Marker:
    """What a match is replaced by: its secret's mark, or itself where the secret is a placeholder."""

    def __init__(self, label: str) -> None:
        self._mark = f"[REDACTED:{label}]".encode()

    def __call__(self, found: re.Match[bytes]) -> bytes:
        groups = found.groupdict()
        if "body" in groups:  # a token, which goes with its prefix
            return found[0] if is_kept(found["body"]) else self._mark
        ((name, secret),) = groups.items()
        start, end = (place - found.start() for place in found.span(name))
        return found[0] if _is_harmless(name, secret) else found[0][:start] + self._mark + found[0][end:]


def _is_harmless(group: str, secret: bytes) -> bool:
    """What the group of a row says of the secret: a `path` has it at its end, `secret` is sure of it."""
    if group == "path":
        return is_kept(secret) or is_kept(secret.rstrip(b"/").rpartition(b"/")[2])
    if group == "secret":
        return is_kept(secret)
    return not is_random(secret, is_mixed=group == "mixed")


def _without_credentials(found: re.Match[bytes]) -> bytes:
    user, password = found[1], found[2]
    if password is None:
        return b"://[REDACTED:URL_USER]@" if is_random(user) else found[0]
    if _compiled(_PORT).match(password) or b"://" in password:
        return found[0]
    if len(password) >= _MIN_PASSWORD and not is_kept(password) and password.lower() not in _DULL_PASSWORDS:
        return b"://" + user + b":[REDACTED:URL_PASSWORD]@"
    return b"://[REDACTED:URL_USER]:" + password + b"@" if is_random(user) else found[0]
