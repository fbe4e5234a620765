"""The stub as a real process: what it answers to lines of cce.retriever/v1 written by hand, good and bad."""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cce import retriever_stub
from cce.retriever_stub import MAX_LINE, answer, hello

pytestmark = pytest.mark.process

FILE = Path(retriever_stub.__file__)
HELLO = {"op": "hello", "protocol": ["cce.retriever/v1"], "corpus": "/c", "capabilities": ["batch", "scope"]}


def program(folder: Path, body: str) -> list[str]:
    """The command of a program with a copy of the stub beside it, where no `cce` can be imported."""
    shutil.copy(FILE, folder / "retriever_stub.py")
    (folder / "mine.py").write_text(f"from retriever_stub import serve\n{body}", "utf-8")
    return [sys.executable, "-S", str(folder / "mine.py")]


def lines_of(*requests: object) -> bytes:
    return b"".join(json.dumps(request).encode() + b"\n" for request in requests)


def talk(folder: Path, body: str, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        program(folder, body),
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )


def answers(folder: Path, body: str, *requests: object) -> list[Any]:
    """The answers to a hello and the requests; the program must end by itself."""
    done = talk(folder, body, lines_of(HELLO, *requests))
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def asks(*queries: Mapping[str, object], number: int = 7) -> dict[str, object]:
    return {"op": "search", "id": number, "queries": list(queries)}


def results(folder: Path, returned: str, k: int = 5) -> Any:
    """What is sent where the search is `return {returned}`."""
    body = f"serve(lambda query, k: {returned})"
    _, found = answers(folder, body, asks({"id": "q", "query": "fee", "k": k}))
    assert (found["id"], found["results"][0]["id"]) == (7, "q")
    return found["results"][0].get("results", found["results"][0].get("error"))


def test_a_hello_chooses_the_version_and_names_what_it_can(tmp_path: Path) -> None:
    body = "serve(lambda query, k: [], name='fts5', version='1.2', max_batch=8)"
    assert answers(tmp_path, body) == [
        {
            "op": "hello",
            "protocol": "cce.retriever/v1",
            "name": "fts5",
            "version": "1.2",
            "max_batch": 8,
            "capabilities": ["batch"],
        }
    ]


def test_a_search_that_takes_a_scope_gets_it(tmp_path: Path) -> None:
    body = "serve(lambda query, k, scope=None: [str(scope and scope['exclude'])])"
    scope = {"name": "current", "tenant": None, "include": None, "exclude": ["old/**"]}
    greeting, found = answers(
        tmp_path,
        body,
        asks({"id": "a", "query": "fee", "k": 1, "scope": scope}, {"id": "b", "query": "fee", "k": 1}),
    )
    assert greeting["capabilities"] == ["batch", "scope"]
    assert [one["results"] for one in found["results"]] == [[{"path": "['old/**']"}], [{"path": "None"}]]


def test_a_capability_that_was_not_offered_is_not_named() -> None:
    def search(query: str, k: int, scope: object = None) -> list[str]:
        return []

    assert hello({**HELLO, "capabilities": ["batch"]}, search)["capabilities"] == ["batch"]
    assert hello({"op": "hello", "protocol": ["cce.retriever/v1"]}, search)["capabilities"] == []
    assert (
        hello({**HELLO, "protocol": ["cce.retriever/v2", "cce.retriever/v1"]}, search)["protocol"][-1] == "1"
    )


@pytest.mark.parametrize(
    ("returned", "sent"),
    [
        ("['a.py']", [{"path": "a.py"}]),
        ("[('a.py',)]", [{"path": "a.py"}]),
        ("[('a.py', 1.5)]", [{"path": "a.py", "score": 1.5}]),
        ("[('a.py', 2, 9)]", [{"path": "a.py", "start": 2, "end": 9}]),
        ("[['a.py', 2, 9, 1]]", [{"path": "a.py", "start": 2, "end": 9, "score": 1.0}]),
        ("[{'path': 'a.py', 'kind': 'class', 'text': 'x', 'score': None, 'more': 1}]",
         [{"path": "a.py", "kind": "class", "text": "x"}]),
        ("(path for path in ('a', 'b', 'c'))", [{"path": "a"}, {"path": "b"}]),
        ("__import__('itertools').repeat('a')", [{"path": "a"}, {"path": "a"}]),
        ("[__import__('pathlib').PurePosixPath('src/a.py')]", [{"path": "src/a.py"}]),
        ("[]", []),
        ("['b\\udce9.py']", [{"path": "b\udce9.py"}]),
    ],
)  # fmt: skip
def test_a_result_is_a_path_a_tuple_or_a_dict(tmp_path: Path, returned: str, sent: object) -> None:
    assert results(tmp_path, returned, k=2) == sent


