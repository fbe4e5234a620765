"""A store gives back the index it was made from, and anything else in one line that says why not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cce.domain.query import Query
from cce.domain.ranking import Chunk
from cce.domain.redaction import Redaction
from cce.errors import CceError, EmbedderError, StoreError
from cce.numerals import format_score
from cce.retrieval.backends.bm25 import Bm25Backend
from cce.retrieval.backends.hybrid import HybridBackend
from cce.retrieval.backends.vector import VectorBackend
from cce.retrieval.chunking.treesitter import chunk_file, chunk_id
from cce.retrieval.embedding.catalog import EMBEDDERS, Embedder
from cce.retrieval.embedding.hashing import HashEmbedder
from cce.retrieval.indexing.directory import index_directory
from cce.retrieval.indexing.index import Index
from cce.retrieval.store.reading import Store, read_store
from cce.retrieval.store.writing import write_store
from corpora import build_index
from oracle import Oracle

if TYPE_CHECKING:
    from cce.retrieval.embedding.catalog import FloatMatrix

DIGEST = "0" * 64
FILES = {
    "app.py": b"import os\n\ndef load(path):\n    return os.stat(path)\n\ndef save(path):\n    pass\n",
    "na\xefve.md": "# naïve café ✓ 😀\r\n".encode(),
    "os.py": b"x = 1\n",
}


def small_index(embedder: Embedder | None = None) -> Index:
    return build_index([chunk_file(path, text) for path, text in FILES.items()], embedder or HashEmbedder())


class AxisEmbedder:
    """Two dimensions: one for texts with an `s`, one for the rest; an embedder with a model."""

    name = "axis"
    dimension = 2

    def __init__(self, *, model: str | None = None) -> None:
        self.model = model or "default"

    def embed(self, texts: Sequence[bytes]) -> FloatMatrix:
        return np.array([[1.0, 0.0] if b"s" in text else [0.0, 1.0] for text in texts])


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, object], None]:
    def add(name: str, factory: object) -> None:
        module = sys.modules[__name__]
        monkeypatch.setattr(module, "registered", factory, raising=False)
        rows = {**EMBEDDERS._builtin, name: f"{__name__}:registered"}
        monkeypatch.setattr(EMBEDDERS, "_builtin", rows)

    return add


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "index.json")


def record(**changes: object) -> dict[str, Any]:
    """A chunk record, with fields changed, or left out where the change is `...`."""
    fields: dict[str, object] = {
        "chunk_id": "0123456789abcdef",
        "file_path": "a.py",
        "start_line": 1,
        "end_line": 2,
        "chunk_type": "function",
        "kind": "function_definition",
        "language": "python",
        "content": "def a():\n    pass",
        "token_count": 4,
        "embedding": [0.0] * 255 + [1.0],
        **changes,
    }
    return {key: value for key, value in fields.items() if value is not ...}


def store(*chunks: object, **changes: object) -> dict[str, Any]:
    """A whole store, with keys changed or left out likewise."""
    fields: dict[str, object] = {
        "spec_version": "1.0",
        "embedder": "hash",
        "chunks": list(chunks),
        "file_imports": {"a.py": ["os"]},
        "file_tokens": {"a.py": 4},
        **changes,
    }
    return {key: value for key, value in fields.items() if value is not ...}


def load(path: str, content: bytes | str | Mapping[str, object]) -> Store:
    if isinstance(content, Mapping):
        content = json.dumps(content)
    Path(path).write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_store(path)


def refusal(path: str, content: bytes | str | Mapping[str, object]) -> str:
    """The reason for which a store is refused, without the path; the file must be left as it was."""
    with pytest.raises(StoreError) as raised:
        load(path, content)
    before = json.dumps(content) if isinstance(content, Mapping) else content
    assert Path(path).read_bytes() == (before if isinstance(before, bytes) else before.encode())
    return reason_of(raised.value, path)


def reason_of(error: CceError, path: str) -> str:
    message = str(error)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert message.count("; ") == 1  # the reason; the way out
    return message.removeprefix(f"{path}: ").partition("; ")[0]


# Writing


def test_a_store_is_one_compact_object_with_keys_in_the_order_of_the_format(path: str) -> None:
    text = b"x = 1\n"
    write_store(path, build_index([chunk_file("os.py", text)], HashEmbedder()), {"os.py": DIGEST})
    numbers = ["0.0"] * 256
    # "x" hashes to a bucket of its own, and so does "1": both at 1 / sqrt(2).
    vector = HashEmbedder().embed([text])[0].tolist()
    assert sorted(map(abs, vector))[-3:] == [0.0, 0.7071067811865475, 0.7071067811865475]
    numbers = [repr(number) for number in vector]
    assert Path(path).read_text(encoding="utf-8") == (
        '{"spec_version":"1.0","embedder":"hash","chunks":[{"chunk_id":"'
        + chunk_id("os.py", 1, 2, text)
        + '","file_path":"os.py","start_line":1,"end_line":2,"chunk_type":"module","kind":"module",'
        '"language":"python","content":"x = 1\\n","token_count":1,"embedding":['
        + ",".join(numbers)
        + ']}],"file_imports":{},"file_tokens":{"os.py":1},"file_digests":{"os.py":"'
        + DIGEST
        + '"}}'
    )


def test_text_outside_ascii_is_written_as_it_is(path: str) -> None:
    write_store(path, small_index(), {})
    assert "naïve café ✓ 😀".encode() in Path(path).read_bytes()


def test_an_empty_index_makes_a_store_that_loads(path: str) -> None:
    write_store(path, build_index([], HashEmbedder()), {})
    assert Path(path).read_text(encoding="utf-8") == (
        '{"spec_version":"1.0","embedder":"hash","chunks":[],"file_imports":{},"file_tokens":{},"file_digests":{}}'
    )
    assert tuple(read_store(path).index.chunks) == ()


def test_a_store_gives_back_what_was_written(path: str) -> None:
    written = small_index()
    n_bytes = write_store(path, written, {"app.py": DIGEST})
    read = read_store(path)
    assert tuple(read.index.chunks) == tuple(written.chunks)
    assert list(read.index.file_imports.items()) == [("app.py", ("os",))]
    assert list(read.index.file_tokens.items()) == [("app.py", 19), ("naïve.md", 6), ("os.py", 1)]
    assert np.array_equal(read.index.embeddings, written.embeddings)
    assert isinstance(read.index.embedder, HashEmbedder)
    assert (read.embedder, read.embedder_model, read.embedding_dim) == ("hash", None, None)
    assert read.format_version == "1.0"
    assert read.file_digests == {"app.py": DIGEST}
    assert read.redaction is Redaction.STANDARD
    assert read.n_bytes == n_bytes == os.path.getsize(path)


def test_a_store_of_text_that_was_not_scrubbed_says_so(path: str) -> None:
    write_store(path, small_index(), {}, redaction=Redaction.OFF)
    assert Path(path).read_text(encoding="utf-8").endswith(',"file_digests":{},"secrets_allowed":true}')
    assert read_store(path).redaction is Redaction.OFF


def test_a_store_written_again_has_the_same_bytes(path: str) -> None:
    write_store(path, small_index(), {"app.py": DIGEST})
    first = Path(path).read_bytes()
    read = read_store(path)
    assert read.file_digests is not None
    write_store(path, read.index, read.file_digests)
    assert Path(path).read_bytes() == first


def test_a_model_store_records_model_and_dimension_behind_the_embedder(path: str) -> None:
    write_store(path, small_index(AxisEmbedder(model="m1")), {})
    assert (
        Path(path)
        .read_text()
        .startswith(
            '{"spec_version":"1.0","embedder":"axis","embedder_model":"m1","embedding_dim":2,"chunks":[{'
        )
    )
    read = read_store(path)
    assert (read.embedder, read.embedder_model, read.embedding_dim) == ("axis", "m1", 2)
    assert read.index.embedder.name == "axis"
    assert read.index.embedder.dimension == 2
    assert np.array_equal(read.index.embeddings, [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])


@pytest.mark.parametrize("vectors", [np.full((4, 2), np.nan), np.ones((4, 3)), np.ones((3, 2))])
def test_an_embedder_that_gives_nonsense_makes_no_store(path: str, vectors: FloatMatrix) -> None:
    class Broken(AxisEmbedder):
        def embed(self, texts: Sequence[bytes]) -> FloatMatrix:
            return vectors

    with pytest.raises(EmbedderError, match="no store was written"):
        write_store(path, small_index(Broken()), {})
    assert not os.path.exists(path)


def test_a_path_that_no_reader_would_accept_is_refused_while_the_old_store_stays(path: str) -> None:
    write_store(path, small_index(), {})
    before = Path(path).read_bytes()
    chunk = Chunk("id", "../a.py", 1, 1, "module", "module", "python", b"", 1)
    with pytest.raises(StoreError) as raised:
        write_store(path, Index([chunk], {}, {}, HashEmbedder()), {})
    assert reason_of(raised.value, path) == "not written: the file path '../a.py' leads out of the corpus"
    assert Path(path).read_bytes() == before


def test_a_store_in_a_folder_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    path = str(tmp_path / "missing" / "index.json")
    with pytest.raises(StoreError) as raised:
        write_store(path, small_index(), {})
    assert reason_of(raised.value, path) == "cannot be written: No such file or directory"


FILLING = """
import resource, sys
sys.path[:0] = sys.argv[2:]
from test_store import build_index, chunk_file, write_store, HashEmbedder
from cce.errors import StoreError
index = build_index([chunk_file("a.txt", b"word " * 20_000)], HashEmbedder())
resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))
try:
    write_store(sys.argv[1], index, {})
