"""Qualified names of chunks: the segments of a chunk's node and its ancestors, outermost first.

The text of one file enters, its chunks with their names leave. Names are asked for by those few who need
them: indexing never is. What a node is called is said per language in `names`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cce.domain.symbol import split_name
from cce.retrieval.chunking.grammars import load_grammar
from cce.retrieval.chunking.languages import language_pack
from cce.retrieval.chunking.names import NO_STEP, PYTHON, RUBY, RUST, C, Rule, Visit
from cce.retrieval.chunking.script_names import SCRIPT

if TYPE_CHECKING:
    from tree_sitter import Node

_RULES: Mapping[str, Mapping[str, Rule]] = {
    "python": PYTHON,
    "javascript": SCRIPT,
    "typescript": SCRIPT,
    "ruby": RUBY,
    "rust": RUST,
    "c": C,
}


class NameScope:
    """One segment within an outer scope; equal qualified names of a file are the same object."""

    __slots__ = ("inner", "outer", "segment")

    def __init__(self, segment: str, outer: NameScope | None) -> None:
        """`outer` is None only for the file itself, which has no segment of its own."""
        self.segment = segment
        self.outer = outer
        self.inner: dict[str, NameScope] = {}

    def within(self, segments: tuple[str, ...]) -> NameScope:
        """The scope that these segments lead to."""
        scope = self
        for segment in segments:
            if segment not in scope.inner:
                scope.inner[segment] = NameScope(segment, scope)
            scope = scope.inner[segment]
        return scope

    @property
    def segments(self) -> tuple[str, ...]:
        """All segments, outermost first. Costs the depth: ask for the chunks that you need."""
        found: list[str] = []
        scope = self
        while scope.outer is not None:
            found.append(scope.segment)
            scope = scope.outer
        return tuple(reversed(found))


class NamedChunk:
    """A chunk of a file: bytes from `start` to `end` (exclusive), lines 1-based and inclusive.

    scope       its qualified name; None if it has none
    same        chunks of this kind and name in the file, itself included; 0 without a name
    head_line   where the decorators, attributes and comments directly above it begin, else `start_line`
    parameters  its parameter list without white space; None if it has none
    signature_end  the last line of that list, else `start_line`
    """

    __slots__ = ("_node", "end", "end_line", "kind", "same", "scope", "start", "start_line")

    def __init__(self, node: Node, scope: NameScope | None) -> None:
        """The node of the chunk; `same` is counted later."""
        self.start, self.end = node.start_byte, node.end_byte
        self.start_line, self.end_line = node.start_point[0] + 1, node.end_point[0] + 1
        self.kind = node.type
        self.scope = scope
        self.same = 0
        self._node = node

    @property
    def segments(self) -> tuple[str, ...]:
        """The qualified name; empty if it has none."""
        return () if self.scope is None else self.scope.segments

    @property
    def last(self) -> str:
        """The last segment; empty without a name."""
        return "" if self.scope is None else self.scope.segment

    @property
    def head_line(self) -> int:
        """The first line of what belongs to the chunk and stands directly above it."""
        return _head_row(self._node) + 1

    @property
    def parameters(self) -> bytes | None:
        """The parameter list without white space."""
        found = _parameter_list(self._node)
        return None if found is None or found.text is None else b"".join(found.text.split())

    @property
    def signature_end(self) -> int:
        """The last line of the parameter list, or the first line of a chunk without one."""
        found = _parameter_list(self._node)
        return self.start_line if found is None else found.end_point[0] + 1


def named_chunks(path: str, text: bytes) -> tuple[NamedChunk, ...]:
    """The chunks that `chunk_file` gives for this text, in its order; none for a file that is one chunk.

    Raises GrammarError, and TooSlowError within a limit.
    """
    pack = language_pack(path)
    if pack is None:
        return ()
    grammar = load_grammar(pack)
    root = grammar.parse(text).root_node
    holders = frozenset() if root.has_error else grammar.holders
    chunks = tuple(_walk(root, _RULES[pack.name], grammar.chunk_types, holders))
    same = Counter((chunk.kind, id(chunk.scope)) for chunk in chunks if chunk.scope is not None)
    for chunk in chunks:
        chunk.same = same[chunk.kind, id(chunk.scope)]
    return chunks


def _walk(
    root: Node, rules: Mapping[str, Rule], chunk_types: Mapping[str, str], holders: frozenset[str]
) -> Iterator[NamedChunk]:
    """The chunks below `root` in pre-order.

    Each waiting node brings along the scope it stands in, the name that a holder gives it, and whether it
    stands in a singleton class.
    """
    waiting: list[tuple[Node, NameScope, tuple[str, ...], bool]] = [(root, NameScope("", None), (), False)]
    while waiting:
        node, scope, held, is_singleton = waiting.pop()
        kind = node.type
        rule = rules.get(kind) if node.is_named else None
        step = NO_STEP if rule is None else rule(Visit(node, held, is_singleton))
        own = step.own if all(map(split_name, step.own)) else ()
        scope = scope.within(own)
        if kind in chunk_types and node.is_named:
            yield NamedChunk(node, scope if own else None)
        if holders and kind not in holders:
            continue
        if step.is_singleton is not None:
            is_singleton = step.is_singleton
        waiting.extend(
            (child, scope, step.held if child.id == step.heir else (), is_singleton)
            for child in reversed(node.children)
            if child.child_count or child.type in chunk_types
        )


_ABOVE = frozenset({"decorator", "attribute_item", "comment", "line_comment", "block_comment"})
_WRAPPERS = frozenset(
    {
        *("decorated_definition", "export_statement", "lexical_declaration", "variable_declaration"),
        *(
            "variable_declarator",
            "public_field_definition",
            "field_definition",
            "pair",
            "ambient_declaration",
        ),
        *("expression_statement", "assignment_expression", "type_definition", "declaration", "assignment"),
    }
)


def _head_row(node: Node) -> int:
    """The 0-based row where the chunk's head begins: nodes above it without a blank line in between."""
    row = node.start_point[0]
    parent = node.parent
    while parent is not None and parent.type in _WRAPPERS and parent.end_point[0] >= node.end_point[0]:
        node, parent = parent, parent.parent
        row = min(row, node.start_point[0])
    above = node.prev_sibling
    while above is not None and above.type in _ABOVE and above.start_point[0] < row:
        # A Rust line comment ends on the next row; what ends a line above it stands directly above.
        end = above.end_point[0] - (above.end_point[1] == 0)
        if end < row - 1 or _is_trailing(above):
            break
        row = above.start_point[0]
        above = above.prev_sibling
    return row


def _is_trailing(comment: Node) -> bool:
    """Whether a comment follows code on its own line: then it belongs to that code."""
    before = comment.prev_sibling
    return before is not None and before.end_point[0] == comment.start_point[0] and before.end_point[1] > 0


def _parameter_list(node: Node) -> Node | None:
    while node.child_by_field_name("declarator") is not None:  # C: int *f(int a) {..}
        node = node.child_by_field_name("declarator") or node
        if node.type == "function_declarator":
            break
    return node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
