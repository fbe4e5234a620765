"""Whatever stands in a file: it is a store that can be searched, or one StoreError of a single line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cce.domain.query import Query
from cce.errors import StoreError
from cce.retrieval.backends.bm25 import Bm25Backend
from cce.retrieval.store.reading import Store, read_store

Tree = Any
Place = tuple[str | int, ...]

EXAMPLES = settings(deadline=None, max_examples=300)


def chunk(path: str, line: int, embedding: list[float]) -> dict[str, object]:
    return {
        "chunk_id": f"{line:016x}",
        "file_path": path,
        "start_line": line,
        "end_line": line + 1,
        "chunk_type": "function",
        "kind": "function_definition",
        "language": "python",
        "content": "def café():\n    pass",
        "token_count": 5,
        "embedding": embedding,
    }


def store(embedder: str, vectors: list[list[float]]) -> Tree:
    return {
        "spec_version": "1.0",
        "embedder": embedder,
        "embedder_model": "m",
        "embedding_dim": len(vectors[0]),
        "chunks": [chunk("a.py", n + 1, vector) for n, vector in enumerate(vectors)],
        "file_imports": {"a.py": ["os"]},
        "file_tokens": {"a.py": 10},
        "file_digests": {"a.py": "0" * 64},
        "secrets_allowed": False,
    }


STORES = {
    "hash": store("hash", [[0.0] * 255 + [1.0]] * 2),
    "model": store("axis", [[1.0, 0.0], [0.0, -1.0]]),
}
TEXTS = {name: json.dumps(tree, ensure_ascii=False).encode() for name, tree in STORES.items()}
names = st.sampled_from(sorted(STORES))

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["..", "/", "hash", "2.0", 2**63, -(2**64), 10**400, 1e308, 5e-324])
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda deeper: st.lists(deeper, max_size=3) | st.dictionaries(st.text(max_size=3), deeper, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("fuzz") / "index.json")


def load(path: str, content: bytes) -> Store | None:
    """The store, searched once; None if it was refused as it should be. The file must stay as it is."""
    Path(path).write_bytes(content)
    try:
        read = read_store(path)
    except StoreError as error:
        message = str(error)
        assert message.startswith(f"{path}: ")
        assert message.isprintable()
        read = None
    assert Path(path).read_bytes() == content
    if read is not None:
        Bm25Backend(read.index).rank(Query("café def pass"), 3)
    if read is not None and read.index.chunks:
        assert len(read.index.embeddings) == len(read.index.chunks)
    return read


def places_in(tree: Tree) -> Iterator[Place]:
    """Where every node but the root stands, without the numbers of a vector from the third on."""
    pending: list[tuple[Place, Tree]] = [((), tree)]
    while pending:
        place, node = pending.pop()
        if place:
            yield place
        children = (
            node.items() if isinstance(node, dict) else enumerate(node[:2] if isinstance(node, list) else ())
        )
        pending.extend(((*place, key), child) for key, child in children)


def parent_of(tree: Tree, place: Place) -> Tree:
    for key in place[:-1]:
        tree = tree[key]
    return tree


@pytest.mark.parametrize("name", sorted(STORES))
def test_the_stores_that_are_spoiled_here_are_whole(path: str, name: str) -> None:
    assert load(path, TEXTS[name]) is not None


@EXAMPLES
@given(name=names, share=st.floats(0, 1, exclude_max=True))
def test_a_store_cut_anywhere_is_refused(path: str, name: str, share: float) -> None:
    text = TEXTS[name]
    assert load(path, text[: int(len(text) * share)]) is None


@EXAMPLES
@given(name=names, share=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_a_flipped_byte_is_refused_or_harmless(path: str, name: str, share: float, byte: int) -> None:
    text = bytearray(TEXTS[name])
    text[int(len(text) * share)] = byte
    load(path, bytes(text))


@EXAMPLES
@given(name=names, start=st.floats(0, 1), length=st.integers(0, 200), inserted=st.binary(max_size=20))
def test_a_replaced_stretch_is_refused_or_harmless(
    path: str, name: str, start: float, length: int, inserted: bytes
) -> None:
    text = TEXTS[name]
    position = int(len(text) * start)
    load(path, text[:position] + inserted + text[position + length :])


@EXAMPLES
@given(content=st.binary(max_size=200))
@example(content=b"")
def test_any_bytes_are_refused(path: str, content: bytes) -> None:
    assert load(path, content) is None


@EXAMPLES
@given(tree=values)
def test_any_json_that_is_no_store_is_refused(path: str, tree: Tree) -> None:
    assert load(path, json.dumps(tree).encode()) is None


@EXAMPLES
@given(name=names, choice=st.integers(0), value=values)
def test_a_replaced_node_is_refused_or_harmless(path: str, name: str, choice: int, value: Tree) -> None:
    tree = json.loads(TEXTS[name])
    places = sorted(places_in(tree), key=str)
    place = places[choice % len(places)]
    parent = parent_of(tree, place)
    is_same_type = type(parent[place[-1]]) is type(value)
    parent[place[-1]] = value
    read = load(path, json.dumps(tree).encode())
    # Whole numbers are numbers, too: in a vector they may stand for others.
    assert read is None or is_same_type or "embedding" in place


@pytest.mark.parametrize("name", sorted(STORES))
def test_every_node_in_turn_may_be_missing_or_twice_or_null(path: str, name: str) -> None:
    may_be_missing = {
        "embedder",
        "embedder_model",
        "embedding_dim",
        "file_tokens",
        "file_digests",
        "kind",
        "secrets_allowed",
    }
    n_refused = 0
    for place in places_in(STORES[name]):
        tree = json.loads(TEXTS[name])
        parent = parent_of(tree, place)
        parent[place[-1]] = None
        assert load(path, json.dumps(tree).encode()) is None, place
        del parent[place[-1]]
        if load(path, json.dumps(tree).encode()) is None:
            n_refused += 1
            assert place[-1] not in may_be_missing or (name, place[-1]) == ("model", "embedder")
    assert n_refused > 15