@pytest.mark.parametrize(
    ("returned", "code", "message"),
    [
        ("1 / 0", "ZeroDivisionError", "division by zero"),
        ("None", "TypeError", "'NoneType' object is not iterable"),
        ("[5]", "ValueError", "a result must be a path, a tuple of 1 to 4 or a dict, got 5"),
        ("[{'score': 1}]", "ValueError", "a result needs a path"),
        ("[{'path': 'a', 'start': 3}]", "ValueError", "start and end both or neither"),
        ("[('a', float('nan'))]", "ValueError", "a score must be finite"),
        ("[('a', 1.5, 2)]", "TypeError", "'float' object cannot be interpreted as an integer"),
        ("[{'path': 7}]", "TypeError", "int"),
        ("(_ for _ in ()).throw(KeyError())", "KeyError", "KeyError"),
    ],
)
def test_what_a_search_raises_fails_its_query(tmp_path: Path, returned: str, code: str, message: str) -> None:
    error = results(tmp_path, returned)
    assert error["code"] == code
    assert message in error["message"]


def test_a_failed_query_leaves_the_others_of_its_batch_alone(tmp_path: Path) -> None:
    body = """
def search(query, k):
    if '"' in query:
        raise ValueError("unbalanced quote")
    return [query] * k
serve(search)
"""
    _, first, second = answers(
        tmp_path,
        body,
        asks(*({"id": name, "query": text, "k": 1} for name, text in [("a", "x"), ("b", '"'), ("c", "y")])),
        asks({"id": "a", "query": "z", "k": 1}, number=8),
    )  # fmt: skip
    assert [one.get("results") for one in first["results"]] == [[{"path": "x"}], None, [{"path": "y"}]]
    assert first["results"][1] == {"id": "b", "error": {"code": "ValueError", "message": "unbalanced quote"}}
    assert (second["id"], second["results"]) == (8, [{"id": "a", "results": [{"path": "z"}]}])


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"id": "q", "k": 5}, "a query must be an object with a text as its 'query'"),
        ({"id": "q", "query": 5, "k": 5}, "a query must be an object with a text as its 'query'"),
        ({"id": "q", "query": "fee"}, "k must be a positive integer, got None"),
        ({"id": "q", "query": "fee", "k": 0}, "k must be a positive integer, got 0"),
        ({"id": "q", "query": "fee", "k": True}, "k must be a positive integer, got True"),
        ({"id": "q", "query": "fee", "k": 2.0}, "k must be a positive integer, got 2.0"),
    ],
)
def test_a_bad_query_is_told_as_such(query: dict[str, object], message: str) -> None:
    found = answer(asks(query), lambda query, k: ["a.py"])
    assert found == {"id": 7, "results": [{"id": "q", "error": {"code": "bad_query", "message": message}}]}


@pytest.mark.parametrize(
    ("stdin", "fault"),
    [
        (b"hello\n", "a request that is no JSON"),
        (b"\xff\n", "a request that is no JSON"),
        (b"[1]\n", "a request that is no JSON object: b'[1]\\n'"),
        (lines_of(asks()), "the first request must be hello, got 'search'"),
        (lines_of({**HELLO, "protocol": ["cce.retriever/v2"]}), "this program speaks cce.retriever/v1"),
        (lines_of({"op": "hello"}), "this program speaks cce.retriever/v1, offered was None"),
        (lines_of(HELLO, HELLO), "expected a search with queries, got {'op': 'hello'"),
        (lines_of(HELLO, {"op": "search"}), "expected a search with queries, got {'op': 'search'}"),
        (lines_of(HELLO)[:-9], "a request that is no JSON"),
    ],
)  # fmt: skip
def test_a_request_that_breaks_the_protocol_ends_the_program_with_one_line(
    tmp_path: Path, stdin: bytes, fault: str
) -> None:
    done = talk(tmp_path, "serve(lambda query, k: [])", stdin)
    assert done.returncode == 1
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("retriever_stub: ")
    assert fault in line


def test_prints_of_the_program_its_children_and_its_libraries_never_reach_the_answers(tmp_path: Path) -> None:
    body = """
import os, subprocess, sys
print("before, not written yet")
def search(query, k):
    print("stray")
    sys.stdout.write("half a line")
    os.write(1, b"from a library\\n")
    subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
    return ["a.py"]
serve(search, start=lambda corpus: print("reading", corpus))
"""
    done = talk(tmp_path, body, lines_of(HELLO, asks({"id": "q", "query": "fee", "k": 1})))
    assert [json.loads(line).get("id") for line in done.stdout.splitlines()] == [None, 7]
    told = done.stderr.decode()
    for word in ("before", "stray", "half a line", "from a library", "from a child", "reading /c"):
        assert word in told


