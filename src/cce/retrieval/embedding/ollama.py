"""The Ollama embedder: a model server near by turns texts into vectors over HTTP.

Texts leave as `POST {url}/api/embed` in batches; unit rows come back, or one EmbedderError that
names the server, the fault and the way out. Nothing an answer claims is believed: its size, its
count of vectors, their width and their numbers are all checked.

The client is urllib3: it reads no proxy variables, so a proxy cannot come between this program and
a server on the same machine, and redirects are refused, so texts go only where the user said.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from cce.errors import EmbedderError
from cce.quoting import on_one_line

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

    from cce.retrieval.embedding.catalog import FloatMatrix

DEFAULT_MODEL = "nomic-embed-text"
DEFAULT_URL = "http://localhost:11434"
BATCH = 64
ATTEMPTS = 3
# Room for 64 vectors of 40,000 numbers in full precision; parsing takes about 16 times as much memory.
MAX_ANSWER_BYTES = 64 << 20
_PIECE_BYTES = 1 << 16
_MAX_QUOTE = 200
_PROBE = b"dimension"
_SEE_LOG = "see the log of `ollama serve`"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds.

    connect  for the server to accept a connection
    answer   for one whole answer; the first one includes loading the model
    backoff  before the second attempt; doubles with each further one
    """

    connect: float = 5.0
    answer: float = 300.0
    backoff: float = 0.5


class OllamaEmbedder:
    """Vectors of one model of an Ollama server, normalised here.

    `model` and `url` default to CCE_OLLAMA_MODEL and CCE_OLLAMA_URL, read now, then to the constants
    above. `expected_dimension` is what a store has on record: vectors of another width are refused.
    """

    name = "ollama"

    def __init__(
        self,
        model: str | None = None,
        url: str | None = None,
        *,
        expected_dimension: int | None = None,
        patience: Patience = Patience(),
    ) -> None:
        self.model = _checked_model(model or os.environ.get("CCE_OLLAMA_MODEL") or DEFAULT_MODEL)
        self.url = _checked_url(url or os.environ.get("CCE_OLLAMA_URL") or DEFAULT_URL)
        self._dimension = expected_dimension
        self._patience = patience

    @property
    def dimension(self) -> int:
        """Width of the vectors; embeds one short text if no answer has shown it yet."""
        return self._embed_batch([_PROBE]).shape[1] if self._dimension is None else self._dimension

    def check(self) -> None:
        """Embeds one short text; raises EmbedderError unless the server and its model are fit for use."""
        self._embed_batch([_PROBE])

    def embed(self, texts: Sequence[bytes]) -> FloatMatrix:
        """float64[n_texts, dimension]; a blank text is not sent and gets zeros.

        Bytes that are not UTF-8 are replaced. Blank texts stay here because servers disagree about
        them: some give an empty vector, some an error.
        """
        positions = [position for position, text in enumerate(texts) if text.strip()]
        batches = [positions[start : start + BATCH] for start in range(0, len(positions), BATCH)]
        embedded = [self._embed_batch([texts[position] for position in batch]) for batch in batches]
        rows: FloatMatrix = np.zeros((len(texts), self.dimension))
        for batch, unit_rows in zip(batches, embedded, strict=True):
            rows[batch] = unit_rows
        return rows

    def _embed_batch(self, texts: list[bytes]) -> FloatMatrix:
        sent = [text.decode("utf-8", "replace") for text in texts]
        answer = self._ask(msgspec.json.encode({"model": self.model, "input": sent}))
        try:
            vectors = msgspec.json.decode(answer, type=_Answer).embeddings
        except (msgspec.DecodeError, RecursionError) as exc:
            fault = f"the answer is not JSON with `embeddings` of finite numbers ({_quote(str(exc))})"
            raise self._error(fault, "check that CCE_OLLAMA_URL names an Ollama server") from exc
        self._check_shape(vectors, len(texts))
        return _normalize(np.array(vectors, np.float64))

    def _check_shape(self, vectors: list[list[float]], n_texts: int) -> None:
        """Refuses a wrong count and any width but the known one; the first width seen becomes known."""
        if len(vectors) != n_texts:
            raise self._error(f"{len(vectors)} vectors came back for {n_texts} texts", _SEE_LOG)
        if not all(vectors):
            raise self._error(f"model {self.model!r} gave an empty vector", "use an embedding model")
        known = len(vectors[0]) if self._dimension is None else self._dimension
        odd = next((len(vector) for vector in vectors if len(vector) != known), None)
        if odd is not None:
            fault = f"model {self.model!r} gave a vector of {odd} numbers where {known} were expected"
            raise self._error(fault, "if the model was replaced, build the index again")
        self._dimension = known

    def _ask(self, body: bytes) -> bytes:
        """The answer's body; asks again after a broken connection or a 5xx, never after anything else."""
        for attempt in range(ATTEMPTS - 1):
            try:
                return self._ask_once(body)
            except _TransientError:
                time.sleep(self._patience.backoff * 2**attempt)
        return self._ask_once(body)

    def _ask_once(self, body: bytes) -> bytes:
        from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError

        try:
            status, answer = self._exchange(body)
        # Not transient: the server is at work, and a second request would only double its load.
        except ReadTimeoutError as exc:
            raise self._late() from exc
        except (NewConnectionError, ConnectTimeoutError) as exc:
            way_out = "start it with `ollama serve` or set CCE_OLLAMA_URL"
            raise self._error(f"cannot reach Ollama ({_cause(exc)})", way_out, _TransientError) from exc
        except HTTPError as exc:
            raise self._error(f"the connection broke ({_cause(exc)})", _SEE_LOG, _TransientError) from exc
        if status != 200:
            raise self._refusal(status, answer)
        return answer

    def _exchange(self, body: bytes) -> tuple[int, bytes]:
        """Status and body of one request; raises urllib3's errors."""
        deadline = time.monotonic() + self._patience.answer
        response = self._pool.request(
            "POST",
            f"{self.url}/api/embed",
            body=body,
            headers={"Content-Type": "application/json"},
            retries=False,
            redirect=False,
            preload_content=False,
        )
        with closing(response):
            return response.status, self._read_bounded(response, deadline)

    def _read_bounded(self, response: BaseHTTPResponse, deadline: float) -> bytes:
        """The whole body, unless it is too long or trickles in past the deadline."""
        answer = bytearray()
        while piece := response.read1(_PIECE_BYTES, decode_content=False):
            answer += piece
            if len(answer) > MAX_ANSWER_BYTES:
                raise self._error(f"the answer is longer than {MAX_ANSWER_BYTES >> 20} MiB", _SEE_LOG)
            if time.monotonic() > deadline:
                raise self._late()
        return bytes(answer)

    @cached_property
    def _pool(self) -> PoolManager:
        import urllib3

        timeout = urllib3.Timeout(connect=self._patience.connect, read=self._patience.answer)
        return urllib3.PoolManager(timeout=timeout)

    def _refusal(self, status: int, answer: bytes) -> EmbedderError:
        """What an HTTP status other than 200 means."""
        text = _error_text(answer)
        fault = f"HTTP {status}" + (f" ({text})" if text else "")
        if status == 404 or ("model" in text and "not found" in text):
            return self._error(f"no model {self.model!r}: {fault}", f"run `ollama pull {self.model}`")
        if 300 <= status < 400:
            return self._error(f"{fault} is a redirect, not followed", "set CCE_OLLAMA_URL to its target")
        return self._error(fault, _SEE_LOG, _TransientError if status >= 500 else EmbedderError)

    def _late(self) -> EmbedderError:
        fault = f"model {self.model!r} gave no whole answer within {self._patience.answer:g} s"
        return self._error(fault, f"use a smaller model or {_SEE_LOG}")

    def _error(self, fault: str, way_out: str, kind: type[EmbedderError] = EmbedderError) -> EmbedderError:
        return kind(f"{self.url}: {fault}; {way_out}")


