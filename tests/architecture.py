"""The house as its code says it: rooms, their first sentences, classes, imports. Nothing is imported."""

from __future__ import annotations

import ast
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from conftest import ROOT

SOURCES = ROOT / "src"
PACKAGE = SOURCES / "cce"

WIDTH = 105
_COLUMN = 18

TITLE = "src/cce: imports point down (↓); rooms beside each other (|) never import each other"
_BELOW, _BESIDE = "↓", "|"


class Place(NamedTuple):
    """Where something new goes: a row in `table` of `file`, and its code in `room`; below src/cce."""

    new: str
    file: str
    table: str
    room: str


PLACES = (
    Place("report format", "report/catalog.py", "RENDERERS", "report/"),
    Place("metric", "measurement/metrics/catalog.py", "_TABLE", "measurement/metrics/"),
    Place("backend", "retrieval/backends/catalog.py", "BACKENDS", "retrieval/backends/"),
    Place("embedder", "retrieval/embedding/catalog.py", "EMBEDDERS", "retrieval/embedding/"),
    Place("reranker", "retrieval/rerank/catalog.py", "RERANKERS", "retrieval/rerank/"),
    Place("language", "retrieval/chunking/languages.py", "PACKS", "retrieval/chunking/"),
    Place("command", "cli/main.py", "_COMMANDS", "cli/ and usecases/"),
)


def drawing() -> str:
    """The block of README between the marks `architecture`."""
    table = [
        ("a new", "is a row of", "in", "and its code lies in"),
        *((place.new, place.table, place.file, place.room) for place in PLACES),
    ]
    widths = [max(map(len, column)) + 2 for column in zip(*table, strict=True)]
    rows = ["".join(map(str.ljust, row, widths)).rstrip() for row in table]
    return "\n".join([TITLE, "", *_house(), "", *rows])


def _house() -> Iterator[str]:
    for n, layer in enumerate(layers()):
        if len(layer) > 1 and not any((PACKAGE / name).is_dir() for name in layer):
            yield f"{_BELOW} " + f" {_BESIDE} ".join(f"{name}.py" for name in layer)
            continue
        for m, name in enumerate(layer):
            sign = _BESIDE if m else _BELOW if n else " "
            first, *others = _room(PACKAGE / name)
            yield f"{sign} {first}"
            yield from (f"  {line}" for line in others)


def _room(path: Path) -> Iterator[str]:
    """One line per package or module, with the rooms of a package below; a long line goes on below."""
    label = f"{path.name}/" if path.is_dir() else f"{path.name}.py"
    yield from textwrap.wrap(
        purpose(path),
        WIDTH - 2,
        initial_indent=label.ljust(_COLUMN),
        subsequent_indent=" " * _COLUMN,
        break_on_hyphens=False,
    )
    below = " ".join(f"{each.parent.name}/" for each in sorted(path.glob("*/__init__.py")))
    indent = " " * (_COLUMN + 2)
    yield from textwrap.wrap(below, WIDTH - 2, initial_indent=indent, subsequent_indent=indent)


def layers() -> list[list[str]]:
    """The layers of import-linter's first contract, top to bottom."""
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contract = tables["tool"]["importlinter"]["contracts"][0]
    return [layer.split(" | ") for layer in contract["layers"]]


def purpose(path: Path) -> str:
    """What a package or a module is for, by the first sentence of its docstring.

    A package loses a "The gate: " that its name says already, a module whatever follows a colon.
    """
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    sentence = docstring(file).partition("\n")[0].partition(". ")[0].rstrip(".")
    head, _, rest = sentence.partition(": ")
    if not path.is_dir():
        return head
    return rest[:1].upper() + rest[1:] if head.lower().removeprefix("the ") == path.name else sentence


def docstring(file: Path) -> str:
    """What a file says of itself, empty if it says nothing."""
    return ast.get_docstring(ast.parse(file.read_bytes())) or ""


def assigned_names(file: Path) -> set[str]:
    """What a module assigns to at its top level."""
    names = set()
    for statement in ast.parse(file.read_bytes()).body:
        targets = (
            [statement.target] if isinstance(statement, ast.AnnAssign) else getattr(statement, "targets", [])
        )
        names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def modules() -> dict[str, ast.Module]:
    """Every module of the package by its dotted name."""
    return {_dotted(file): ast.parse(file.read_bytes()) for file in sorted(PACKAGE.rglob("*.py"))}


def imports(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Which modules each module names in its imports, also inside functions and under TYPE_CHECKING."""
    return {name: set(_imported(tree, set(trees))) - {name} for name, tree in trees.items()}


def _imported(tree: ast.Module, known: set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield submodule if submodule in known else str(node.module)


def _dotted(file: Path) -> str:
    parts = file.relative_to(SOURCES).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