except StoreError as exc:
    sys.stdout.write(str(exc))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit on file sizes")
@pytest.mark.process
def test_a_full_disk_leaves_the_old_store_and_nothing_else(path: str) -> None:
    write_store(path, small_index(), {})
    before = Path(path).read_bytes()
    here = str(Path(__file__).parent)
    filling = subprocess.run(
        [sys.executable, "-c", FILLING, path, here], capture_output=True, text=True, check=True, timeout=60
    )
    assert filling.stdout.startswith(f"{path}: cannot be written: File too large; ")
    assert Path(path).read_bytes() == before
    assert os.listdir(os.path.dirname(path)) == ["index.json"]


WRITING = """
import os, sys
sys.path[:0] = sys.argv[4:]
from test_store import twenty_files, write_store
target, stop, letter = sys.argv[1:4]
index = twenty_files(letter.encode())
while not os.path.exists(stop):
    write_store(target, index, {})
"""


def twenty_files(letter: bytes) -> Index:
    return build_index([chunk_file(f"{n}.txt", letter * 3_000) for n in range(20)], HashEmbedder())


@pytest.mark.skipif(os.name == "nt", reason="Windows does not replace a file that is being read")
@pytest.mark.process
def test_a_reader_between_two_writers_always_sees_a_whole_store(path: str, tmp_path: Path) -> None:
    stop = tmp_path / "stop"
    whole = {letter: tuple(twenty_files(letter).chunks) for letter in (b"a", b"b", b"c")}
    write_store(path, twenty_files(b"c"), {})
    command = [sys.executable, "-c", WRITING, path, str(stop)]
    writers = [subprocess.Popen([*command, letter, str(Path(__file__).parent)]) for letter in "ab"]
    n_reads = dict.fromkeys(whole, 0)
    try:
        while min(n_reads[b"a"], n_reads[b"b"]) < 100:
            assert [writer.poll() for writer in writers] == [None, None]
            chunks = tuple(read_store(path).index.chunks)
            letter = chunks[0].content[:1]
            assert chunks == whole[letter]
            n_reads[letter] += 1
    finally:
        stop.touch()
        codes = [writer.wait(60) for writer in writers]
    assert codes == [0, 0]
    assert sorted(os.listdir(tmp_path)) == ["index.json", "stop"]


