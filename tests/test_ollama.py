from __future__ import annotations

import socket
from collections.abc import Iterator

import numpy as np
import pytest

from cce.errors import EmbedderError
from cce.retrieval.embedding.catalog import EMBEDDERS
from cce.retrieval.embedding.ollama import DEFAULT_MODEL, DEFAULT_URL, OllamaEmbedder, Patience
from ollama_server import DIMENSION, MISSING_MODEL, MODEL, OllamaServer, running_server

pytestmark = pytest.mark.process  # a server of their own

IMPATIENT = Patience(connect=5.0, answer=5.0, backoff=0.001)


@pytest.fixture(scope="module")
def process() -> Iterator[OllamaServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def server(process: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> OllamaServer:
    monkeypatch.delenv("CCE_OLLAMA_MODEL", raising=False)
    monkeypatch.delenv("CCE_OLLAMA_URL", raising=False)
    process.play()
    return process


@pytest.fixture
def embedder(server: OllamaServer) -> OllamaEmbedder:
    return OllamaEmbedder(url=server.url, patience=IMPATIENT)


def refusal(embedder: OllamaEmbedder, *texts: bytes) -> str:
    with pytest.raises(EmbedderError) as caught:
        embedder.embed(texts or (b"text",))
    message = str(caught.value)
    assert message.isprintable(), "one line that a terminal can bear"
    assert message.startswith(f"{embedder.url}: "), "the place comes first"
    assert "; " in message, "a way out comes last"
    return message


# Vectors


def test_a_vector_of_3_and_4_comes_back_as_three_and_four_fifths(embedder: OllamaEmbedder) -> None:
    assert embedder.embed([b"[3, 4]"]).tolist() == [[0.75 / 1.25, 1.0 / 1.25]]


def test_rows_have_norm_1_and_keep_the_order_of_the_texts(embedder: OllamaEmbedder) -> None:
    rows = embedder.embed([b"one", b"two", b"three"])
    assert rows.dtype == np.float64
    assert rows.shape == (3, DIMENSION)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1.0, 1.0, 1.0], abs=1e-15)
    for text, row in zip([b"one", b"two", b"three"], rows, strict=True):
        assert embedder.embed([text]).tolist() == [row.tolist()]


def test_the_same_text_has_the_same_vector_in_every_batch(embedder: OllamaEmbedder) -> None:
    rows = embedder.embed([b"same", *(b"%d" % n for n in range(99)), b"same"])
    assert rows[0].tolist() == rows[100].tolist()
    assert rows[0].tolist() != rows[1].tolist()


def test_a_zero_vector_stays_zero(embedder: OllamaEmbedder) -> None:
    assert embedder.embed([b"[0, 0.0]", b"[-5, 0]"]).tolist() == [[0.0, 0.0], [-1.0, 0.0]]


@pytest.mark.parametrize("size", ["1e300", "1e-300", "5e-324"])
def test_numbers_whose_squares_leave_float64_still_give_norm_1(embedder: OllamaEmbedder, size: str) -> None:
    row = embedder.embed([f"[{size}, -{size}]".encode()])[0]
    assert row == pytest.approx([0.5**0.5, -(0.5**0.5)], abs=1e-15)


def test_no_texts_give_no_rows_of_the_right_width(embedder: OllamaEmbedder) -> None:
    assert embedder.embed([]).shape == (0, DIMENSION)


