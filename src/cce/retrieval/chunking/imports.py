"""Import names: which other files a source file leans on, for the import graph.

Syntax nodes enter, short module names leave. A rule gives nothing where the source is too odd to
read; resolving a name to a file is the graph's work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

ImportRule = Callable[[Iterable["Node"]], Iterator[str]]
"""Import nodes of one file, in tree order -> module names, some of them perhaps empty."""

_NOT_IDENTIFIER = re.compile(r"\W")


def import_names(rule: ImportRule | None, nodes: Iterable[Node]) -> tuple[str, ...]:
    """Names in first-seen order without repeats; none where a language has no rule.

    nodes  the pack's import nodes, in tree order
    """
    return () if rule is None else tuple(dict.fromkeys(name for name in rule(nodes) if name))


def without_extension(base_name: str) -> str:
    """`base_name` cut at its last dot, unless that is its first character."""
    dot = base_name.rfind(".")
    return base_name[:dot] if dot > 0 else base_name


def _python(node: Node) -> Iterator[str]:
    if node.type == "import_from_statement":
        modules = [node.child_by_field_name("module_name")]
    else:
        modules = [_imported_module(child) for child in node.named_children]
    for module in modules:
        if module is not None:
            yield _first_part(_text(module).split("."))


def _imported_module(node: Node) -> Node | None:
    if node.type == "aliased_import":
        return node.child(0)
    return node if node.type == "dotted_name" else None


def _script(node: Node) -> Iterator[str]:
    source = node.child_by_field_name("source")
    if source is None:
        return
    fragments = [child for child in source.named_children if child.type == "string_fragment"]
    specifier = _text(fragments[-1]) if fragments else _text(source).strip("'\"`")
    parts = [part for part in specifier.split("/") if part not in ("", ".", "..")]
    n_kept = 2 if parts and parts[0].startswith("@") else 1
    yield "/".join(parts[:n_kept])


def ruby_imports(nodes: Iterable[Node]) -> Iterator[str]:
    """The last part of what a `require` names."""
    searched = range(0)
    content: Node | None = None
    for arguments in (found for node in nodes if (found := _require_arguments(node)) is not None):
        # Calls nest. Up to what an outer one found first there is nothing for an inner one to find.
        is_nested = searched.start <= arguments.start_byte and arguments.end_byte <= searched.stop
        if not (is_nested and (content is None or arguments.start_byte <= content.start_byte)):
            content = _first_of_type(arguments, "string_content")
            searched = range(arguments.start_byte, arguments.end_byte)
        if content is not None and content.end_byte <= arguments.end_byte:
            yield without_extension(_text(content).rpartition("/")[2])


def _require_arguments(call: Node) -> Node | None:
    method = call.child(0)
    if method is None or method.type != "identifier" or method.text not in (b"require", b"require_relative"):
        return None
    return next((child for child in call.named_children if child.type == "argument_list"), None)


def _rust(node: Node) -> Iterator[str]:
    children = iter(node.children)
    for child in children:
        if child.type == "use":
            break
    argument = next(children, None)
    if argument is not None:
        yield _NOT_IDENTIFIER.split(_text(argument).split("::")[0].strip())[0]


def _c(node: Node) -> Iterator[str]:
    for child in node.named_children:
        if child.type in ("system_lib_string", "string_literal"):
            base_name = _text(child).rpartition("/")[2]
            yield without_extension(base_name.strip('<>"'))


def _first_of_type(root: Node, node_type: str) -> Node | None:
    """The first node of a type below `root` in pre-order, without recursion."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == node_type:
            return node
        waiting.extend(reversed(node.children))
    return None


def _first_part(parts: Iterable[str]) -> str:
    return next((part for part in (part.strip() for part in parts) if part), "")


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def python_imports(nodes: Iterable[Node]) -> Iterator[str]:
    """The first part of each imported module."""
    return (name for node in nodes for name in _python(node))


def script_imports(nodes: Iterable[Node]) -> Iterator[str]:
    """The first part of each source of JavaScript or TypeScript; two of a scoped package."""
    return (name for node in nodes for name in _script(node))


def rust_imports(nodes: Iterable[Node]) -> Iterator[str]:
    """The crate, or whatever else stands first in a `use`."""
    return (name for node in nodes for name in _rust(node))


def c_imports(nodes: Iterable[Node]) -> Iterator[str]:
    """The base name of each included file."""
    return (name for node in nodes for name in _c(node))