# Reading what other producers write


def test_a_store_without_what_may_be_missing_loads(path: str) -> None:
    bare = record(kind=..., embedding=...)
    read = load(path, store(bare, embedder=..., file_tokens=...))
    assert read.embedder == "hash"
    assert read.file_digests is None
    assert dict(read.index.file_tokens) == {}
    assert tuple(read.index.chunks) == (
        Chunk("0123456789abcdef", "a.py", 1, 2, "function", "function", "python", b"def a():\n    pass", 4),
    )
    assert [hit.score for hit in VectorBackend(read.index).rank(Query("def a pass"), 1)] == pytest.approx(
        [1.0]
    )


def test_a_module_chunk_without_kind_is_of_kind_module(path: str) -> None:
    (chunk,) = load(path, store(record(kind=..., chunk_type="module"))).index.chunks
    assert chunk.kind == "module"


@pytest.mark.parametrize("layout", [{"indent": 2}, {"sort_keys": True}, {"ensure_ascii": False}, {}])
def test_layout_order_and_unknown_keys_do_not_matter(path: str, layout: Any) -> None:
    chunk = record(content="é 😀", note={"deep": [1, "x", None]})
    fields = dict(reversed(store(chunk, producer="another", extra=[{}]).items()))
    read = load(path, json.dumps(fields, **layout))
    assert read.index.chunks[0].content == "é 😀".encode()


