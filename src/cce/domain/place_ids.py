"""Places as document ids, and back: `path#kind@a-b`, with `~2` for the second result at one place.

A run is a table of columns, so an id holds no white space; `%`, `#` and `@` would be read as parts of a
place. All four are percent-encoded, byte by byte, in UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

# What `bytes.split` and `str.split` take for white space, and other control characters.
_UNSAFE = re.compile(r"[\s%#@\x00-\x1f\x7f-\x9f\ud800-\udfff]|~(?=[0-9]+\Z)")
# No folder, no anchor's sign, nothing that a system refuses or trims.
_UNSAFE_NAME = r"\s%#@/\\:*?\"<>|~\x00-\x1f\x7f-\x9f\ud800-\udfff"
_PART_OF_PLACE = re.compile("[%#@~]")
_REPEAT = re.compile(r"~[1-9][0-9]{0,8}\Z")
_LINES = re.compile(r"@([0-9]{1,18})-([0-9]{1,18})\Z")


class DocumentPlace(NamedTuple):
    """The place that a document id spells; lines are 1-based and inclusive, both or neither given."""

    path: str
    start: int | None = None
    end: int | None = None
    kind: str | None = None


def docid(place: DocumentPlace, repeat: int = 1) -> str:
    """`place` as the id of a document; the `repeat`-th one at it, from 1."""
    kind = "" if place.kind is None else f"#{_encoded(place.kind)}"
    lines = "" if place.start is None else f"@{place.start}-{place.end}"
    return f"{_encoded(place.path)}{kind}{lines}" + (f"~{repeat}" if repeat > 1 else "")


def encoded_id(query: str) -> str:
    """The id of a query as a column holds it."""
    return _encoded(query)


def place_of(docid: str, is_file: Callable[[str], bool], pattern: str = "{}") -> DocumentPlace:
    """The place that `docid` means: the first reading whose path is a file, the last one if none is.

    It is taken literally first, then decoded: `a%20b.txt` may be the name of a file, or of `a b.txt`. The id
    is put into `pattern` for its `{}`, also as the name of a file that `file_name` made of it.
    """
    # Runs hold millions of ids, and nearly all are the path of a file, or one with lines.
    if pattern == "{}":
        if _PART_OF_PLACE.search(docid) is None or is_file(docid):
            return DocumentPlace(docid)
        place = _split(_REPEAT.sub("", docid))
        if "%" not in docid or is_file(place.path):
            return place
    last = DocumentPlace(docid)
    for last in _readings(docid, pattern):
        if is_file(last.path):
            break
    return last


def _readings(docid: str, pattern: str) -> Iterator[DocumentPlace]:
    if pattern != "{}":
        yield DocumentPlace(pattern.replace("{}", file_name(docid, is_without_case=True)))
        yield DocumentPlace(pattern.replace("{}", file_name(docid)))
        docid = pattern.replace("{}", docid)
    yield DocumentPlace(docid)
    place = _split(_REPEAT.sub("", docid))
    yield place
    if "%" in docid:
        yield _decoded(place)


def file_name(document: str, *, is_without_case: bool = False) -> str:
    """The id of a document as the name of a file in a folder, the same on every system; `%XX` for the rest.

    is_without_case  without capitals and letters beyond ASCII, for ids that differ in their case alone
    """
    unsafe = _UNSAFE_NAME + ("A-Z\x80-\U0010ffff" if is_without_case else "")
    return re.sub(rf"^\.|\.$|[{unsafe}]", lambda found: percent_encoded(found[0]), document)


def _split(text: str) -> DocumentPlace:
    lines = _LINES.search(text)
    body = text if lines is None else text[: lines.start()]
    path, _, kind = body.partition("#")
    if not path:
        return DocumentPlace(text)
    start, end = (None, None) if lines is None else (int(lines[1]), int(lines[2]))
    return DocumentPlace(path, start, end, kind or None)


def _decoded(place: DocumentPlace) -> DocumentPlace:
    kind = None if place.kind is None else _text(place.kind)
    return place._replace(path=_text(place.path), kind=kind)


def _encoded(text: str) -> str:
    return _UNSAFE.sub(lambda found: percent_encoded(found[0]), text)


def percent_encoded(text: str) -> str:
    """Every byte of `text` as `%XX`; a byte of a path that is not UTF-8 comes back as it was."""
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogateescape"))


def _text(encoded: str) -> str:
    if "%" not in encoded:
        return encoded
    return unquote_to_bytes(encoded.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