class _TransientError(EmbedderError):
    """A fault that may be gone at the next attempt."""


class _Answer(msgspec.Struct):
    # Decoding is strict: null, true, "1", NaN and 1e999 are all refused.
    embeddings: list[list[float]]


class _Fault(msgspec.Struct):
    error: str


def _checked_model(model: str) -> str:
    if not model.isprintable():
        fault = f"model '{_quote(model)}' holds control characters"
        raise EmbedderError(f"Ollama: {fault}; set CCE_OLLAMA_MODEL to a name from `ollama list`")
    return model


def _checked_url(url: str) -> str:
    """`url` without a final slash; raises EmbedderError unless it is http(s)://host[:port][/path]."""
    from urllib3.exceptions import LocationParseError
    from urllib3.util import parse_url

    if not url.isprintable() or " " in url:
        raise _malformed(url)
    try:
        parts = parse_url(url)
    except LocationParseError as exc:
        raise _malformed(url) from exc
    surplus = (parts.auth, parts.query, parts.fragment)
    if parts.scheme not in {"http", "https"} or not parts.host or surplus != (None, None, None):
        raise _malformed(url)
    return parts.url.rstrip("/")


def _malformed(url: str) -> EmbedderError:
    # What stands before the @ may be a password.
    fault = f"URL '{_quote(url.rpartition('@')[2])}' is not of the form http://HOST[:PORT][/PATH]"
    return EmbedderError(f"Ollama: {fault}; set CCE_OLLAMA_URL to, say, {DEFAULT_URL}")


def _error_text(answer: bytes) -> str:
    """What a refusing server says for itself: Ollama's `error` field, or the body as it is."""
    try:
        text = msgspec.json.decode(answer, type=_Fault).error
    except (msgspec.DecodeError, RecursionError):
        text = answer[: 4 * _MAX_QUOTE].decode("utf-8", "replace")
    return _quote(text)


def _cause(exc: Exception) -> str:
    # urllib3 wraps the system's words in its own; they are the cause or, failing that, come last.
    return _quote(str(exc.__cause__ or (exc.args[-1] if exc.args else exc)))


def _quote(text: str) -> str:
    """Foreign text on one line that a terminal can bear."""
    flat = " ".join(text[: 4 * _MAX_QUOTE].split())
    return on_one_line(flat if len(flat) <= _MAX_QUOTE else f"{flat[:_MAX_QUOTE]}…")


def _normalize(rows: FloatMatrix) -> FloatMatrix:
    """Rows of norm 1; zero rows stay zero."""
    # Scaled first: the squares of very large or very small numbers would leave float64.
    peaks = np.abs(rows).max(axis=1, keepdims=True)
    scaled = rows / np.where(peaks == 0, 1.0, peaks)
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, np.newaxis]
    unit: FloatMatrix = scaled / np.where(norms == 0, 1.0, norms)
    return unit
