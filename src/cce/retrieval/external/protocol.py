"""The lines of `cce.retriever/v1`: questions in, requests out; answers in, checked values out.

Programs and services speak the same objects. Nothing that comes back is believed: what breaks the protocol
is a NotProtocolError, what is wrong with one result alone is the failure of its question.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn, TypeVar

import msgspec

from cce.domain.outside import Answer, FailedAnswer, OutsideResult, Question, ScopeRequest
from cce.quoting import counted, on_one_line, quoted, shown_integer

PROTOCOL = "cce.retriever/v1"
CAPABILITIES = ("batch", "scope")

MAX_LINE_BYTES = 16 * 2**20
"""How long a request and an answer may be, line ends not counted."""

MAX_BATCH = 256
"""Queries per request, whatever a system allows: its answer is one line too, and a batch is waited for."""

_DEFAULT_BATCH = 64  # for a system that takes batches and does not say how large
_HEAD = b'{"op": "search", "id": '
_QUERIES = b', "queries": ['
_TAIL = b"]}"
# The id of a request has fewer than 20 digits.
_MAX_QUERY_BYTES = MAX_LINE_BYTES - len(_HEAD) - 20 - len(_QUERIES) - len(_TAIL)
_SEPARATOR = b", "

Clean = Callable[[str], str]
"""Scrubs text from outside."""


class NotProtocolError(Exception):
    """What is wrong with a line, in words that go on after the name of the system."""


class Hello(NamedTuple):
    """What a system says of itself; `max_batch` is 1 for one that takes no batches."""

    name: str | None
    version: str | None
    takes_scope: bool
    max_batch: int

    @property
    def facts(self) -> Mapping[str, str]:
        """Name and version, as far as it said them."""
        return {
            key: text for key, text in (("name", self.name), ("version", self.version)) if text is not None
        }


class QuestionBatch(NamedTuple):
    """Questions that travel together: their positions in what was asked, and themselves as JSON."""

    positions: tuple[int, ...]
    questions: tuple[Question, ...]
    encoded: tuple[bytes, ...]

    def singly(self) -> Iterator[QuestionBatch]:
        """Each question in a batch of its own."""
        for position, question, encoded in zip(*self, strict=True):
            yield QuestionBatch((position,), (question,), (encoded,))

    @property
    def place(self) -> str:
        """The case that an error names, with the number of those that were asked with it."""
        first = f"case {on_one_line(self.questions[0].id)}"
        n_others = len(self.questions) - 1
        return f"{first} or one of the {n_others} asked with it" if n_others else first


def hello_request(corpus: str | None) -> bytes:
    """The first request, without a line end; `corpus` is an absolute path, None for a store."""
    hello = {"op": "hello", "protocol": [PROTOCOL], "corpus": corpus, "capabilities": [*CAPABILITIES]}
    return _encoded(hello)


def search_request(number: int, batch: QuestionBatch) -> bytes:
    """A request with the id `number`, without a line end."""
    return b"%b%d%b%b%b" % (_HEAD, number, _QUERIES, _SEPARATOR.join(batch.encoded), _TAIL)


def encoded_query(question: Question, *, takes_scope: bool) -> bytes:
    """One query as JSON; its scope only for a system that takes one."""
    query: dict[str, object] = {"id": question.id, "query": question.text, "k": question.k}
    if takes_scope and question.scope is not None:
        query["scope"] = _scope(question.scope)
    return _encoded(query)


def _scope(scope: ScopeRequest) -> dict[str, object]:
    limits = {"name": scope.name, "tenant": scope.tenant, "include": scope.include}
    return {**{key: value for key, value in limits.items() if value is not None}, "exclude": scope.exclude}


def _encoded(record: Mapping[str, object]) -> bytes:
    # A lone surrogate, as in a path that is not UTF-8, has no JSON that a strict reader takes.
    return json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def make_batches(
    questions: Sequence[Question], hello: Hello, n_processes: int = 1
) -> tuple[list[QuestionBatch], dict[int, FailedAnswer]]:
    """All questions in batches by the position of their first, and by position those too long to send.

    An id is unique in its batch: the same case with another k or repeat travels in the next one.
    """
    size = min(hello.max_batch, MAX_BATCH, -(-len(questions) // n_processes))
    batches: list[_OpenBatch] = []
    open_batches: list[_OpenBatch] = []
    too_long: dict[int, FailedAnswer] = {}
    for position, question in enumerate(questions):
        encoded = encoded_query(question, takes_scope=hello.takes_scope)
        if len(encoded) > _MAX_QUERY_BYTES:
            too_long[position] = _too_long(len(encoded))
            continue
        open_batches = [each for each in open_batches if each.has_room(len(encoded), size)]
        batch = next((each for each in open_batches if question.id not in each.ids), None)
        if batch is None:
            batch = _OpenBatch()
            batches.append(batch)
            open_batches.append(batch)
        batch.add(position, question, encoded)
    return [each.closed() for each in batches], too_long


def _too_long(n_bytes: int) -> FailedAnswer:
    fault = f"the query has {n_bytes:,} bytes as JSON, a request holds at most {MAX_LINE_BYTES:,}"
    return FailedAnswer(f"{fault}: shorten it", "too_long")


class _OpenBatch:
    """A batch that still grows."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self._n_bytes = 0
        self._members: list[tuple[int, Question, bytes]] = []

    def has_room(self, n_bytes: int, size: int) -> bool:
        return len(self._members) < size and self._n_bytes + n_bytes <= _MAX_QUERY_BYTES

    def add(self, position: int, question: Question, encoded: bytes) -> None:
        self.ids.add(question.id)
        self._n_bytes += len(encoded) + len(_SEPARATOR)
        self._members.append((position, question, encoded))

    def closed(self) -> QuestionBatch:
        positions, questions, encoded = zip(*self._members, strict=True)
        return QuestionBatch(positions, questions, encoded)


