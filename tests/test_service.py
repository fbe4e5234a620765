"""Services: a real server on this machine, good and bad."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import urllib3.util  # noqa: F401 - it opens a socket once, when it is imported

from cce.domain.outside import FailedAnswer, OutsideResult, Question
from cce.domain.systems import Service
from cce.errors import OutsideSystemError
from cce.retrieval.external.addresses import ServiceUrl, checked_addresses, filled_headers, parse_url
from cce.retrieval.external.service import ServiceSystem

HELLO = {
    "op": "hello",
    "protocol": "cce.retriever/v1",
    "name": "fake",
    "version": "1",
    "capabilities": ["batch"],
}
QUESTIONS = [Question("a", "first", 3), Question("b", "second", 3)]

Handler = Callable[["_Server", dict[str, Any]], tuple[int, dict[str, str], bytes]]


class _Server(ThreadingHTTPServer):
    """Answers hello by itself, and a search as `handle` says; keeps what was asked."""

    daemon_threads = True

    def __init__(self, handle: Handler) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.handle_search = handle
        self.searches: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.hello: Any = HELLO
        self.trickle = 0.0


class _Requests(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        assert self.path.endswith("/hello")
        self._send(200, {}, json.dumps(self.server.hello).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.searches.append(body)
        self.server.headers.append(dict(self.headers))
        self._send(*self.server.handle_search(self.server, body))

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        step = 1 if self.server.trickle else len(body) or 1
        for start in range(0, len(body), step):
            try:
                self.wfile.write(body[start : start + step])
            except OSError:  # the client gave up
                return
            time.sleep(self.server.trickle)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def good(_server: _Server, request: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
    results = [
        {"id": each["id"], "results": [{"path": f"{each['query']}.py", "start": 1, "end": 2, "score": 0.5}]}
        for each in request["queries"]
    ]
    return 200, {}, json.dumps({"id": request["id"], "results": results[::-1]}).encode()


@contextmanager
def serving(handle: Handler = good) -> Iterator[_Server]:
    server = _Server(handle)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def service_at(server: _Server, **table: Any) -> Service:
    return Service(
        f"http://127.0.0.1:{server.server_address[1]}/api", "", **{"retries": 0, "timeout": 5.0, **table}
    )


def asked(server: _Server, keeps_going: bool = False, **table: Any) -> list[Any]:
    system = ServiceSystem("mine", service_at(server, **table), keeps_going=keeps_going)
    try:
        return list(system.answer(QUESTIONS))
    finally:
        system.close()


@pytest.mark.process
def test_a_service_is_asked_in_batches_and_may_answer_in_any_order() -> None:
    with serving() as server:
        assert asked(server) == [
            (OutsideResult("first.py", 1, 2, None, 0.5),),
            (OutsideResult("second.py", 1, 2, None, 0.5),),
        ]
    assert [[query["id"] for query in search["queries"]] for search in server.searches] == [["a", "b"]]


@pytest.mark.process
def test_without_the_capability_each_query_travels_alone() -> None:
    with serving() as server:
        server.hello = {**HELLO, "capabilities": []}
        assert len(asked(server)) == 2
    assert [len(search["queries"]) for search in server.searches] == [1, 1]


def answering(status: int, body: bytes, headers: dict[str, str] | None = None) -> Handler:
    return lambda _server, _request: (status, headers or {}, body)


@pytest.mark.process
@pytest.mark.parametrize(
    ("handle", "fault"),
    [
        (answering(500, b"boom"), "HTTP 500, it says 'boom'"),
        (answering(404, b""), "HTTP 404, it says nothing"),
        (answering(301, b"", {"Location": "http://127.0.0.1:1/"}), "is a redirect, which is not followed"),
        (answering(200, b"<html>"), r"sends no cce.retriever/v1 .* it began '<html>'"),
        (answering(200, b'{"id": 9, "results": []}'), "answers request 9 where 1 was asked"),
        (answering(200, b'{"id": 1, "results": []}'), "leaves 2 queries unanswered, the first is 'a'"),
        (answering(200, b" " * (2**24 + 1)), "answers with more than 16 MiB"),
        (answering(200, b"\xff"), "not UTF-8"),
        (answering(503, b"busy"), "HTTP 503, it says 'busy'"),
    ],
)
def test_a_bad_answer_is_one_line_with_system_and_case(handle: Handler, fault: str) -> None:
    with serving(handle) as server, pytest.raises(OutsideSystemError, match=fault) as caught:
        asked(server)
    message = str(caught.value)
    assert message.startswith("system 'mine': case a or one of the 1 asked with it: http://127.0.0.1:")
    assert "\n" not in message


@pytest.mark.process
def test_a_slow_answer_and_one_that_trickles_end_at_the_time_limit() -> None:
    def late(_server: _Server, request: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        time.sleep(1.5)
        return good(_server, request)

    with serving(late) as server, pytest.raises(OutsideSystemError, match=r"no whole answer within 0\.1 s"):
        asked(server, timeout=0.1)
    with serving() as server:
        system = ServiceSystem("mine", service_at(server, timeout=0.2))
        assert system.hello.name == "fake"
        server.trickle = 0.05
        with pytest.raises(OutsideSystemError, match=r"no whole answer within 0\.2 s"):
            list(system.answer(QUESTIONS))


@pytest.mark.process
def test_headers_that_trickle_end_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def trickle(request: _Requests, *_: object) -> None:
        try:
            request.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for number in range(60):
                request.wfile.write(b"X-%d: 1\r\n" % number)
                time.sleep(0.05)
        except OSError:  # the client gave up
            return

    with serving() as server:
        system = ServiceSystem("mine", service_at(server, timeout=0.2))
        assert system.hello.name == "fake"
        monkeypatch.setattr(_Requests, "_send", trickle)
        with pytest.raises(OutsideSystemError, match=r"gave no whole answer within 0\.2 s per query"):
            list(system.answer(QUESTIONS))


@pytest.mark.process
def test_a_host_with_several_addresses_is_called_at_the_first_that_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = socket.getaddrinfo

    def two(host: str, port: int, *rest: Any, **more: Any) -> Any:
        if host == "search.example":  # nobody listens at the first
            return [(0, 0, 0, "", ("127.0.0.2", port)), (0, 0, 0, "", ("127.0.0.1", port))]
        return real(host, port, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", two)
    with serving() as server:
        url = f"http://search.example:{server.server_address[1]}"
        system = ServiceSystem("mine", Service(url, "", retries=0, timeout=5.0))
        assert len(list(system.answer(QUESTIONS))) == 2
        system.close()
        assert server.headers[0]["Host"] == url.removeprefix("http://")


@pytest.mark.process
def test_a_refused_connection_says_so() -> None:
    with serving() as server:
        service = service_at(server)
    with pytest.raises(OutsideSystemError, match=r"hello: .* cannot be reached .*: is it running"):
        list(ServiceSystem("mine", service).answer(QUESTIONS))


@pytest.mark.process
def test_a_busy_service_is_asked_again_and_its_wish_to_wait_is_heard() -> None:
    def busy_once(server: _Server, request: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        if len(server.searches) == 1:
            return 503, {"Retry-After": "0"}, b""
        return good(server, request)

    with serving(busy_once) as server:
        assert len(asked(server, retries=1)) == 2
        assert len(server.searches) == 2
    forever = answering(429, b"slow down", {"Retry-After": "3600"})
    with serving(forever) as server, pytest.raises(OutsideSystemError, match="HTTP 429, it says 'slow down'"):
        asked(server, retries=2)
    assert len(server.searches) == 1


@pytest.mark.process
def test_who_keeps_going_asks_one_by_one_and_loses_only_the_case_that_fails() -> None:
    def picky(server: _Server, request: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        return (500, {}, b"no") if any(q["id"] == "b" for q in request["queries"]) else good(server, request)

    with serving(picky) as server:
        first, second = asked(server, keeps_going=True)
    assert first == (OutsideResult("first.py", 1, 2, None, 0.5),)
    assert isinstance(second, FailedAnswer)
    assert "case b" in second.message


@pytest.mark.process
def test_a_value_from_the_environment_is_sent_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_TOKEN", "tok-53cr3t-value")
    headers = {"Authorization": "Bearer ${env:SEARCH_TOKEN}"}
    with serving(answering(500, b"bad token tok-53cr3t-value")) as server:
        with pytest.raises(OutsideSystemError, match=r"it says 'bad token \*\*\*'"):
            asked(server, headers=headers)
        assert server.headers[0]["Authorization"] == "Bearer tok-53cr3t-value"


@pytest.mark.process
def test_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving() as server:
        assert len(asked(server)) == 2


@pytest.mark.process
@pytest.mark.skipif(which("openssl") is None, reason="a certificate needs openssl")
def test_tls_is_verified_against_the_name_of_the_host(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "ca.pem"
    request = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost".split()  # noqa: SIM905
    names = ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*request, *names, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    with serving() as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        port = server.server_address[1]
        url = f"https://localhost:{port}"
        good_service = Service(url, str(tmp_path), retries=0, timeout=5.0, ca="ca.pem")
        assert len(list(ServiceSystem("mine", good_service).answer(QUESTIONS))) == 2
        for bad in (good_service._replace(ca=None), good_service._replace(url=f"https://127.0.0.1:{port}")):
            with pytest.raises(OutsideSystemError, match=r"the connection broke .*(certificate|hostname)"):
                list(ServiceSystem("mine", bad).answer(QUESTIONS))


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("ftp://host/x", "not of the form"),
        ("http://", "not of the form"),
        ("http://ho st/", "not of the form"),
        ("http://user:pw@host/", "has a user, a query or a fragment"),
        ("http://host/?q=1", "has a user, a query or a fragment"),
    ],
)
def test_a_url_that_is_no_plain_address_is_refused_without_its_password(url: str, fault: str) -> None:
    with pytest.raises(OutsideSystemError, match=fault) as caught:
        parse_url(url)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("169.254.169.254", "a link-local address"),
        ("fe80::1", "a link-local address"),
        ("::ffff:169.254.169.254", "a link-local address"),
        ("224.0.0.1", "a multicast address"),
        ("0.0.0.0", "no address of a machine"),
        ("::", "no address of a machine"),
        ("fd00:ec2::254", "where a cloud keeps its keys"),
    ],
)
def test_addresses_that_nobody_should_call_are_refused_after_resolving(
    monkeypatch: pytest.MonkeyPatch, address: str, fault: str
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", (address, 80))])
    with pytest.raises(OutsideSystemError, match=fault):
        checked_addresses(ServiceUrl("http", "search.example", 80, ""), is_ci=False, hosts=())


def test_ci_calls_only_this_machine_and_the_hosts_that_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("192.0.2.7", 80))])
    url = ServiceUrl("http", "search.example", 80, "")
    assert checked_addresses(url, is_ci=False, hosts=()) == ("192.0.2.7",)
    assert checked_addresses(url, is_ci=True, hosts=("search.example",)) == ("192.0.2.7",)
    with pytest.raises(OutsideSystemError, match=r"add --allow-host search\.example"):
        checked_addresses(url, is_ci=True, hosts=("other.example",))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("127.0.0.1", 80))])
    assert checked_addresses(url, is_ci=True, hosts=()) == ("127.0.0.1",)


@pytest.mark.parametrize(
    ("headers", "fault"),
    [
        ({"Authorization": "Bearer ${env:CCE_TEST_UNSET}"}, "the variable CCE_TEST_UNSET is not set"),
        ({"X-A": "${env:CCE_TEST_LINES}"}, "the variable CCE_TEST_LINES holds a line end"),
        ({"X-A": "${env:GITHUB_TOKEN}"}, "GITHUB_TOKEN belongs to the CI and reaches no system"),
        ({"X-A": "a\r\nB: c"}, "holds a line end"),
        ({"X A": "a"}, "is no name of a header"),
        ({"Authorization": "token=ghp_" + "a" * 36}, "holds what looks like a secret"),
        ({"X-Api-Key": "0123456789abcdef"}, "holds what looks like a secret"),
    ],
)
def test_a_header_that_cannot_be_sent_or_should_not_be_committed_is_refused(
    monkeypatch: pytest.MonkeyPatch, headers: dict[str, str], fault: str
) -> None:
    monkeypatch.setenv("CCE_TEST_LINES", "a\nb")
    monkeypatch.setenv("GITHUB_TOKEN", "abcdefgh")
    with pytest.raises(OutsideSystemError, match=fault):
        filled_headers(headers)
