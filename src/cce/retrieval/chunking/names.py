"""What a syntax node is called: one table of rules per language.

A Visit enters, a Step leaves.
A node without a rule has no name and passes nothing on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from cce.domain.symbol import FOR

if TYPE_CHECKING:
    from tree_sitter import Node

Names = tuple[str, ...]


class Visit(NamedTuple):
    """A node on the walk: the segments that its holder gives it, and whether it is in a singleton class."""

    node: Node
    held: Names = ()
    is_singleton: bool = False


class Step(NamedTuple):
    """What one node contributes to the names below it.

    own           its segments, none if it has no name
    held          the segments it gives to its child with the id `heir`
    is_singleton  what it says about the nodes below; None leaves what was said
    """

    own: Names = ()
    held: Names = ()
    heir: int = 0
    is_singleton: bool | None = None


NO_STEP = Step()

Rule = Callable[["Visit"], Step]


def text_of(node: Node | None) -> str:
    """The source text of a node; empty for None."""
    return "" if node is None else (node.text or b"").decode("utf-8", "replace")


def _field(node: Node, name: str) -> str:
    return text_of(node.child_by_field_name(name))


def named_or_held(visit: Visit) -> Step:
    """A node that is called what its field `name` says, or else what its holder says."""
    name = _field(visit.node, "name")
    return Step((name,) if name else visit.held)


# --- Python ---

_ACCESSORS = ("setter", "getter", "deleter")


def _python_definition(visit: Visit) -> Step:
    return Step(visit.held or (_field(visit.node, "name"),))


def _python_decorated(visit: Visit) -> Step:
    """`@x.setter def x` is called `x.setter`: the property itself has the name `x`."""
    definition = visit.node.child_by_field_name("definition")
    name = "" if definition is None else _field(definition, "name")
    accessors = {f"@{name}.{accessor}": f"{name}.{accessor}" for accessor in _ACCESSORS}
    decorators = (text_of(child).strip() for child in visit.node.children if child.type == "decorator")
    found = next((accessors[text] for text in decorators if text in accessors), None)
    return NO_STEP if found is None or definition is None else Step((), (found,), definition.id)


PYTHON: Mapping[str, Rule] = {
    "function_definition": _python_definition,
    "class_definition": _python_definition,
    "decorated_definition": _python_decorated,
}


# --- Ruby ---


def _ruby_constant(visit: Visit) -> Step:
    names = _field(visit.node, "name").split("::")
    return Step(tuple(name.strip() for name in names if name.strip()), is_singleton=False)


def _ruby_method(visit: Visit) -> Step:
    return Step((("." if visit.is_singleton else "#") + _field(visit.node, "name"),), is_singleton=False)


def _ruby_singleton_method(visit: Visit) -> Step:
    return Step(("." + _field(visit.node, "name"),), is_singleton=False)


_MAKERS = frozenset({("Struct", "new"), ("Class", "new"), ("Module", "new"), ("Data", "define")})
_CONSTANTS = frozenset({"constant", "scope_resolution"})


def _ruby_assignment(visit: Visit) -> Step:
    """`Point = Struct.new(:x) do .. end` makes a class, though the grammar sees a call with a block."""
    left, right = visit.node.child_by_field_name("left"), visit.node.child_by_field_name("right")
    if left is None or right is None or left.type not in _CONSTANTS or right.type != "call":
        return NO_STEP
    if (_field(right, "receiver").removeprefix("::"), _field(right, "method")) not in _MAKERS:
        return NO_STEP
    if right.child_by_field_name("block") is None:
        return NO_STEP
    return Step(tuple(name.strip() for name in text_of(left).split("::") if name.strip()), is_singleton=False)


RUBY: Mapping[str, Rule] = {
    "class": _ruby_constant,
    "module": _ruby_constant,
    "method": _ruby_method,
    "singleton_method": _ruby_singleton_method,
    "singleton_class": lambda _: Step(is_singleton=True),
    "assignment": _ruby_assignment,
}


# --- Rust ---


def _rust_impl(visit: Visit) -> Step:
    type_name, trait = _dense(_field(visit.node, "type")), _dense(_field(visit.node, "trait"))
    if not type_name:
        return NO_STEP
    bang = "!" if any(child.type == "!" for child in visit.node.children) else ""
    return Step((f"{bang}{trait}{FOR}{type_name}" if trait else type_name,))


def _dense(text: str) -> str:
    return "".join(text.split())


RUST: Mapping[str, Rule] = {
    **dict.fromkeys(("mod_item", "trait_item", "struct_item", "enum_item", "union_item"), named_or_held),
    "function_item": named_or_held,
    "impl_item": _rust_impl,
}


# --- C ---

_C_NAMES = frozenset({"identifier", "field_identifier", "type_identifier"})
_C_KEYWORDS = frozenset({"if", "for", "while", "switch", "else", "do", "return", "sizeof"})
"""Where a macro breaks the syntax, the grammar takes a statement such as `if (x) {..}` for a function."""


def _c_function(visit: Visit) -> Step:
    name, is_function = _declared(visit.node)
    return Step((name,)) if name and is_function and name not in _C_KEYWORDS else NO_STEP


def _declared(node: Node) -> tuple[str, bool]:
    """The identifier at the end of a chain of declarators; whether the chain has a function's."""
    is_function = False
    while True:
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in ("parenthesized_declarator", "attributed_declarator"):
            inner = next((child for child in node.named_children if child.type.endswith("r")), None)
        if inner is None:
            return (text_of(node) if node.type in _C_NAMES else ""), is_function
        is_function = is_function or inner.type == "function_declarator"
        node = inner


def _c_typedef(visit: Visit) -> Step:
    named, name = visit.node.child_by_field_name("type"), _declared(visit.node)[0]
    return Step((), (name,), named.id) if named is not None and name else NO_STEP


def _c_body(visit: Visit) -> Step:
    """A struct without a body only mentions a type that is defined elsewhere."""
    return NO_STEP if visit.node.child_by_field_name("body") is None else named_or_held(visit)


C: Mapping[str, Rule] = {
    "function_definition": _c_function,
    "type_definition": _c_typedef,
    **dict.fromkeys(("struct_specifier", "union_specifier", "enum_specifier"), _c_body),
}
