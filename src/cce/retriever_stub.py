"""The loop of a program that `cce` asks for rankings: the protocol `cce.retriever/v1` on standard streams.

Write the search, and hand it to `serve`. This is a whole program:

    from pathlib import Path

    from cce.retriever_stub import serve

    files = {}

    def read(corpus):
        for path in sorted(Path(corpus).rglob("*.py")):
            files[path.relative_to(corpus).as_posix()] = path.read_text()

    def search(query, k):
        return sorted(files, key=lambda path: -files[path].count(query))[:k]

    serve(search, name="count", version="1.0", start=read)

Nothing of `cce` is imported here: copy the file beside a program that has no `cce` in its environment.

While `serve` runs, what the program and its children print goes to standard error, and they read an empty
standard input. What is printed before `serve` may reach `cce`, which refuses it: load data in `start`.
"""

from __future__ import annotations

import inspect
import json
import math
import operator
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO, NoReturn

PROTOCOL = "cce.retriever/v1"

MAX_LINE = 16 * 2**20
"""How many bytes a line of the protocol may have, its line end not counted."""

Search = Callable[..., Iterable[Any]]
"""`search(query, k)` or `search(query, k, scope=None)`; see `serve`."""

_TUPLES: Mapping[int, tuple[str, ...]] = {
    1: ("path",),
    2: ("path", "score"),
    3: ("path", "start", "end"),
    4: ("path", "start", "end", "score"),
}
_TEXTS = ("path", "kind", "text")
_LINES = ("start", "end")


def serve(
    search: Search,
    *,
    name: str = "retriever",
    version: str = "0",
    start: Callable[[str | None], object] | None = None,
    max_batch: int = 64,
) -> None:
    """Answer queries from standard input until it is closed, or until SIGTERM or Ctrl-C.

    search     gives the results of a query, best first; more than k are cut. Each one is

                   "src/a.py"                                  a path
                   ("src/a.py", 1.25)                          a path and a score
                   ("src/a.py", 29, 37)                        a path and its first and last line, from 1
                   ("src/a.py", 29, 37, 1.25)
                   {"path": .., "start": .., "end": .., "kind": .., "score": .., "text": ..}

               Only the path is needed. What it raises fails that query alone, not the program. If it takes
               `scope`, it gets None or {"name": .., "tenant": .., "include": [..], "exclude": [..]}, where
               the patterns are those of .gitignore files; if it does not, `cce` drops what is outside.
    start      called once with the directory of the corpus, None if there is none, before anything is asked
    max_batch  how many queries one request may hold
    """
    requests, answers = _take_streams()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    try:
        _greet(requests, answers, search, {"name": name, "version": version, "max_batch": max_batch}, start)
        for request in _objects(requests):
            _write(answers, _kept(answer, request, search))
    except BrokenPipeError:  # nobody reads the answers any more
        os.close(answers)


def hello(request: Mapping[str, Any], search: Search, **about: Any) -> dict[str, Any]:
    """The answer to a hello; `about` holds name, version and max_batch. A ValueError says what it breaks."""
    if request.get("op") != "hello":
        raise ValueError(f"the first request must be hello, got {request.get('op')!r}")
    offered = request.get("protocol")
    if not isinstance(offered, list) or PROTOCOL not in offered:
        raise ValueError(f"this program speaks {PROTOCOL}, offered was {offered!r}")
    known = ["batch", "scope"] if _takes_scope(search) else ["batch"]
    capabilities = [word for word in known if word in (request.get("capabilities") or ())]
    return {"op": "hello", "protocol": PROTOCOL, **about, "capabilities": capabilities}


def answer(request: Mapping[str, Any], search: Search) -> dict[str, Any]:
    """The answer to a search, one result for each query. A ValueError says what the request breaks."""
    if request.get("op") != "search" or not isinstance(request.get("queries"), list):
        raise ValueError(f"expected a search with queries, got {str(dict(request))[:200]}")
    return {"id": request.get("id"), "results": [_answered(query, search) for query in request["queries"]]}


def _take_streams() -> tuple[BinaryIO, int]:
    """The two ends of the protocol; prints go to standard error, a child reads an empty input.

    Descriptors are moved, not only `sys.stdout`: a library in C and a child process print as well, and a
    child such as `rg` reads the requests from a standard input that it inherits.
    """
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout.flush()  # what was printed and not written yet goes to standard error, too
    sys.stdout = sys.stderr
    return os.fdopen(requests, "rb"), answers


