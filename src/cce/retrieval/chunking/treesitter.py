"""Chunking with tree-sitter: scrubbed bytes of one file become chunks and import names.

Every named node of a kind the pack lists is a chunk, nested ones too, in tree order. A file without
one, or in no known language, is a single `module` chunk. Broken syntax never raises.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from cce.retrieval.chunking.grammars import CHUNK_PATTERN, Grammar, load_grammar
from cce.retrieval.chunking.imports import import_names
from cce.retrieval.chunking.languages import PLAIN_TEXT, language_pack

if TYPE_CHECKING:
    from tree_sitter import Node, Query, Tree

ID_BYTES = 100
"""How much of a chunk's content its id depends on."""

_MAX_QUERY_DEPTH = 2**16 - 1  # tree-sitter 0.25 counts depth in 16 bits and loses what is deeper


class ChunkSpan(NamedTuple):
    """Where a chunk stands: bytes from `start` to `end` (exclusive), lines 1-based and inclusive."""

    start: int
    end: int
    start_line: int
    end_line: int
    chunk_type: str
    kind: str


class ChunkedFile(NamedTuple):
    """One file's scrubbed text, its chunks in tree order, and the module names it imports."""

    path: str
    text: bytes
    language: str
    spans: tuple[ChunkSpan, ...]
    imports: tuple[str, ...]


def chunk_file(path: str, text: bytes) -> ChunkedFile:
    """Cut one file into chunks; `text` is UTF-8. Raises GrammarError, and TooSlowError within a limit."""
    pack = language_pack(path)
    if pack is None:
        return ChunkedFile(path, text, PLAIN_TEXT, (_module_span(text),), ())
    grammar = load_grammar(pack)
    chunk_nodes, import_nodes = _collect_nodes(grammar, text)
    spans = tuple(_node_span(grammar, node) for node in chunk_nodes) or (_module_span(text),)
    return ChunkedFile(path, text, pack.name, spans, import_names(pack.import_rule, import_nodes))


def chunk_id(path: str, start_line: int, end_line: int, content: bytes) -> str:
    """16 hex digits over where a chunk stands and how it begins: the first `ID_BYTES` of its content."""
    digest = hashlib.sha256(f"{path}:{start_line}:{end_line}:".encode())
    digest.update(content[:ID_BYTES])
    return digest.hexdigest()[:16]


def _collect_nodes(grammar: Grammar, text: bytes) -> tuple[list[Node], list[Node]]:
    """Chunk nodes and import nodes of the tree of `text`, each in pre-order."""
    tree = grammar.parse(text)
    if grammar.holders and not tree.root_node.has_error:
        return _descend(grammar, tree.root_node)
    query = grammar.query(len(text))
    if query is None or tree.root_node.descendant_count > _MAX_QUERY_DEPTH:
        return _walk_nodes(grammar, tree)
    return _query_nodes(query, tree)


def _descend(grammar: Grammar, root: Node) -> tuple[list[Node], list[Node]]:
    """As `_query_nodes`, for a tree without errors in a language with holders: few nodes are looked at."""
    chunk_nodes: list[Node] = []
    import_nodes: list[Node] = []
    chunk_types, import_types, holders = grammar.chunk_types, grammar.import_types, grammar.holders
    waiting = [root]
    while waiting:
        node = waiting.pop()
        kind = node.type
        if kind in chunk_types:
            chunk_nodes.append(node)
        elif kind in import_types:
            import_nodes.append(node)
        if kind in holders:
            waiting.extend(reversed(node.named_children))
    return chunk_nodes, import_nodes


def _query_nodes(query: Query, tree: Tree) -> tuple[list[Node], list[Node]]:
    from tree_sitter import QueryCursor

    chunk_nodes: list[Node] = []
    import_nodes: list[Node] = []
    # `matches` keeps the order of the document; `captures` does not, and differs between processes.
    for pattern, captures in QueryCursor(query).matches(tree.root_node):
        (chunk_nodes if pattern == CHUNK_PATTERN else import_nodes).extend(captures["node"])
    return chunk_nodes, import_nodes


def _walk_nodes(grammar: Grammar, tree: Tree) -> tuple[list[Node], list[Node]]:
    """As `_query_nodes`, for few trees, and for those that may be deeper than a query can count."""
    chunk_nodes: list[Node] = []
    import_nodes: list[Node] = []
    cursor = tree.walk()
    while True:
        node = cursor.node
        if node is not None and node.is_named:
            if node.type in grammar.chunk_types:
                chunk_nodes.append(node)
            elif node.type in grammar.import_types:
                import_nodes.append(node)
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return chunk_nodes, import_nodes


def _node_span(grammar: Grammar, node: Node) -> ChunkSpan:
    kind = node.type
    return ChunkSpan(
        node.start_byte,
        node.end_byte,
        node.start_point[0] + 1,
        node.end_point[0] + 1,
        grammar.chunk_types[kind],
        kind,
    )


def _module_span(text: bytes) -> ChunkSpan:
    return ChunkSpan(0, len(text), 1, text.count(b"\n") + 1, "module", "module")
