"""BEIR collections: documents as NDJSON become one text file each, under a name that every system takes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cce.domain.place_ids import file_name
from cce.errors import FixtureError, JsonError
from cce.quoting import on_one_line, quoted
from cce.strict_json import parse_json

SUFFIX = ".txt"
_MAX_NAME = 255  # bytes, the limit of most file systems
_FORM = 'each line needs an id and a text, as in {"_id": "d1", "title": "PIN", "text": "A PIN is .."}'


class Document(NamedTuple):
    """A document: `text` begins with the title, if it has one, and an empty line."""

    name: str
    text: str


def parse_documents(lines: Iterable[bytes], path: str) -> Iterator[Document]:
    """The documents of a `corpus.jsonl`, one at a time; raises FixtureError with its place."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            line.decode()
            entry = parse_json(line)
        except (JsonError, UnicodeDecodeError) as exc:
            fault = str(exc) if isinstance(exc, JsonError) else "invalid UTF-8, save the file as UTF-8"
            raise FixtureError(f"{on_one_line(path)}:{number}: {fault}") from exc
        match entry:
            case {"_id": str(name), "text": str(text)} if name and isinstance(entry, dict):
                yield Document(name, f"{_head(entry)}{text}\n")
            case _:
                raise FixtureError(f"{on_one_line(path)}:{number}: {_FORM}")


def _head(entry: Mapping[str, object]) -> str:
    title = entry.get("title")
    return f"{title}\n\n" if isinstance(title, str) and title else ""


def file_names(names: Sequence[str], path: str) -> Mapping[str, str]:
    """The name of a file for each document id; raises FixtureError for an id that is there twice.

    Ids that differ in their case alone are one file on some systems: their capitals are encoded, too.
    """
    clashing = _clashing(names)
    made: dict[str, str] = {}
    for name in names:
        if name in made:
            raise FixtureError(f"{on_one_line(path)}: document {quoted(name)} is there twice, remove one")
        made[name] = file_name(name, is_without_case=name in clashing) + SUFFIX
        if len(made[name].encode()) > _MAX_NAME:
            raise FixtureError(f"{on_one_line(path)}: document {quoted(name)} has an id too long for a file")
    return made


def _clashing(names: Sequence[str]) -> frozenset[str]:
    """The ids whose file would be another's on a system that ignores case and composition of letters."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(unicodedata.normalize("NFC", file_name(name)).casefold(), []).append(name)
    return frozenset(name for group in alike.values() if len(group) > 1 for name in group)
