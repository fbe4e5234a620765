"""The texts of queries by id: NDJSON, tab-separated lines, or TREC topics; the content tells which."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping

from cce.errors import FixtureError, JsonError
from cce.quoting import on_one_line, quoted
from cce.strict_json import parse_json

# The keys of BEIR, of ir_datasets, of MS MARCO and of our own sets.
_ID_KEYS = ("_id", "id", "qid", "query_id")
_TEXT_KEYS = ("text", "query", "title")
_TOPIC = r"<top>(.*?)(?:</top>|(?=<top>)|\Z)"
_NUMBER = r"<num>\s*(?:Number\s*:)?\s*([^\s<]+)"
_TITLE = r"<title>\s*(?:Topic\s*:)?\s*([^<]*)"


def parse_queries_by_id(raw: bytes, path: str) -> Mapping[str, str]:
    """The texts in file order; raises FixtureError with its place."""
    text = _decoded(raw.removeprefix(codecs.BOM_UTF8), path)
    if text.lstrip().startswith("{"):
        rows = _json_rows(text, path)
    elif re.search(r"<top>", text):
        rows = _topics(text, path)
    else:
        rows = _tab_rows(text, path)
    queries: dict[str, str] = {}
    for line, name, query in rows:
        if name in queries:
            raise FixtureError(f"{on_one_line(path)}:{line}: query {quoted(name)} is there twice, remove one")
        queries[name] = query
    return queries


def _decoded(raw: bytes, path: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as exc:
        line = raw.count(b"\n", 0, exc.start) + 1
        fault = "invalid UTF-8, save the file as UTF-8"
        raise FixtureError(f"{on_one_line(path)}:{line}: {fault}") from exc


def _json_rows(text: str, path: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            entry = parse_json(line.encode())
        except JsonError as exc:
            raise FixtureError(f"{on_one_line(path)}:{number}: {exc}") from exc
        found = entry if isinstance(entry, dict) else {}
        name, query = (_first(found, keys) for keys in (_ID_KEYS, _TEXT_KEYS))
        if name is None or query is None:
            fault = 'each line needs an id and a text, as in {"_id": "q1", "text": "check the PIN"}'
            raise FixtureError(f"{on_one_line(path)}:{number}: {fault}")
        yield number, name, query


def _first(entry: Mapping[str, object], keys: tuple[str, ...]) -> str | None:
    values = (entry.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str)), None)


def _tab_rows(text: str, path: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        name, tab, query = line.rstrip("\r").partition("\t")
        if tab:
            yield number, name.strip(), query.strip()
        elif line.strip():
            raise FixtureError(f"{on_one_line(path)}:{number}: no tab, write: the id, a tab, and the query")


def _topics(text: str, path: str) -> Iterator[tuple[int, str, str]]:
    for topic in re.finditer(_TOPIC, text, re.DOTALL):
        line = text.count("\n", 0, topic.start()) + 1
        number, title = re.search(_NUMBER, topic[1]), re.search(_TITLE, topic[1])
        if number is None or title is None:
            fault = "a topic without <num> and <title>, add them"
            raise FixtureError(f"{on_one_line(path)}:{line}: {fault}")
        yield line, number[1], " ".join(title[1].split())