def test_a_child_of_the_program_reads_no_requests(tmp_path: Path) -> None:
    body = """
import subprocess, sys
def search(query, k):
    command = [sys.executable, "-c", "import sys; print(len(sys.stdin.read()))"]
    return [subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.strip()]
serve(search)
"""
    ask = asks({"id": "q", "query": "fee", "k": 1})
    _, *found = answers(tmp_path, body, ask, ask, ask)
    assert [one["results"][0]["results"] for one in found] == [[{"path": "0"}]] * 3


def test_start_gets_the_corpus_before_the_first_query(tmp_path: Path) -> None:
    body = """
seen = []
serve(lambda query, k: seen, start=seen.append)
"""
    _, found = answers(tmp_path, body, asks({"id": "q", "query": "fee", "k": 1}))
    assert found["results"][0]["results"] == [{"path": "/c"}]


def test_a_start_that_fails_is_told_on_standard_error(tmp_path: Path) -> None:
    body = "serve(lambda query, k: [], start=lambda corpus: open('no such file'))"
    done = talk(tmp_path, body, lines_of(HELLO))
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"no such file" in done.stderr


def test_answers_longer_than_a_line_may_be_become_errors(tmp_path: Path) -> None:
    body = f"serve(lambda query, k: [{{'path': 'a', 'text': 'x' * ({MAX_LINE} // 2)}}])"
    query = {"query": "fee", "k": 1}
    _, two, one = answers(
        tmp_path, body, asks({"id": "a", **query}, {"id": "b", **query}), asks({"id": "a", **query})
    )
    assert [failed["error"]["code"] for failed in two["results"]] == ["too_large"] * 2
    assert "16,777,216" in two["results"][0]["error"]["message"]
    assert len(one["results"][0]["results"][0]["text"]) == MAX_LINE // 2


def test_an_input_that_is_closed_at_once_is_a_clean_end(tmp_path: Path) -> None:
    done = talk(tmp_path, "serve(lambda query, k: [])", b"")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program that has said hello, waits for queries, and leaves a file behind when it ends cleanly."""
    body = """
import atexit, pathlib
atexit.register(pathlib.Path("ended").touch)
serve(lambda query, k: ["a.py"])
"""
    process = subprocess.Popen(
        program(tmp_path, body),
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines_of(HELLO))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["op"] == "hello"
        yield process
        process.kill()


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_a_clean_end(
    tmp_path: Path, waiting: subprocess.Popen[bytes], number: signal.Signals
) -> None:
    waiting.send_signal(number)
    out, err = waiting.communicate(timeout=30)
    assert (waiting.returncode, out, err) == (0, b"", b"")
    assert (tmp_path / "ended").exists()


def test_a_reader_that_went_away_is_a_clean_end(tmp_path: Path, waiting: subprocess.Popen[bytes]) -> None:
    assert waiting.stdin is not None
    assert waiting.stdout is not None
    assert waiting.stderr is not None
    waiting.stdout.close()
    waiting.stdin.write(lines_of(asks({"id": "q", "query": "fee", "k": 1})))
    waiting.stdin.close()
    assert waiting.wait(30) == 0
    assert waiting.stderr.read() == b""
    assert (tmp_path / "ended").exists()


def test_the_program_of_the_docstring_runs_as_printed(tmp_path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(FILE.read_text("utf-8"))) or ""
    example = [line[4:] for line in docstring.splitlines() if line.startswith("    ")]
    assert len(example) <= 15
    (tmp_path / "mine.py").write_text(
        "\n".join(line for line in docstring.splitlines() if not line or line.startswith("    "))
        .replace("\n    ", "\n")
        .lstrip(),
        "utf-8",
    )
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.py").write_text("fee", "utf-8")
    (corpus / "b.py").write_text("fee fee", "utf-8")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "mine.py")],
        input=lines_of({**HELLO, "corpus": str(corpus)}, asks({"id": "q", "query": "fee", "k": 5})),
        capture_output=True,
        timeout=60,
        check=True,
    )
    greeting, found = map(json.loads, done.stdout.splitlines())
    assert (greeting["name"], greeting["version"]) == ("count", "1.0")
    assert found["results"] == [{"id": "q", "results": [{"path": "b.py"}, {"path": "a.py"}]}]