def test_index_order_is_the_order_in_the_store(path: str) -> None:
    read = load(path, store(record(file_path="b.py"), record(file_path="a.py"), record(file_path="b.py")))
    assert [chunk.file_path for chunk in read.index.chunks] == ["b.py", "a.py", "b.py"]


def test_two_chunks_may_share_an_id(path: str) -> None:
    assert len(load(path, store(record(), record())).index.chunks) == 2


def test_a_store_can_be_read_but_not_changed(path: str) -> None:
    read = load(path, store(record(), file_digests={"a.py": DIGEST}))
    assert isinstance(read.index.file_imports, MappingProxyType)
    assert isinstance(read.index.file_tokens, MappingProxyType)
    assert isinstance(read.file_digests, MappingProxyType)


def test_vectors_of_a_hash_store_are_those_of_its_content(path: str) -> None:
    foreign = load(path, store(record(embedding=[1.0] + [0.0] * 255)))
    assert np.array_equal(foreign.index.embeddings, HashEmbedder().embed([b"def a():\n    pass"]))


# Malformed stores


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "cut short or damaged"),
        ("[]", "not an index store: Expected `object`, got `array`"),
        ("null", "not an index store: Expected `object`, got `null`"),
        ("{}", "not an index store: Object missing required field `spec_version`"),
        ('{"chunks":{}}', "not an index store: Expected `array`, got `object` - at `$.chunks`"),
        ('{"spec_version":"1.0","chunks":[]}', "not an index store: Object missing required field `file_i"),
        (json.dumps(store()) + "x", "cut short or damaged"),
        (json.dumps(store()).encode("utf-16"), "cut short or damaged"),
        (b"\xff\xfe", "cut short or damaged"),
        ("PK\x03\x04", "cut short or damaged"),
        ("[" * 1_000_000, "not an index store: Expected `object`, got `array`"),
        ('{"x":' + "[" * 1_000_000, "not an index store: nested too deep"),
        ('{"chunks":[{"embedding":' + '{"a":' * 1_000_000, "not an index store: nested too deep"),
    ],
)  # fmt: skip
def test_what_is_no_store_is_refused(path: str, content: bytes | str, reason: str) -> None:
    assert refusal(path, content).startswith(reason)


@pytest.mark.parametrize("version", ["2.0", "1", "", "1.0\n", "x" * 10_000])
def test_another_version_of_the_format_is_named(path: str, version: str) -> None:
    reason = refusal(path, store(spec_version=version))
    assert reason.startswith("spec_version is '")
    assert reason.endswith("', this cce reads '1.0'")
    assert len(reason) < 120


def test_another_version_is_named_even_if_its_layout_is_another_one(path: str) -> None:
    assert (
        refusal(path, {"spec_version": "2.0", "chunks": {}}) == "spec_version is '2.0', this cce reads '1.0'"
    )


@pytest.mark.parametrize("n_kept", [0.0, 0.25, 0.5, 0.9])
def test_a_store_cut_anywhere_is_refused(path: str, n_kept: float) -> None:
    whole = json.dumps(store(record(), record()))
    assert refusal(path, whole[: int(len(whole) * n_kept)]).startswith("cut short or damaged")


@pytest.mark.parametrize("field", sorted(record().keys() - {"kind", "embedding"}))
def test_a_chunk_must_have_all_its_fields(path: str, field: str) -> None:
    assert refusal(path, store(record(), record(**{field: ...}))) == (
        f"not an index store: Object missing required field `{field}` - at `$.chunks[1]`"
    )


@pytest.mark.parametrize("field", sorted(record()))
@pytest.mark.parametrize("value", [None, True, {"a": 1}, [[1]], ["x"]])
def test_a_field_of_a_wrong_type_is_refused_with_its_place(path: str, field: str, value: object) -> None:
    reason = refusal(path, store(record(), record(**{field: value})))
    assert "chunks[1]" in reason
    assert field in reason


