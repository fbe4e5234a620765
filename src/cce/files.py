"""Files in and out: what the system refuses becomes a CceError with place, fault and way out.

`atomic` replaces a file; this module words its failures. Code that opens a file which the user named
calls it, so that a NUL in a path, a missing folder and a full disk have one message each.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cce.atomic import Content, write_atomically
from cce.errors import CceError
from cce.quoting import on_one_line


def reason(exc: BaseException) -> str:
    """What the system says; `str` of an OSError would add its number and the path once more."""
    return getattr(exc, "strerror", None) or str(exc)


def read_bytes(path: str, noun: str, error: type[CceError], way_out: str) -> bytes:
    """All bytes of the file `path`, which messages call `noun`; raises `error`."""
    with reading(path, noun, error, way_out), open(path, "rb") as stream:
        return stream.read()


def write_file(path: str, content: Content, error: type[CceError], fault: str) -> None:
    """Replace the file `path`, whole or not at all; raises `error` as `writing` does."""
    with writing(path, error, fault):
        write_atomically(path, content)


@contextmanager
def reading(path: str, noun: str, error: type[CceError], way_out: str) -> Iterator[None]:
    """Raise `error` for what the system refuses: `PATH: cannot read NOUN (REASON), WAY OUT`."""
    try:
        yield
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path
        raise error(f"{on_one_line(path)}: cannot read {noun} ({reason(exc)}), {way_out}") from exc


@contextmanager
def writing(path: str, error: type[CceError], fault: str) -> Iterator[None]:
    """Raise `error` for what the system refuses: `PATH: FAULT`, where `fault` has the reason for its `{}`."""
    try:
        yield
    except OSError as exc:
        raise error(f"{on_one_line(path)}: {fault.format(reason(exc))}") from exc
