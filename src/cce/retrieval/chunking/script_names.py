"""What a syntax node of JavaScript or TypeScript is called.

A function or class without a name of its own is called by what holds it: a variable, a key, a field, the
left side of an assignment, or `default`. The holder's name passes through parentheses, type assertions and
calls whose only function it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cce.retrieval.chunking.names import NO_STEP, Names, Rule, Step, Visit, named_or_held, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_MODIFIERS = ("static", "get", "set")
_UNNAMED_PARTS = frozenset({"module", "prototype"})
"""Of `module.exports.go` and `Stack.prototype.push` these parts say nothing about what is named."""


def _key(node: Node | None) -> str:
    """A variable's, property's or method's name; empty for computed names and patterns."""
    match "" if node is None else node.type:
        case "identifier" | "property_identifier" | "private_property_identifier" | "number":
            return text_of(node)
        case "type_identifier" | "this":
            return text_of(node)
        case "string":
            return text_of(node)[1:-1].strip()
    return ""


def _with_modifiers(node: Node, name: str) -> Names:
    """The segment of a class member: `static`, `get` and `set` belong to it."""
    if not name:
        return ()
    return (" ".join([*(child.type for child in node.children if child.type in _MODIFIERS), name]),)


def _method(visit: Visit) -> Step:
    return Step(_with_modifiers(visit.node, _key(visit.node.child_by_field_name("name"))))


def _holding(node: Node, names: Names, field: str = "value") -> Step:
    heir = node.child_by_field_name(field)
    return Step((), names, heir.id) if heir is not None and names else NO_STEP


def _variable(visit: Visit) -> Step:
    name = _key(visit.node.child_by_field_name("name"))
    return _holding(visit.node, (name,) if name else ())


def _pair(visit: Visit) -> Step:
    name = _key(visit.node.child_by_field_name("key"))
    return _holding(visit.node, (name,) if name else ())


def _class_field(visit: Visit) -> Step:
    name = visit.node.child_by_field_name("name") or visit.node.child_by_field_name("property")
    return _holding(visit.node, _with_modifiers(visit.node, _key(name)))


def _assignment(visit: Visit) -> Step:
    return _holding(visit.node, _assigned(visit.node.child_by_field_name("left")), "right")


def _assigned(left: Node | None) -> Names:
    """`exports go` for `module.exports.go`; none where a part of it is computed or called."""
    parts: list[str] = []
    while left is not None and left.type == "member_expression":
        parts.append(_key(left.child_by_field_name("property")))
        left = left.child_by_field_name("object")
    parts.append(_key(left))
    if not all(parts):
        return ()
    outer = [part for part in reversed(parts[1:]) if part not in _UNNAMED_PARTS and part != "this"]
    return (*outer, parts[0])


def _export(visit: Visit) -> Step:
    is_default = any(child.type == "default" for child in visit.node.children)
    heir = visit.node.child_by_field_name("value") or visit.node.child_by_field_name("declaration")
    return Step((), ("default",), heir.id) if is_default and heir is not None else NO_STEP


def _passing(visit: Visit) -> Step:
    """Parentheses and type assertions: what they hold has the name that they have."""
    heirs = [child for child in visit.node.named_children if child.type != "comment"]
    return Step((), visit.held, heirs[0].id) if visit.held and heirs else NO_STEP


def _call(visit: Visit) -> Step:
    """The arguments of a call get the name; they pass it on to the only function among them."""
    return _holding(visit.node, visit.held, "arguments") if visit.held else NO_STEP


def _arguments(visit: Visit) -> Step:
    if not visit.held:
        return NO_STEP
    functions = [child for child in visit.node.named_children if child.type in _FUNCTIONS]
    heirs = functions or [child for child in visit.node.named_children if child.type in _PASSING_CALLS]
    return Step((), visit.held, heirs[0].id) if len(heirs) == 1 else NO_STEP


_PASSING_CALLS = frozenset({"call_expression", "class", "parenthesized_expression"})


def _namespace(visit: Visit) -> Step:
    """`namespace A.B` and `declare module "m"`."""
    name = visit.node.child_by_field_name("name")
    if name is not None and name.type == "string":
        return Step((_key(name),) if _key(name) else ())
    return Step(tuple(part.strip() for part in text_of(name).split(".") if part.strip()))


SCRIPT: Mapping[str, Rule] = {
    **dict.fromkeys(("function_declaration", "generator_function_declaration"), named_or_held),
    **dict.fromkeys(_FUNCTIONS, named_or_held),
    **dict.fromkeys(("class_declaration", "abstract_class_declaration", "class"), named_or_held),
    **dict.fromkeys(("interface_declaration", "enum_declaration"), named_or_held),
    **dict.fromkeys(("internal_module", "module"), _namespace),
    "method_definition": _method,
    "variable_declarator": _variable,
    "pair": _pair,
    **dict.fromkeys(("public_field_definition", "field_definition"), _class_field),
    "assignment_expression": _assignment,
    "export_statement": _export,
    **dict.fromkeys(
        (
            *("parenthesized_expression", "as_expression", "satisfies_expression"),
            *("non_null_expression",),
        ),
        _passing,
    ),
    "call_expression": _call,
    "arguments": _arguments,
}