@pytest.mark.parametrize(
    "key", [*sorted(store()), "embedder_model", "embedding_dim", "file_digests", "secrets_allowed"]
)
@pytest.mark.parametrize("value", [None, 1.5, [1], {"a": None}])
def test_a_key_of_a_wrong_type_is_refused_by_name(path: str, key: str, value: object) -> None:
    assert f"$.{key}" in refusal(path, store(record(), **{key: value}))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"chunk_id": ""}, "Expected `str` of length >= 1 - at `$.chunks[0].chunk_id`"),
        ({"start_line": 0}, "Expected `int` >= 1 - at `$.chunks[0].start_line`"),
        ({"start_line": -3}, "Expected `int` >= 1 - at `$.chunks[0].start_line`"),
        ({"start_line": 1.5}, "Expected `int`, got `float` - at `$.chunks[0].start_line`"),
        ({"end_line": 10**30}, "- at `$.chunks[0].end_line`"),
        ({"start_line": 3}, "chunks[0] ends at line 2, before its start at 3"),
        ({"token_count": -1}, "Expected `int` >= 0 - at `$.chunks[0].token_count`"),
        ({"content": 7}, "chunks[0].content: Expected `str`, got `int`"),
        ({"embedding": [0.5] * 255}, "chunks[0].embedding has 255 numbers, expected 256"),
        ({"embedding": [0.5] * 257}, "chunks[0].embedding has 257 numbers, expected 256"),
        ({"embedding": []}, "chunks[0].embedding has 0 numbers, expected 256"),
        ({"embedding": "x"}, "chunks[0].embedding: Expected `array`, got `str`"),
        (
            {"embedding": [0.5] * 255 + ["x"]},
            "chunks[0].embedding: Expected `float`, got `str` - at `$[255]`",
        ),
    ],
)
def test_a_chunk_with_a_senseless_value_is_refused(path: str, changes: Any, reason: str) -> None:
    assert refusal(path, store(record(**changes))).endswith(reason)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400])
def test_numbers_that_are_not_finite_are_refused(path: str, number: str) -> None:
    text = json.dumps(store(record(embedding=[0.5] * 256))).replace("0.5", number, 1)
    assert refusal(path, text)


@pytest.mark.parametrize(
    ("file_path", "fault"),
    [
        ("", "is empty"),
        ("/etc/passwd", "is absolute"),
        ("C:/a.py", "is absolute"),
        ("c:\\a.py", "is absolute"),
        ("..", "leads out of the corpus"),
        ("../a.py", "leads out of the corpus"),
        ("a/../../b.py", "leads out of the corpus"),
        ("a/..", "leads out of the corpus"),
        ("a\0.py", "holds a NUL character"),
    ],
)
def test_a_path_that_is_not_below_the_corpus_is_refused_wherever_it_stands(
    path: str, file_path: str, fault: str
) -> None:
    for refused in (
        store(record(file_path=file_path)),
        store(record(), file_imports={file_path: ["x"]}),
        store(record(), file_tokens={file_path: 1}),
        store(record(), file_digests={file_path: DIGEST}),
    ):
        assert refusal(path, refused).endswith(f"' {fault}")


@pytest.mark.parametrize(
    "file_path", ["a\\b.py", "..a/b..", "a//b.py", "./a.py", "\\", "a\nb.py", "\x1b[31m"]
)
def test_an_odd_path_below_the_corpus_is_kept_as_it_is(path: str, file_path: str) -> None:
    assert load(path, store(record(file_path=file_path))).index.chunks[0].file_path == file_path


@pytest.mark.parametrize("text", ['"\\ud800"', '"\\udc00\\ud800"', b'"\xff"', b'"\xed\xa0\x80"'])
@pytest.mark.parametrize("field", ["chunk_id", "file_path", "content", "kind"])
def test_text_that_is_not_unicode_is_refused(path: str, field: str, text: bytes | str) -> None:
    spoiled = text if isinstance(text, bytes) else text.encode()
    whole = json.dumps(store(record(**{field: "SPOILED"}))).encode()
    assert refusal(path, whole.replace(b'"SPOILED"', spoiled))


@pytest.mark.parametrize("digest", ["", "0" * 63, "G" * 64, "0" * 64 + "\n"])
def test_a_digest_that_is_none_is_refused(path: str, digest: str) -> None:
    assert "file_digests" in refusal(path, store(record(), file_digests={"a.py": digest}))


