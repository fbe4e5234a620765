"""A server process that speaks Ollama's embed protocol, and lies on demand.

`running_server()` starts this file as a process on a free port. A text's vector comes from a hash of
it, so it is the same in every run; a text that starts with `[` is its own vector, sent back unparsed.
`OllamaServer.play` queues one behaviour for each of the next requests; when the queue is empty the
server is honest again. `OllamaServer.batches` tells what it was sent.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any, cast

DIMENSION = 8
MODEL = "nomic-embed-text"
MISSING_MODEL = "missing"
_MIB = b" " * (1 << 20)


def vector(text: str) -> str:
    """JSON of the vector of `text`: eight integers from -128 to 127, not of norm 1."""
    if text.startswith("["):
        return text
    digest = hashlib.sha256(text.encode()).digest()[:DIMENSION]
    return json.dumps([byte - 128 for byte in digest])


@dataclass
class OllamaServer:
    """The test's end of a running server."""

    url: str

    def play(self, *behaviours: str) -> None:
        """Forgets all requests; the next ones meet `behaviours`, one each (see `_Handler.do_POST`)."""
        self._call("POST", "/play", json.dumps(behaviours).encode())

    def requests(self) -> list[dict[str, Any]]:
        """The bodies of all embed requests since the last `play`, oldest first."""
        return cast("list[dict[str, Any]]", json.loads(self._call("GET", "/requests")))

    def batches(self) -> list[int]:
        """The number of texts in each of these requests."""
        return [len(request["input"]) for request in self.requests()]

    def _call(self, method: str, path: str, body: bytes | None = None) -> bytes:
        request = urllib.request.Request(self.url + path, body, method=method)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=10) as response:
            return cast(bytes, response.read())


@contextmanager
def running_server() -> Iterator[OllamaServer]:
    """A server process of its own; it ends with the block, or with this process."""
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).resolve())], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        stdin, stdout = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        try:
            yield OllamaServer(f"http://127.0.0.1:{int(stdout.readline())}")
        finally:
            stdin.close()


@dataclass
class _Script:
    behaviours: list[str] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)


_script = _Script()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer(200, json.dumps(_script.requests).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/play":
            _script.behaviours, _script.requests = body, []
            self._answer(200, b"{}")
        elif self.path == "/api/embed":
            _script.requests.append(body)
            behaviour = _script.behaviours.pop(0) if _script.behaviours else "honest"
            getattr(self, f"_{behaviour}")(body)
        else:
            self._answer(404, b"404 page not found")

    def _honest(self, body: dict[str, Any]) -> None:
        if body["model"] == MISSING_MODEL:
            self._fail(404, f'model "{MISSING_MODEL}" not found, try pulling it first')
        else:
            self._vectors(body, [vector(text) for text in body["input"]])

    def _one_too_few(self, body: dict[str, Any]) -> None:
        self._vectors(body, [vector(text) for text in body["input"][1:]])

    def _slow(self, body: dict[str, Any]) -> None:
        time.sleep(1.0)
        self._honest(body)

    def _trickle(self, body: dict[str, Any]) -> None:
        self._head(200, 1000)
        for _ in range(100):
            self.wfile.write(b" ")
            time.sleep(0.05)

    def _hang_up(self, body: dict[str, Any]) -> None:
        self.close_connection = True

    def _cut(self, body: dict[str, Any]) -> None:
        self._head(200, 1000)
        self.wfile.write(b'{"embeddings": [[1, 2')
        self.close_connection = True

    def _endless(self, body: dict[str, Any]) -> None:
        self._head(200, 1 << 40)
        while True:
            self.wfile.write(_MIB)

    def _busy(self, body: dict[str, Any]) -> None:
        self._fail(503, "server busy, please try again.  maximum pending requests exceeded")

    def _broken(self, body: dict[str, Any]) -> None:
        self._fail(500, "llama runner process has terminated:\n\x1b[31mexit status 2")

    def _bad_request(self, body: dict[str, Any]) -> None:
        self._fail(400, "the input length exceeds the context length")

    def _too_many(self, body: dict[str, Any]) -> None:
        self._answer(429, b"slow down\n" * 100)

    def _model_not_found(self, body: dict[str, Any]) -> None:
        self._fail(400, "model not found")

    def _redirect(self, body: dict[str, Any]) -> None:
        self._answer(307, b"", {"Location": "/api/embed"})

    def _html(self, body: dict[str, Any]) -> None:
        self._answer(200, b"<html>It works!</html>")

    def _nested(self, body: dict[str, Any]) -> None:
        self._answer(200, b'{"embeddings": ' + b"[" * 100_000)

    def _without_embeddings(self, body: dict[str, Any]) -> None:
        self._answer(200, b'{"embedding": [1, 2]}')

    def _vectors(self, body: dict[str, Any], vectors: list[str]) -> None:
        model = json.dumps(body["model"])
        self._answer(200, f'{{"model": {model}, "embeddings": [{", ".join(vectors)}]}}'.encode())

    def _fail(self, status: int, text: str) -> None:
        self._answer(status, json.dumps({"error": text}).encode())

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self._head(status, len(body), headers)
        self.wfile.write(body)

    def _head(self, status: int, length: int, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Silent: the tests ask for `requests` instead."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Silent: clients that hang up on a slow or endless answer are part of the tests."""


def main() -> None:
    server = _Server(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
