"""Definitions in a directory of source files, as parsers other than the product's see them.

A directory enters; every function and class leaves, with its qualified name and lines. Python is read with
`ast`, the other languages with universal-ctags. Where ctags says no end (JavaScript, TypeScript), the end is
that of the chunk that begins on its line. `drift.py` holds re-anchored labels against them.
"""

from __future__ import annotations

import ast
import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cce.retrieval.chunking.naming import named_chunks

LANGUAGES = {
    "js": "JavaScript",
    "cjs": "JavaScript",
    "mjs": "JavaScript",
    "ts": "TypeScript",
    "rb": "Ruby",
    "rs": "Rust",
    "c": "C",
    "h": "C",
}
_KINDS = frozenset(
    {
        *("function", "method", "class", "struct", "enum", "union", "interface", "generator", "getter"),
        *("setter", "singletonMethod", "module", "implementation", "trait"),
    }
)
MAX_LINE_BYTES = 400
"""Files with longer lines are minified: nobody labels them."""


class Definition(NamedTuple):
    """Lines are 1-based and inclusive; `start` is the line of the name where the parser says no more."""

    path: str
    name: str
    start: int
    end: int

    @property
    def last_name(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]


def definitions(root: Path) -> list[Definition]:
    """All definitions below a directory."""
    return [each for path in _source_files(root) for each in _of_file(root, path)]


def standing_once(found: Sequence[Definition]) -> list[Definition]:
    """The definitions whose name stands once in its file."""
    n_times = Counter((each.path, each.name) for each in found)
    return [each for each in found if n_times[each.path, each.name] == 1]


def _source_files(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        is_code = path.suffix[1:] in LANGUAGES | {"py": ""} and path.is_file() and not path.is_symlink()
        if is_code and max(map(len, path.read_bytes().split(b"\n"))) <= MAX_LINE_BYTES:
            yield path


def _of_file(root: Path, path: Path) -> Iterator[Definition]:
    name = path.relative_to(root).as_posix()
    if path.suffix == ".py":
        yield from _python(name, path.read_bytes())
    else:
        yield from _tags(name, path)


def _python(path: str, text: bytes) -> Iterator[Definition]:
    try:
        waiting: list[tuple[ast.AST, tuple[str, ...]]] = [(ast.parse(text), ())]
    except SyntaxError:
        return
    while waiting:
        node, outer = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            outer = (*outer, _accessor(node))
            yield Definition(path, ".".join(outer), node.lineno, node.end_lineno or node.lineno)
        waiting.extend((child, outer) for child in ast.iter_child_nodes(node))


def _accessor(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """The name of a definition; `x.setter` for the setter of a property."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Attribute) and ast.unparse(decorator.value) == node.name:
            return f"{node.name}.{decorator.attr}"
    return node.name


def _tags(path: str, file: Path) -> Iterator[Definition]:
    command = ["ctags", "--output-format=json", "--fields=+neZ", "--extras=-F"]
    command += [f"--language-force={LANGUAGES[file.suffix[1:]]}", "-f", "-", str(file)]
    ends: dict[int, int] = {}
    for chunk in named_chunks(path, file.read_bytes()):
        ends.setdefault(chunk.start_line, chunk.end_line)
    for line in subprocess.run(command, capture_output=True, check=True).stdout.splitlines():
        tag = json.loads(line)
        end = tag.get("end") or ends.get(tag["line"])
        if tag["kind"] in _KINDS and end and not tag["name"].startswith(("__anon", "Anonymous")):
            name = f"{tag['kind']} {tag.get('scope', '')}.{tag['name']}"
            yield Definition(path, name, tag["line"], end)
