"""Judgments of other tools: TREC's four columns, BEIR's three, and ranx's JSON."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn

from cce.errors import FixtureError, JsonError
from cce.quoting import on_one_line, quoted

_COLUMNS = "qid 0 docid grade"
_N_COLUMNS = 4
_BEIR_HEADER = ("query-id", "corpus-id", "score")


class Judged(NamedTuple):
    """A document and its grade, and the line that says so; 0 where lines mean nothing."""

    docid: str
    grade: int
    line: int = 0


Judgments = Mapping[str, Sequence[Judged]]
"""By query id, both in the order of the file."""


def parse_qrels(raw: bytes, path: str) -> Judgments:
    """TREC's columns, or ranx's JSON if `raw` starts with a brace; raises FixtureError with its place."""
    text = raw.removeprefix(codecs.BOM_UTF8)
    if text.lstrip().startswith(b"{"):
        return _parse_ranx_qrels(text, path)
    return _grouped(_trec_rows(text, path), path, f"write {_COLUMNS}")


def parse_beir_qrels(raw: bytes, path: str) -> Judgments:
    """BEIR's `query-id`, `corpus-id` and `score`, separated by tabs; raises FixtureError with its place."""
    lines = raw.removeprefix(codecs.BOM_UTF8).split(b"\n")
    return _grouped(_beir_rows(lines, path), path, "write " + " TAB ".join(_BEIR_HEADER))


def _trec_rows(raw: bytes, path: str) -> Iterator[tuple[str, Judged]]:
    for number, line in enumerate(raw.split(b"\n"), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != _N_COLUMNS:
            _fail(path, number, f"{len(fields)} columns, judgments have four: {_COLUMNS}")
        query, _, name, grade = (_text(field, path, number) for field in fields)
        yield query, Judged(name, _grade(grade, path, number), number)


def _beir_rows(lines: Iterable[bytes], path: str) -> Iterator[tuple[str, Judged]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        fields = [_text(field, path, number) for field in line.rstrip(b"\r").split(b"\t")]
        if tuple(fields) == _BEIR_HEADER:
            continue
        if len(fields) != len(_BEIR_HEADER):
            _fail(path, number, f"{len(fields)} columns, judgments have three: {', '.join(_BEIR_HEADER)}")
        yield fields[0], Judged(fields[1], _grade(fields[2], path, number), number)


def _parse_ranx_qrels(raw: bytes, path: str) -> Judgments:
    from cce.interchange.ranx import parse_ranx  # msgspec is imported for JSON alone

    try:
        queries = parse_ranx(raw)
    except JsonError as exc:
        raise FixtureError(f"{on_one_line(path)}: {exc}") from exc
    for query, scores in queries.items():
        for name, score in scores.items():
            if score != int(score):
                fault = f"query {quoted(query)}: document {quoted(name)} has grade {score}, write an integer"
                raise FixtureError(f"{on_one_line(path)}: {fault}")
    return {
        query: tuple(Judged(name, int(score)) for name, score in scores.items())
        for query, scores in queries.items()
    }


def _grouped(rows: Iterable[tuple[str, Judged]], path: str, way_out: str) -> Judgments:
    queries: dict[str, dict[str, Judged]] = {}
    for query, judged in rows:
        documents = queries.setdefault(query, {})
        first = documents.setdefault(judged.docid, judged)
        if first is not judged:
            fault = f"document {quoted(judged.docid)} is in line {first.line} already, leave one of them"
            _fail(path, judged.line, fault)
    if not queries:
        _fail(path, 1, f"no judgment, {way_out}")
    return {query: tuple(documents.values()) for query, documents in queries.items()}


def _grade(text: str, path: str, line: int) -> int:
    try:
        if "_" in text:  # Python's own way to write 1_000
            raise ValueError(text)
        return int(text)
    except ValueError:
        _fail(path, line, f"the grade is {quoted(text)}, write an integer")


def _text(field: bytes, path: str, line: int) -> str:
    try:
        return field.decode()
    except UnicodeDecodeError:
        _fail(path, line, "invalid UTF-8, save the file as UTF-8")


def _fail(path: str, line: int, fault: str) -> NoReturn:
    raise FixtureError(f"{on_one_line(path)}:{line}: {fault}")