def test_blank_texts_are_not_sent_and_get_zeros(embedder: OllamaEmbedder, server: OllamaServer) -> None:
    rows = embedder.embed([b"", b"[0, 2]", b" \n\t"])
    assert rows.tolist() == [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    assert [request["input"] for request in server.requests()] == [["[0, 2]"]]


def test_only_blank_texts_cost_one_question_for_the_width(
    embedder: OllamaEmbedder, server: OllamaServer
) -> None:
    assert embedder.embed([b"", b" "]).tolist() == [[0.0] * DIMENSION] * 2
    assert server.batches() == [1]


# What is sent


def test_texts_leave_in_batches_of_64(embedder: OllamaEmbedder, server: OllamaServer) -> None:
    texts = [b"text %d" % n for n in range(130)]
    assert embedder.embed(texts).shape == (130, DIMENSION)
    assert server.batches() == [64, 64, 2]
    sent = [text for request in server.requests() for text in request["input"]]
    assert sent == [text.decode() for text in texts]


def test_64_texts_fill_one_batch_and_no_second_one(embedder: OllamaEmbedder, server: OllamaServer) -> None:
    embedder.embed([b"text"] * 64)
    assert server.batches() == [64]


def test_a_request_holds_the_model_and_the_texts_and_nothing_else(
    embedder: OllamaEmbedder, server: OllamaServer
) -> None:
    embedder.embed(['größer → "x"\n'.encode(), b"bad \xff byte"])
    assert server.requests() == [{"model": MODEL, "input": ['größer → "x"\n', "bad \ufffd byte"]}]


def test_the_dimension_costs_one_short_text_once(embedder: OllamaEmbedder, server: OllamaServer) -> None:
    assert (embedder.dimension, embedder.dimension) == (DIMENSION, DIMENSION)
    assert server.batches() == [1]


def test_after_embedding_the_dimension_costs_nothing(embedder: OllamaEmbedder, server: OllamaServer) -> None:
    embedder.embed([b"[1, 2, 3]"])
    assert embedder.dimension == 3
    assert server.batches() == [1]


def test_a_proxy_in_the_environment_is_not_asked(
    embedder: OllamaEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    assert embedder.embed([b"text"]).shape == (1, DIMENSION)


# Model and URL


def test_without_arguments_or_environment_the_defaults_hold(server: OllamaServer) -> None:
    embedder = OllamaEmbedder()
    assert (embedder.name, embedder.model, embedder.url) == ("ollama", DEFAULT_MODEL, DEFAULT_URL)


def test_the_environment_is_read_at_birth_and_arguments_win(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCE_OLLAMA_MODEL", "from-env")
    monkeypatch.setenv("CCE_OLLAMA_URL", "http://env:1/")
    born = OllamaEmbedder()
    given = OllamaEmbedder("given", "http://given:2/base/")
    monkeypatch.setenv("CCE_OLLAMA_MODEL", "later")
    assert (born.model, born.url) == ("from-env", "http://env:1")
    assert (given.model, given.url) == ("given", "http://given:2/base")


def test_empty_variables_count_as_unset(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCE_OLLAMA_MODEL", "")
    monkeypatch.setenv("CCE_OLLAMA_URL", "")
    embedder = OllamaEmbedder()
    assert (embedder.model, embedder.url) == (DEFAULT_MODEL, DEFAULT_URL)


@pytest.mark.parametrize(
    "url",
    [
        "localhost:11434",
        "ftp://localhost",
        "file:///etc/passwd",
        "http://",
        "http:///path",
        "http://a b",
        "http://host:port",
        "http://host:99999",
        "http://host\n",
        " http://host",
        "http://host/?model=x",
        "http://host/#part",
        "http://[::1",
        "/",
    ],
)
def test_a_url_that_names_no_http_server_is_refused_at_birth(url: str) -> None:
    with pytest.raises(EmbedderError, match=r"^Ollama: URL '.*' is not of the form .*; set CCE_OLLAMA_URL"):
        OllamaEmbedder(url=url)


def test_a_password_in_a_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(EmbedderError) as caught:
        OllamaEmbedder(url="http://me:secret@host:1")
    assert "'host:1'" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("model", ["two\nlines", "\x1b[31mred", "\udcff"])
def test_a_model_name_with_control_characters_is_refused_at_birth(model: str) -> None:
    with pytest.raises(
        EmbedderError, match=r"^Ollama: model '.*' holds control characters; set CCE_OLLAMA_MODEL"
    ):
        OllamaEmbedder(model)


def test_the_catalog_knows_it_by_name() -> None:
    assert EMBEDDERS.load("ollama") is OllamaEmbedder


# Retries


@pytest.mark.parametrize("fault", ["broken", "busy", "hang_up", "cut"])
def test_two_passing_faults_are_survived(embedder: OllamaEmbedder, server: OllamaServer, fault: str) -> None:
    server.play(fault, fault)
    assert embedder.embed([b"[3, 4]"]).shape == (1, 2)
    assert server.batches() == [1, 1, 1]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("broken", r"HTTP 500 (llama runner process has terminated: \x1b[31mexit status 2); see the log"),
        ("busy", "HTTP 503 (server busy, please try again. maximum pending requests exceeded); see the log"),
        ("hang_up", "the connection broke (Remote end closed connection without response); see the log"),
        ("cut", "the connection broke (IncompleteRead(21 bytes read, 979 more expected)); see the log"),
    ],
)
def test_a_third_fault_in_a_row_is_final(
    embedder: OllamaEmbedder, server: OllamaServer, fault: str, words: str
) -> None:
    server.play(*[fault] * 4)
    assert words in refusal(embedder)
    assert server.batches() == [1, 1, 1]


def test_each_batch_has_its_own_three_attempts(embedder: OllamaEmbedder, server: OllamaServer) -> None:
    server.play("busy", "busy", "honest", "busy", "busy", "honest")
    assert embedder.embed([b"text"] * 65).shape == (65, DIMENSION)
    assert server.batches() == [64, 64, 64, 1, 1, 1]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("bad_request", "HTTP 400 (the input length exceeds the context length); see the log"),
        ("too_many", "HTTP 429 (slow down slow down"),
        ("redirect", "HTTP 307 is a redirect, not followed; set CCE_OLLAMA_URL"),
        ("html", "not JSON with `embeddings` of finite numbers"),
        ("nested", "not JSON with `embeddings` of finite numbers"),
        ("without_embeddings", "not JSON with `embeddings` of finite numbers (Object missing required field"),
        ("endless", "the answer is longer than 64 MiB"),
    ],
)
def test_a_lasting_fault_is_final_at_once(
    embedder: OllamaEmbedder, server: OllamaServer, fault: str, words: str
) -> None:
    server.play(fault)
    message = refusal(embedder)
    assert words in message
    assert len(message) < 400
    assert server.batches() == [1]


