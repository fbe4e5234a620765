"""`cce.run/v1`: NDJSON with a header, and one line of ranked places per query.

msgspec checks and builds the lines, some five times faster than checks in Python. A line that it refuses is
read again by hand, for a message that says what to write.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NoReturn, overload

import msgspec

from cce.domain.outside import Answer, FailedAnswer, OutsideResult, Question
from cce.domain.run import Run, RunAnswer, RunScope
from cce.errors import JsonError, OutsideSystemError
from cce.interchange.run_schema import SCHEMA
from cce.quoting import on_one_line, quoted, shown_integer
from cce.strict_json import parse_json
from cce.tokens import WHITE_SPACE

_HEADER = '{"schema": "cce.run/v1", "system": "mine"}'
_MAX_LINE = 2**53  # what a float holds exactly; far above any file


class _Result(msgspec.Struct, gc=False):
    path: str
    start: int | None = None
    end: int | None = None
    kind: str | None = None
    score: float | None = None
    text: str | None = None


class _Error(msgspec.Struct):
    message: str
    code: str | None = None


class _Scope(msgspec.Struct):
    name: str | None = None
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()


class _Line(msgspec.Struct):
    id: str
    results: list[_Result] | None = None
    error: _Error | None = None
    k: int | None = None
    query: str | None = None
    repeat: int = 0
    scope: _Scope | None = None
    tenant: str | None = None


def parse_recorded_run(lines: Iterable[bytes], path: str) -> Run:
    """The run in `lines`, the first of which that is not blank is the header; raises OutsideSystemError."""
    reader = _Reader()
    for number, line in enumerate(lines, start=1):
        text = line if number > 1 else line.removeprefix(codecs.BOM_UTF8)
        try:
            reader.take(text, number)
        except JsonError as exc:
            raise OutsideSystemError(f"{on_one_line(path)}:{number}: {exc}") from exc
    if reader.facts is None:
        raise OutsideSystemError(f"{on_one_line(path)}:1: the run has no header, start it with {_HEADER}")
    answers = {query: tuple(found) for query, found in reader.answers.items()}
    return Run(path, answers, facts=reader.facts)


def render_header(system: str, facts: Mapping[str, object]) -> bytes:
    """The first line of a run of `system`, with its line end; a fact that is None is left out."""
    known = {key: value for key, value in facts.items() if value is not None}
    return _rendered({"schema": SCHEMA, "system": system, **known})


def render_answer(question: Question, answer: Answer) -> bytes:
    """The line that records what a question was answered, with its line end."""
    line: dict[str, object] = {"id": question.id, "k": question.k, "query": question.text}
    if question.repeat:
        line["repeat"] = question.repeat
    scope = question.scope
    if scope is not None:
        limits = {"include": scope.include, "exclude": scope.exclude}
        line["scope"] = _known({"name": scope.name, **limits})
        line |= _known({"tenant": scope.tenant})
    if isinstance(answer, FailedAnswer):
        line["error"] = _known({"code": answer.code, "message": answer.message})
    else:
        line["results"] = [_known(result._asdict()) for result in answer]
    return _rendered(line)


def _known(fields: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in fields.items() if value is not None}


def _rendered(record: Mapping[str, object]) -> bytes:
    # A path that is not UTF-8 has no JSON that a strict reader takes: its bytes become question marks.
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace") + b"\n"


class _Reader:
    """What the lines so far hold."""

    def __init__(self) -> None:
        self.facts: dict[str, object] | None = None
        self.answers: dict[str, list[RunAnswer]] = {}
        self._decoder = msgspec.json.Decoder(_Line)
        self._asked: dict[object, int] = {}

    def take(self, line: bytes, number: int) -> None:
        """Add a line; raises JsonError without a place."""
        if self.facts is None:
            if line.strip():
                self.facts = _parse_header(line)
            return
        try:
            # Keys that nobody reads are skipped without a look at their bytes.
            line.isascii() or line.decode()
            entry = self._decoder.decode(line)
        except (ValueError, RecursionError) as exc:
            if _is_blank(line):
                return
            _explain(line, str(exc))
        answer = _answer(entry, number)
        asked = (entry.id, *answer[2:])
        first = self._asked.setdefault(asked, number)
        if first != number:
            raise JsonError(f"query {quoted(entry.id)} is in line {first} already, leave one of them")
        self.answers.setdefault(entry.id, []).append(answer)


def _is_blank(line: bytes) -> bool:
    return not line.decode("utf-8", "replace").strip(WHITE_SPACE)


def _parse_header(line: bytes) -> dict[str, object]:
    header = _parse_object(line)
    if "schema" not in header:
        raise JsonError(f"the run has no header, start it with {_HEADER}")
    if header["schema"] != SCHEMA:
        found = header["schema"]
        shown = quoted(found) if isinstance(found, str) else "that is no string"
        raise JsonError(f"unsupported schema {shown}, write '{SCHEMA}'")
    if not isinstance(header.get("system", ""), str):
        raise JsonError("system must be a string, the name of what ranked")
    return header


def _parse_object(line: bytes) -> dict[str, object]:
    try:
        line.decode()
    except UnicodeDecodeError as exc:
        raise JsonError("invalid UTF-8, save the file as UTF-8") from exc
    value = parse_json(line)
    if not isinstance(value, dict):
        raise JsonError("each line must be a JSON object")
    return value


def _answer(entry: _Line, number: int) -> RunAnswer:
    if entry.k is not None and entry.k < 1:
        raise JsonError(f"k must be a positive integer, got {shown_integer(entry.k)}")
    if entry.repeat < 0:
        raise JsonError(f"repeat counts from 0, got {shown_integer(entry.repeat)}")
    scope = None if entry.scope is None else RunScope(*_fields(entry.scope))
    results = _results(entry)
    return RunAnswer(number, results, entry.k, entry.query, entry.repeat, scope, entry.tenant)


def _fields(scope: _Scope) -> tuple[str | None, tuple[str, ...] | None, tuple[str, ...]]:
    return scope.name, scope.include, scope.exclude


class _Places(Sequence[OutsideResult]):
    """The results of a line; an OutsideResult is made when it is read, since runs go deep."""

    def __init__(self, results: Sequence[_Result]) -> None:
        self._results = results

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, position: int) -> OutsideResult: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[OutsideResult, ...]: ...
    def __getitem__(self, position: int | slice) -> OutsideResult | tuple[OutsideResult, ...]:
        if isinstance(position, slice):
            return tuple(map(_place, self._results[position]))
        return _place(self._results[position])

    def __iter__(self) -> Iterator[OutsideResult]:
        return map(_place, self._results)


def _place(found: _Result) -> OutsideResult:
    return OutsideResult(found.path, found.start, found.end, found.kind, found.score, found.text)


def _results(entry: _Line) -> Sequence[OutsideResult] | FailedAnswer:
    if (entry.results is None) == (entry.error is None):
        raise JsonError("a line has results or an error, write one of them")
    if entry.error is not None:
        return FailedAnswer(entry.error.message, entry.error.code)
    results = entry.results or ()
    for rank, found in enumerate(results, start=1):
        start, end = found.start, found.end
        if (start is None) != (end is None):
            raise JsonError(f"result {rank} has half a range, write both start and end, or neither")
        if start is not None and end is not None and not 1 <= start <= end <= _MAX_LINE:
            shown = f"{shown_integer(start)} to {shown_integer(end)}"
            raise JsonError(f"result {rank} has lines {shown}; lines count from 1, the start first")
    return _Places(results)


_RULES = {
    "id": "a string, the id of the case",
    "results": 'an array of objects such as {"path": "a.py", "start": 10, "end": 20}',
    "error": 'an object such as {"message": "Connection refused"}',
    "k": "a positive integer",
    "query": "a string",
    "repeat": "an integer from 0",
    "scope": 'an object such as {"name": "current", "exclude": ["old/**"]}',
    "tenant": "a string",
}


def _explain(line: bytes, wording: str) -> NoReturn:
    """Raise JsonError that says what is wrong with `line`; `wording` is msgspec's message."""
    entry = _parse_object(line)
    if "id" not in entry:
        raise JsonError(f"id is missing, it must be {_RULES['id']}")
    fault, _, place = wording.partition(" - at ")
    key = place.strip("`").removeprefix("$.").partition(".")[0].partition("[")[0]
    rule = f", {key} must be {_RULES[key]}" if key in _RULES else ""
    where = f" at {place.strip('`').removeprefix('$.')}" if place else ""
    raise JsonError(f"{on_one_line(fault).replace('`', '')}{where}{rule}")