def test_a_hash_store_of_another_width_is_refused(path: str) -> None:
    assert refusal(path, store(embedding_dim=255)) == "embedding_dim is 255, expected 256"


def test_a_missing_store_is_refused_with_the_way_to_make_one(path: str) -> None:
    with pytest.raises(StoreError, match="make one with: cce index") as raised:
        read_store(path)
    assert reason_of(raised.value, path) == "cannot be read: No such file or directory"


def test_a_path_with_a_nul_is_refused_like_any_other_that_cannot_be_read() -> None:
    with pytest.raises(StoreError, match=r"^a\\x00b: cannot be read: .*null (byte|character)"):
        read_store("a\0b")


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="it is a directory"):
        read_store(str(tmp_path))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_pipe_is_refused_without_waiting_and_a_device_without_reading(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path / "pipe"), "/dev/zero"):
        with pytest.raises(StoreError, match="not a regular file"):
            read_store(path)


@pytest.mark.skipif(os.name == "nt", reason="Windows allows no such name")
def test_a_path_with_a_line_end_still_gives_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a\nb"
    path.write_bytes(b"[]")
    with pytest.raises(StoreError) as raised:
        read_store(str(path))
    assert "\n" not in str(raised.value)
    assert "a\\nb: not an index store" in str(raised.value)


# Stores of a model


def model_store(*vectors: object, **changes: object) -> dict[str, Any]:
    chunks = [record(embedding=vector, content="s" if n else "x") for n, vector in enumerate(vectors)]
    return store(*chunks, **{"embedder": "axis", "embedder_model": "default", **changes})


def test_vectors_of_a_model_store_are_the_ones_in_the_file(path: str) -> None:
    read = load(path, model_store([0.6, 0.8], [0, -1.0], embedding_dim=2))
    assert np.array_equal(read.index.embeddings, [[0.6, 0.8], [0.0, -1.0]])


def test_vectors_that_are_almost_of_norm_one_keep_their_bits(path: str) -> None:
    read = load(path, model_store([0.6000001, 0.8]))
    assert read.index.embeddings.tolist() == [[0.6000001, 0.8]]