@pytest.mark.parametrize("fault", ["slow", "trickle"])
def test_an_answer_that_takes_too_long_is_refused_and_not_asked_again(
    server: OllamaServer, fault: str
) -> None:
    server.play(fault)
    message = refusal(OllamaEmbedder(url=server.url, patience=Patience(answer=0.2, backoff=0.001)))
    assert f"model '{MODEL}' gave no whole answer within 0.2 s" in message
    assert server.batches() == [1]


def test_a_slow_answer_within_the_limit_is_awaited(embedder: OllamaEmbedder, server: OllamaServer) -> None:
    server.play("slow")
    assert embedder.embed([b"text"]).shape == (1, DIMENSION)


def test_the_first_pause_is_the_backoff_and_the_second_is_twice_as_long(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("cce.retrieval.embedding.ollama.time.sleep", pauses.append)
    server.play("busy", "busy", "busy")
    refusal(OllamaEmbedder(url=server.url))
    assert pauses == [0.5, 1.0]


# Not there


def test_a_refused_connection_names_the_server_and_how_to_start_it(server: OllamaServer) -> None:
    with socket.socket() as unheard:
        # Bound but not listening: nobody else can take the port meanwhile.
        unheard.bind(("127.0.0.1", 0))
        embedder = OllamaEmbedder(url=f"http://127.0.0.1:{unheard.getsockname()[1]}", patience=IMPATIENT)
        message = refusal(embedder)
    assert "cannot reach Ollama" in message
    assert message.endswith("; start it with `ollama serve` or set CCE_OLLAMA_URL")


def test_a_missing_model_comes_with_its_pull_command(server: OllamaServer) -> None:
    message = refusal(OllamaEmbedder(MISSING_MODEL, server.url, patience=IMPATIENT))
    assert "no model 'missing': HTTP 404 (model \"missing\" not found, try pulling it first)" in message
    assert message.endswith("; run `ollama pull missing`")
    assert server.batches() == [1]


def test_a_missing_model_is_known_by_its_words_too(embedder: OllamaEmbedder, server: OllamaServer) -> None:
    server.play("model_not_found")
    assert f"run `ollama pull {MODEL}`" in refusal(embedder)


def test_a_path_that_is_not_ollamas_shows_what_the_server_said(server: OllamaServer) -> None:
    message = refusal(OllamaEmbedder(url=f"{server.url}/elsewhere/", patience=IMPATIENT))
    assert "HTTP 404 (404 page not found)" in message


def test_a_check_of_a_sound_server_sends_one_text(embedder: OllamaEmbedder, server: OllamaServer) -> None:
    embedder.check()
    assert server.batches() == [1]


def test_a_check_asks_even_when_the_dimension_is_known(server: OllamaServer) -> None:
    embedder = OllamaEmbedder(MISSING_MODEL, server.url, expected_dimension=DIMENSION, patience=IMPATIENT)
    with pytest.raises(EmbedderError, match="ollama pull missing"):
        embedder.check()


# Nonsense


def test_a_vector_too_few_is_refused(embedder: OllamaEmbedder, server: OllamaServer) -> None:
    server.play("one_too_few")
    assert "2 vectors came back for 3 texts" in refusal(embedder, b"a", b"b", b"c")


@pytest.mark.parametrize("texts", [(b"[]",), (b"[1, 2]", b"[]"), (b"[]", b"[1, 2]")])
def test_an_empty_vector_is_refused(embedder: OllamaEmbedder, texts: tuple[bytes, ...]) -> None:
    assert f"model '{MODEL}' gave an empty vector; use an embedding model" in refusal(embedder, *texts)


def test_two_widths_in_one_batch_are_refused(embedder: OllamaEmbedder) -> None:
    words = "gave a vector of 3 numbers where 2 were expected"
    assert words in refusal(embedder, b"[1, 2]", b"[1, 2, 3]")


def test_two_widths_in_two_batches_are_refused(embedder: OllamaEmbedder, server: OllamaServer) -> None:
    words = f"gave a vector of 2 numbers where {DIMENSION} were expected"
    assert words in refusal(embedder, *[b"text"] * 64, b"[1, 2]")
    assert server.batches() == [64, 1]


def test_two_widths_in_two_calls_are_refused(embedder: OllamaEmbedder) -> None:
    embedder.embed([b"[1, 2]"])
    assert "gave a vector of 1 numbers where 2 were expected" in refusal(embedder, b"[1]")
    assert embedder.dimension == 2


def test_another_width_than_the_stores_is_refused(server: OllamaServer) -> None:
    embedder = OllamaEmbedder(url=server.url, expected_dimension=768, patience=IMPATIENT)
    assert embedder.dimension == 768
    assert f"gave a vector of {DIMENSION} numbers where 768 were expected" in refusal(embedder)


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "null", "true", '"1"', "[1]", "{}"]
)
def test_whatever_is_not_a_finite_number_is_refused(embedder: OllamaEmbedder, number: str) -> None:
    words = "not JSON with `embeddings` of finite numbers"
    assert words in refusal(embedder, b"[1, 2]", f"[1, {number}]".encode())


def test_after_a_refusal_the_embedder_still_works(embedder: OllamaEmbedder, server: OllamaServer) -> None:
    server.play("endless")
    refusal(embedder)
    server.play("html")
    refusal(embedder)
    assert embedder.embed([b"[3, 4]"]).shape == (1, 2)
