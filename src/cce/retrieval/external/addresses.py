"""Where a service may be: its URL and the addresses of its host, checked before anything is sent.

A systems file may come from a stranger. So an address is checked after its name was resolved, and the address
that was checked is the one that is connected to.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Collection, Mapping
from typing import NamedTuple

from cce.errors import OutsideSystemError
from cce.quoting import quoted
from cce.retrieval.external.environment import require_no_ci
from cce.retrieval.redaction.standard import redact

# What cloud providers answer their own machines' credentials at; 169.254.169.254 is link-local.
_METADATA = ipaddress.ip_address("fd00:ec2::254")
_VARIABLE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token of RFC 9110

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class ServiceUrl(NamedTuple):
    """The parts of `http(s)://HOST[:PORT][/PATH]`; `path` without a final slash."""

    scheme: str
    host: str
    port: int
    path: str


def parse_url(url: str) -> ServiceUrl:
    """The parts of `url`; raises OutsideSystemError, without what may be a password."""
    from urllib3.exceptions import LocationParseError
    from urllib3.util import parse_url as parts_of

    shown = quoted(url.rpartition("@")[2])
    malformed = OutsideSystemError(f"url {shown} is not of the form http://HOST[:PORT][/PATH]")
    if not url.isprintable() or " " in url:
        raise malformed
    try:
        parts = parts_of(url)
    except LocationParseError as exc:
        raise malformed from exc
    if parts.scheme not in ("http", "https") or not parts.host:
        raise malformed
    if (parts.auth, parts.query, parts.fragment) != (None, None, None):
        raise OutsideSystemError(f"url {shown} has a user, a query or a fragment: send those as headers")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return ServiceUrl(parts.scheme, parts.host.strip("[]"), port, (parts.path or "").rstrip("/"))


def checked_addresses(url: ServiceUrl, *, is_ci: bool, hosts: Collection[str]) -> tuple[str, ...]:
    """The addresses of the host to connect to, in the order to try; raises OutsideSystemError.

    One address that nobody should call is enough to refuse the host.

    hosts  what may be called under CI besides this machine
    """
    addresses = _resolve(url)
    for address in addresses:
        fault = _fault(address)
        if fault is not None:
            raise OutsideSystemError(f"host {quoted(url.host)} is at {address}, {fault}: name another")
        if is_ci and not address.is_loopback and url.host not in hosts:
            way_out = f"add --allow-host {url.host} if the job may call it"
            raise OutsideSystemError(
                f"host {quoted(url.host)} is another machine, which CI does not call: {way_out}"
            )
    return tuple(dict.fromkeys(map(str, addresses)))


def is_loopback(address: str) -> bool:
    """Whether an address is that of this machine."""
    return ipaddress.ip_address(address).is_loopback


def _resolve(url: ServiceUrl) -> list[_Address]:
    try:
        found = socket.getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as exc:  # UnicodeError: a label that IDNA cannot encode
        reason = getattr(exc, "strerror", None) or str(exc)
        raise OutsideSystemError(f"host {quoted(url.host)} has no address ({reason})") from exc
    # A scope such as fe80::1%eth0 is part of no rule here.
    return [ipaddress.ip_address(str(each[4][0]).partition("%")[0]) for each in found]


def _fault(address: _Address) -> str | None:
    mapped = getattr(address, "ipv4_mapped", None)
    if mapped is not None:  # ::ffff:169.254.169.254 is the address behind it
        return _fault(mapped)
    if address == _METADATA:
        return "where a cloud keeps its keys"
    if address.is_link_local:
        return "a link-local address"
    if address.is_multicast:
        return "a multicast address"
    return "no address of a machine" if address.is_unspecified else None


class Headers(NamedTuple):
    """Headers ready to be sent, and the values in them that came from the environment."""

    values: Mapping[str, str]
    secrets: tuple[str, ...]


def filled_headers(headers: Mapping[str, str]) -> Headers:
    """`headers` with `${env:NAME}` put in; raises OutsideSystemError.

    A secret written into the file itself is refused: files are committed.
    """
    values: dict[str, str] = {}
    secrets: list[str] = []
    for name, text in headers.items():
        if _HEADER_NAME.fullmatch(name) is None:
            raise OutsideSystemError(f"headers: {quoted(name)} is no name of a header")
        if _holds_secret(name, _VARIABLE.sub("", text)):
            way_out = "take it from the environment, as in ${env:SEARCH_TOKEN}"
            raise OutsideSystemError(f"headers.{name}: holds what looks like a secret: {way_out}")
        found = [_variable(name, variable) for variable in _VARIABLE.findall(text)]
        secrets += found
        value = _VARIABLE.sub(lambda match: os.environ[match[1]], text)
        if not value.isascii() or not value.isprintable():
            raise OutsideSystemError(f"headers.{name}: holds a line end or a character beyond ASCII")
        values[name] = value
    return Headers(values, tuple(secrets))


def _variable(header: str, name: str) -> str:
    require_no_ci((name,), f"headers.{header}")
    value = os.environ.get(name)
    if not value:
        raise OutsideSystemError(f"headers.{header}: the variable {name} is not set")
    if any(end in value for end in "\r\n\0"):
        raise OutsideSystemError(f"headers.{header}: the variable {name} holds a line end")
    return value


def _holds_secret(name: str, text: str) -> bool:
    """Whether the standard rules would scrub the text, alone or as the value of its header."""
    return any(redact(each) != each for each in (text.encode(), f"{name}: {text}".encode()))