def _end(*_: object) -> NoReturn:
    """Leave through SystemExit, so that `finally` and `atexit` of the program run."""
    sys.exit(0)


def _greet(
    requests: BinaryIO,
    answers: int,
    search: Search,
    about: Mapping[str, Any],
    start: Callable[[str | None], object] | None,
) -> None:
    for request in islice(_objects(requests), 1):
        reply = _kept(hello, request, search, **about)
        if start is not None:
            start(request.get("corpus"))
        _write(answers, reply)


def _objects(requests: BinaryIO) -> Iterator[dict[str, Any]]:
    while line := requests.readline(MAX_LINE + 2):
        try:
            request = json.loads(line)
        except ValueError as exc:
            _give_up(f"a request that is no JSON ({exc}): {line[:200]!r}")
        if not isinstance(request, dict):
            _give_up(f"a request that is no JSON object: {line[:200]!r}")
        yield request


def _kept(reply: Callable[..., dict[str, Any]], *request: Any, **about: Any) -> dict[str, Any]:
    """The reply to a request that keeps the protocol."""
    try:
        return reply(*request, **about)
    except ValueError as exc:
        _give_up(str(exc))


def _give_up(fault: str) -> NoReturn:
    """End with one line on standard error, which `cce` quotes: there is nobody to answer."""
    sys.exit(f"retriever_stub: {fault}")


def _write(answers: int, reply: Mapping[str, Any]) -> None:
    line = _line(reply)
    if len(line) > MAX_LINE + 1:
        fault = (
            f"answers of {len(line) - 1:,} bytes, at most {MAX_LINE:,}: return less text, or lower max_batch"
        )
        failed = [_failed(result["id"], "too_large", fault) for result in reply["results"]]
        line = _line({**reply, "results": failed})
    left = memoryview(line)
    while left:  # a pipe may take less than it is given
        left = left[os.write(answers, left) :]


def _line(reply: Mapping[str, Any]) -> bytes:
    # ASCII only: a path with broken letters stays one line of valid UTF-8.
    return json.dumps(reply, allow_nan=False).encode() + b"\n"


def _answered(query: Any, search: Search) -> dict[str, Any]:
    name = query.get("id") if isinstance(query, dict) else None
    try:
        return {"id": name, "results": _results(query, search)}
    except Exception as exc:  # whatever a search raises is the answer to its query
        traceback.print_exc()
        code = "bad_query" if isinstance(exc, _BadQueryError) else type(exc).__name__
        return _failed(name, code, str(exc) or type(exc).__name__)


def _failed(name: Any, code: str, message: str) -> dict[str, Any]:
    return {"id": name, "error": {"code": code, "message": message}}


class _BadQueryError(ValueError):
    """A query that does not keep the protocol."""


def _results(query: Any, search: Search) -> list[dict[str, Any]]:
    if not isinstance(query, dict) or not isinstance(query.get("query"), str):
        raise _BadQueryError("a query must be an object with a text as its 'query'")
    k = query.get("k")
    if type(k) is not int or k < 1:
        raise _BadQueryError(f"k must be a positive integer, got {k!r}")
    limits = {"scope": query.get("scope")} if _takes_scope(search) else {}
    return [_result(found) for found in islice(search(query["query"], k, **limits), k)]


def _takes_scope(search: Search) -> bool:
    try:
        return "scope" in inspect.signature(search).parameters
    except (TypeError, ValueError):  # some callables of C have no signature
        return False


def _result(found: Any) -> dict[str, Any]:
    """A result as the protocol has it, with plain numbers in place of those of numpy and others."""
    given = {key: value for key, value in _named(found).items() if value is not None}
    if "path" not in given or ("start" in given) != ("end" in given):
        raise ValueError(f"a result needs a path, and start and end both or neither: {found!r}")
    result: dict[str, Any] = {key: os.fspath(given[key]) for key in _TEXTS if key in given}
    result |= {key: operator.index(given[key]) for key in _LINES if key in given}
    if "score" in given:
        result["score"] = float(given["score"])
        if not math.isfinite(result["score"]):
            raise ValueError(f"a score must be finite: {found!r}")
    return result


def _named(found: Any) -> Mapping[str, Any]:
    if isinstance(found, Mapping):
        return found
    if isinstance(found, (str, os.PathLike)):
        return {"path": found}
    if isinstance(found, Sequence) and len(found) in _TUPLES:
        return dict(zip(_TUPLES[len(found)], found, strict=True))
    raise ValueError(f"a result must be a path, a tuple of 1 to 4 or a dict, got {found!r}")