class _HelloLine(msgspec.Struct):
    op: str
    protocol: str
    name: str | None = None
    version: str | None = None
    capabilities: list[str] = []
    max_batch: int | None = None


class _SaidResult(msgspec.Struct, gc=False):
    path: str
    start: int | None = None
    end: int | None = None
    kind: str | None = None
    score: float | None = None
    text: str | None = None


class _SaidError(msgspec.Struct):
    message: str
    code: str | None = None


class _SaidAnswer(msgspec.Struct):
    id: str
    results: list[_SaidResult] | None = None
    error: _SaidError | None = None


class _AnswersLine(msgspec.Struct):
    id: int
    results: list[_SaidAnswer]


_HELLO = msgspec.json.Decoder(_HelloLine)
_ANSWERS = msgspec.json.Decoder(_AnswersLine)
_Value = TypeVar("_Value")


def parse_hello(line: bytes) -> Hello:
    """What a system answers to hello; raises NotProtocolError."""
    hello = _decoded(_HELLO, line)
    if hello.op != "hello":
        raise NotProtocolError(f"answers hello with the op {quoted(hello.op)}")
    if hello.protocol != PROTOCOL:
        raise NotProtocolError(f"chooses the protocol {quoted(hello.protocol)}, offered was '{PROTOCOL}'")
    n_most = _DEFAULT_BATCH if hello.max_batch is None else hello.max_batch
    if n_most < 1:
        raise NotProtocolError(f"says max_batch is {shown_integer(n_most)}, it must be 1 or more")
    size = n_most if "batch" in hello.capabilities else 1
    return Hello(hello.name, hello.version, "scope" in hello.capabilities, size)


def parse_answers(line: bytes, number: int, questions: Sequence[Question], clean: Clean) -> list[Answer]:
    """The answers of request `number` in the order of `questions`; raises NotProtocolError."""
    answers = _decoded(_ANSWERS, line)
    if answers.id != number:
        raise NotProtocolError(f"answers request {shown_integer(answers.id)} where {number} was asked")
    found: dict[str, _SaidAnswer] = {}
    for each in answers.results:
        if each.id in found:
            raise NotProtocolError(f"answers the query {quoted(each.id)} twice")
        if (each.results is None) == (each.error is None):
            raise NotProtocolError(f"answers the query {quoted(each.id)} without either results or an error")
        found[each.id] = each
    asked = {question.id for question in questions}
    for name in found:
        if name not in asked:
            raise NotProtocolError(f"answers the query {quoted(name)}, which was not asked")
    missing = [question.id for question in questions if question.id not in found]
    if missing:
        n_missing = counted(len(missing), "query", "queries")
        raise NotProtocolError(f"leaves {n_missing} unanswered, the first is {quoted(missing[0])}")
    return [_answer(found[question.id], clean) for question in questions]


def _answer(said: _SaidAnswer, clean: Clean) -> Answer:
    if said.error is not None:
        code = said.error.code
        return FailedAnswer(clean(said.error.message), None if code is None else clean(code))
    results: list[OutsideResult] = []
    for rank, result in enumerate(said.results or (), start=1):
        if (result.start is None) != (result.end is None):
            fault = f"{quoted(result.path)} has only one end of its lines: give start and end, or neither"
            return FailedAnswer(f"rank {rank}: {fault}", "bad_result")
        text = None if result.text is None else clean(result.text)
        results.append(OutsideResult(result.path, result.start, result.end, result.kind, result.score, text))
    return tuple(results)


def _decoded(decoder: msgspec.json.Decoder[_Value], line: bytes) -> _Value:
    try:
        # Keys that nobody reads are skipped without a look at their bytes.
        line.isascii() or line.decode()
        return decoder.decode(line)
    except UnicodeDecodeError as exc:
        raise NotProtocolError("sends text that is not UTF-8") from exc
    except (ValueError, RecursionError) as exc:
        _explain(str(exc))


def _explain(wording: str) -> NoReturn:
    """Raise NotProtocolError in the words of msgspec: `Expected `str`, got `int` - at `$.results[0].id``."""
    fault, _, place = (text.replace("`", "") for text in wording.partition(" - at "))
    where = f" at {place.removeprefix('$.')}" if place else ""
    raise NotProtocolError(f"sends no {PROTOCOL} ({on_one_line(fault)}{where})")
