"""A service as a system: HTTP with the objects of `cce.retriever/v1`, `GET URL/hello` and `POST URL/search`.

Nothing an answer claims is believed: its size, its time and its shape are checked. Redirects are not followed
and no proxy is asked, so questions go only where the user said.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property, partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from cce.domain.outside import Answer, FailedAnswer, Question
from cce.domain.systems import Service
from cce.errors import OutsideSystemError
from cce.quoting import on_one_line, quoted
from cce.retrieval.external.addresses import checked_addresses, filled_headers, is_loopback, parse_url
from cce.retrieval.external.outside_words import OutsideWords
from cce.retrieval.external.protocol import (
    MAX_LINE_BYTES,
    Hello,
    NotProtocolError,
    QuestionBatch,
    make_batches,
    parse_answers,
    parse_hello,
    search_request,
)

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, HTTPConnectionPool

_RETRIED = (429, 502, 503, 504)
_FIRST_WAIT = 0.25  # seconds before the first retry without a Retry-After; doubles
_PIECE_BYTES = 1 << 16
_SLACK = 0.1  # seconds by which the messages of the client itself, which know more, may come late
_N_SHOWN = 200
_JSON = "application/json"


class ServiceSystem:
    """Asks a service; what fails is told with its name, the case and the first of what came back."""

    def __init__(
        self,
        name: str,
        service: Service,
        *,
        is_ci: bool = False,
        hosts: Collection[str] = (),
        keeps_going: bool = False,
    ) -> None:
        """Raises OutsideSystemError for a URL, a host or a header that may not be used.

        hosts        what may be called under CI besides this machine
        keeps_going  whether a batch that fails is asked again one by one, each failing for itself
        """
        self._name = name
        self._service = service
        self._keeps_going = keeps_going
        with _naming(name):
            self._url = parse_url(service.url)
            addresses = checked_addresses(self._url, is_ci=is_ci, hosts=hosts)
            headers = filled_headers(service.headers)
        self._headers: Mapping[str, str] = {
            "Accept": _JSON,
            "Accept-Encoding": "identity",
            "Host": _host_header(service.url),
            **headers.values,
        }
        # `localhost` is often at ::1 first, where a server that listens on 127.0.0.1 does not answer.
        self._addresses = deque(addresses)
        self._words = OutsideWords(headers.secrets)
        self._n_requests = 0

    @cached_property
    def hello(self) -> Hello:
        """What the service says of itself; asked once."""
        body = self._exchange("GET", "hello", None, self._service.timeout, "hello")
        try:
            return parse_hello(body)
        except NotProtocolError as exc:
            raise self._not_protocol("hello", exc, body) from exc

    @property
    def facts(self) -> Mapping[str, str]:
        """Its name and version, for the header of a recorded run; empty before it was asked anything."""
        return self.hello.facts if "hello" in self.__dict__ else {}

    @property
    def is_remote(self) -> bool:
        """Whether it is on another machine than this one."""
        return not all(is_loopback(address) for address in self._addresses)

    def answer(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """One answer per question, in order, batch by batch."""
        batches, answers = make_batches(questions, self.hello)
        answered: dict[int, Answer] = dict(answers)
        waiting = iter(batches)
        for position in range(len(questions)):
            while position not in answered:
                answered.update(self._answered(next(waiting)))
            yield answered.pop(position)

    def close(self) -> None:
        """Close the connections."""
        pool = self.__dict__.pop("_pool", None)
        if pool is not None:
            pool.close()

    def _answered(self, batch: QuestionBatch) -> dict[int, Answer]:
        try:
            return dict(zip(batch.positions, self._ask(batch), strict=True))
        except OutsideSystemError as exc:
            if not self._keeps_going:
                raise
            if len(batch.positions) == 1:
                return {batch.positions[0]: FailedAnswer(str(exc))}
        return {
            position: answer for each in batch.singly() for position, answer in self._answered(each).items()
        }

    def _ask(self, batch: QuestionBatch) -> list[Answer]:
        self._n_requests += 1
        number = self._n_requests
        timeout = self._service.timeout * len(batch.questions)
        body = self._exchange("POST", "search", search_request(number, batch), timeout, batch.place)
        try:
            return parse_answers(body, number, batch.questions, self._words.clean)
        except NotProtocolError as exc:
            raise self._not_protocol(batch.place, exc, body) from exc

    def _exchange(self, method: str, verb: str, body: bytes | None, timeout: float, place: str) -> bytes:
        """The body of a good answer; asks again as often as `retries` says, within `timeout` seconds."""
        deadline = time.monotonic() + timeout
        for attempt in range(self._service.retries + 1):
            try:
                return self._within(
                    deadline, place, partial(self._exchange_once, method, verb, body, deadline, place)
                )
            except _BusyError as busy:
                wait = busy.wait if busy.wait is not None else _FIRST_WAIT * 2**attempt
                is_last = attempt == self._service.retries
                if is_last or time.monotonic() + wait > deadline:
                    raise self._error(place, str(busy)) from busy
                time.sleep(wait)
        raise AssertionError  # the last attempt returns or raises

    def _within(self, deadline: float, place: str, exchange: Callable[[], bytes]) -> bytes:
        """What `exchange` returns or raises, unless `deadline` comes first.

        A socket's time limit is for each piece: a service that sends a byte of a header now and then would
        never reach it.
        """
        ended: SimpleQueue[bytes | Exception] = SimpleQueue()

        def work() -> None:
            try:
                ended.put(exchange())
            except Exception as exc:
                ended.put(exc)

        threading.Thread(target=work, daemon=True).start()
        try:
            outcome = ended.get(timeout=max(0.0, deadline - time.monotonic()) + _SLACK)
        except Empty:
            self.close()  # the connection is of no use any more
            raise self._late(place) from None
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _exchange_once(
        self,
        method: str,
        verb: str,
        body: bytes | None,
        deadline: float,
        place: str,
        first: str | None = None,
    ) -> bytes:
        """One request; an address that refuses it is followed by the next, once around from `first`."""
        first = first or self._addresses[0]
        from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError

        headers = {**self._headers, **({} if body is None else {"Content-Type": _JSON})}
        try:
            response = self._pool.urlopen(
                method,
                f"{self._url.path}/{verb}",
                body=body,
                headers=headers,
                timeout=max(0.001, deadline - time.monotonic()),
                retries=False,
                redirect=False,
                preload_content=False,
                assert_same_host=False,
            )
            with closing(response):
                answer = self._read(response, deadline, place)
        except NewConnectionError as exc:  # which is a ConnectTimeoutError
            self.close()
            self._addresses.rotate(-1)
            if self._addresses[0] != first:
                return self._exchange_once(method, verb, body, deadline, place, first)
            raise _BusyError(f"cannot be reached ({self._cause(exc)}): is it running?") from exc
        except (ReadTimeoutError, ConnectTimeoutError) as exc:
            raise self._late(place) from exc
        except HTTPError as exc:
            raise self._error(place, f"the connection broke ({self._cause(exc)})") from exc
        self._require_good(response, answer, place)
        return answer

    def _require_good(self, response: BaseHTTPResponse, answer: bytes, place: str) -> None:
        status = response.status
        if status == 200:
            return
        said = self._words.first(answer, _N_SHOWN) if answer.strip() else "nothing"
        if status in _RETRIED:
            raise _BusyError(f"HTTP {status}, it says {said}", _retry_after(response))
        if 300 <= status < 400:
            raise self._error(place, f"HTTP {status} is a redirect, which is not followed: name its target")
        raise self._error(place, f"HTTP {status}, it says {said}")

    def _read(self, response: BaseHTTPResponse, deadline: float, place: str) -> bytes:
        """The whole body, unless it is too long or trickles in past the deadline."""
        answer = bytearray()
        while piece := response.read1(_PIECE_BYTES, decode_content=False):
            answer += piece
            if len(answer) > MAX_LINE_BYTES:
                raise self._error(place, f"answers with more than {MAX_LINE_BYTES >> 20} MiB")
            if time.monotonic() > deadline:
                raise self._late(place)
        return bytes(answer)

    @cached_property
    def _pool(self) -> HTTPConnectionPool:
        """Connections to the address that was checked; the certificate must be the host's."""
        import urllib3

        if self._url.scheme == "http":
            return urllib3.HTTPConnectionPool(self._addresses[0], self._url.port)
        ca = self._service.ca
        return urllib3.HTTPSConnectionPool(
            self._addresses[0],
            self._url.port,
            server_hostname=self._url.host,
            assert_hostname=self._url.host,
            cert_reqs="CERT_REQUIRED",
            ca_certs=None if ca is None else os.path.join(self._service.folder, ca),
        )

    def _late(self, place: str) -> OutsideSystemError:
        return self._error(place, f"gave no whole answer within {self._service.timeout:g} s per query")

    def _not_protocol(self, place: str, fault: NotProtocolError, body: bytes) -> OutsideSystemError:
        return self._error(
            place, f"{self._words.message(str(fault), 400)}; it began {self._words.first(body, _N_SHOWN)}"
        )

    def _error(self, place: str, fault: str) -> OutsideSystemError:
        return OutsideSystemError(f"system {quoted(self._name)}: {place}: {self._service.url}: {fault}")

    def _cause(self, exc: Exception) -> str:
        # urllib3 wraps the system's words in its own; they are the cause or, failing that, come last.
        cause = exc.__cause__ or exc.__context__ or (exc.args[-1] if exc.args else exc)
        return self._words.message(str(cause), _N_SHOWN)


class _BusyError(Exception):
    """A fault that may be gone at the next attempt; `wait` is what the service asks for, in seconds."""

    def __init__(self, fault: str, wait: float | None = None) -> None:
        super().__init__(fault)
        self.wait = wait


class _naming:  # noqa: N801 - a context manager
    """Put the name of the system in front of what is wrong with its table."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, exc: BaseException | None, _trace: object) -> None:
        if isinstance(exc, OutsideSystemError):
            raise OutsideSystemError(f"system {quoted(self._name)}: {exc}") from exc


def _retry_after(response: BaseHTTPResponse) -> float | None:
    """The seconds that a service asks to wait; a date is not worth a clock that may differ."""
    said = response.headers.get("Retry-After", "").strip()
    return float(said) if said.isdecimal() and len(said) < 7 else None


def _host_header(url: str) -> str:
    """What stands between the scheme and the path: the Host of a request goes by name, not by address."""
    return on_one_line(url.partition("://")[2].partition("/")[0])