@pytest.mark.parametrize(
    ("vector", "expected"),
    [
        ([3.0, 4.0], [0.6, 0.8]),
        ([0.0, 0.0], [0.0, 0.0]),
        ([1e308, -1e308], [0.5**0.5, -(0.5**0.5)]),
        ([5e-324, 0.0], [1.0, 0.0]),
    ],
)
def test_other_vectors_are_normalised(path: str, vector: list[float], expected: list[float]) -> None:
    (row,) = load(path, model_store(vector)).index.embeddings.tolist()
    assert row == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        (model_store([1.0, 0.0], [1.0]), "chunks[1].embedding has 1 numbers, expected 2"),
        (model_store([1.0, 0.0], embedding_dim=3), "chunks[0].embedding has 2 numbers, expected 3"),
        (model_store([1.0, 0.0], ...), "1 of 2 chunks have no embedding"),
        (model_store([1.0, None]), "chunks[0].embedding: Expected `float`, got `null` - at `$[1]`"),
        (model_store([]), "chunks[0].embedding has 0 numbers, expected 1"),
        (model_store([[1.0]]), "chunks[0].embedding: Expected `float`, got `array` - at `$[0]`"),
        (model_store([1.0], embedding_dim=0), "Expected `int` >= 1 - at `$.embedding_dim`"),
        (model_store([1.0] * 2, [1.0], embedding_dim=2**31), "embedding has 2 numbers, expected 2147483648"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(path: str, refused: Mapping[str, object], reason: str) -> None:
    assert refusal(path, refused).endswith(reason)


def test_bm25_needs_no_model(path: str) -> None:
    read = load(path, model_store([0.0, 1.0], [1.0, 0.0]))
    assert [hit.indexed.content for hit in Bm25Backend(read.index).rank(Query("s"), 5)] == [b"s"]


def test_the_model_on_record_embeds_the_query(path: str, register: Callable[[str, object], None]) -> None:
    asked: list[str | None] = []

    def factory(*, model: str | None = None) -> Embedder:
        asked.append(model)
        return AxisEmbedder(model=model)

    register("axis", factory)
    read = load(path, model_store([0.0, 1.0], [1.0, 0.0], embedder_model="m1"))
    assert asked == []
    assert [hit.score for hit in VectorBackend(read.index).rank(Query("s"), 5)] == [1.0, 0.0]
    assert VectorBackend(read.index).rank(Query("x"), 1)[0].indexed.content == b"x"
    assert asked == ["m1"]


def test_a_model_store_without_vectors_is_embedded_when_asked(
    path: str, register: Callable[[str, object], None]
) -> None:
    register("axis", AxisEmbedder)
    read = load(path, model_store(..., ...))
    assert read.index.embedder.dimension == 2
    assert np.array_equal(read.index.embeddings, [[0.0, 1.0], [1.0, 0.0]])


def test_an_embedder_without_models_needs_none_on_record(
    path: str, register: Callable[[str, object], None]
) -> None:
    class Plain(AxisEmbedder):
        def __init__(self, *, model: str | None = None) -> None:
            self.__dict__["model"] = None

    register("axis", Plain)
    read = load(path, model_store([0.0, 1.0], embedder_model=...))
    assert VectorBackend(read.index).rank(Query("x"), 1)[0].score == 1.0


@pytest.mark.parametrize("backend", [VectorBackend, HybridBackend])
@pytest.mark.parametrize(
    ("embedder", "changes", "reason"),
    [
        (None, {"embedder": "unheard"}, "the store needs an unknown embedder 'unheard'"),
        (lambda *, model=None: AxisEmbedder(model="m2"), {}, "with model 'default', here it has model 'm2'"),
        (AxisEmbedder, {"embedder_model": ...}, "with a model it does not name, here it has model 'default'"),
        (AxisEmbedder, {"chunks": [record(embedding=[1.0])]}, "in 1 dimensions, here it has 2"),
    ],
)  # fmt: skip
def test_a_query_is_never_embedded_into_another_space(
    path: str,
    register: Callable[[str, object], None],
    backend: Any,
    embedder: object,
    changes: Any,
    reason: str,
) -> None:
    if embedder is not None:
        register("axis", embedder)
    read = load(path, model_store([0.0, 1.0], **changes))
    with pytest.raises(EmbedderError) as raised:
        backend(read.index).rank(Query("x"), 5)
    assert reason in str(raised.value)
    assert "rank with --backend bm25" in str(raised.value)
    assert "\n" not in str(raised.value)


# The store and the searches of another implementation


def search_lines(oracle: Oracle) -> list[dict[str, Any]]:
    return [json.loads(line) for line in oracle.read("reports/express.search.jsonl").splitlines()]


def found(index: Index, line: Mapping[str, Any]) -> list[dict[str, object]]:
    hits = HybridBackend(index).search(Query(line["query"]), line["top_k"], use_graph=line["graph"])
    return [
        {
            "chunk_id": hit.indexed.chunk_id,
            "chunk_type": hit.indexed.chunk_type,
            "end_line": hit.chunk.end_line,
            "file_path": hit.chunk.file_path,
            "kind": hit.chunk.kind,
            "rank": rank,
            "score": format_score(hit.measured),
            "start_line": hit.chunk.start_line,
        }
        for rank, hit in enumerate(hits, 1)
    ]


@pytest.fixture(scope="session")
def own_store(oracle: Oracle, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("store") / "index.json")
    corpus = str(oracle.unpack("express") / "express")
    write_store(path, index_directory(corpus, lambda *_: None).index, {})
    return path


def test_their_store_finds_what_they_find(oracle: Oracle) -> None:
    lines = search_lines(oracle)
    index = read_store(str(oracle.folder / "reports" / "express.index.json")).index
    assert len(lines) > 20
    for line in lines:
        assert found(index, line) == line["output"]["results"], line["query"]


def test_our_store_finds_what_they_find(oracle: Oracle, own_store: str) -> None:
    index = read_store(own_store).index
    for line in search_lines(oracle):
        assert found(index, line) == line["output"]["results"], line["query"]


def test_our_store_is_theirs_to_the_bit_but_for_the_digests(oracle: Oracle, own_store: str) -> None:
    theirs = json.loads(oracle.read("reports/express.index.json"), object_pairs_hook=list)
    ours = json.loads(Path(own_store).read_bytes(), object_pairs_hook=list)
    assert ours.pop() == ("file_digests", [])
    assert ours == theirs
