"""Qualified names of chunks, by hand and against other parsers."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from cce.domain.symbol import Symbol, name_text, split_name
from cce.retrieval.chunking.naming import NamedChunk, named_chunks
from cce.retrieval.chunking.treesitter import chunk_file
from oracle import Oracle

Named = tuple[str, tuple[str, ...], int]


def names(path: str, text: str) -> list[tuple[str, ...]]:
    """The qualified names of all chunks, in tree order."""
    return [chunk.segments for chunk in named_chunks(path, text.encode())]


def counted(path: str, text: str) -> list[tuple[tuple[str, ...], int]]:
    return [(chunk.segments, chunk.same) for chunk in named_chunks(path, text.encode())]


# --- Python ---


def test_python_classes_functions_and_what_is_nested_in_them() -> None:
    text = "class A:\n def x(self): pass\n class B:\n  def x(self): pass\nclass C:\n def x(self): pass\n"
    assert names("a.py", text) == [("A",), ("A", "x"), ("A", "B"), ("A", "B", "x"), ("C",), ("C", "x")]


def test_python_if_and_try_give_no_segment() -> None:
    text = "if X:\n def f(): pass\nelse:\n try:\n  def f(): pass\n finally: pass\n"
    assert counted("a.py", text) == [(("f",), 2), (("f",), 2)]


def test_python_a_setter_is_told_from_its_property() -> None:
    text = (
        "class A:\n @property\n def x(self): pass\n @x.setter\n def x(self, v): pass\n"
        " @x.deleter\n def x(self): pass\n @y.setter\n def z(self): pass\n"
    )
    assert names("a.py", text) == [("A",), ("A", "x"), ("A", "x.setter"), ("A", "x.deleter"), ("A", "z")]


def test_python_three_overloads_have_the_same_name() -> None:
    text = "".join(f"@overload\ndef f(a: {kind}): ...\n" for kind in ("int", "str", "bytes"))
    assert counted("a.py", text) == [(("f",), 3)] * 3


def test_python_names_hold_where_the_syntax_does_not() -> None:
    assert names("a.py", "class A:\n def f(self): pass\n)(\ndef g(): pass\n")[:2] == [("A",), ("A", "f")]


# --- JavaScript and TypeScript ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("function f() {}", [("f",)]),
        ("const f = () => 1", [("f",)]),
        ("const f = function g() {}", [("g",)]),
        ("const f = (() => 1)", [("f",)]),
        ("const f = memo(() => 1)", [("f",)]),
        ("const f = memo(wrap((a) => 1), 2)", [("f",)]),
        ("const f = both(() => 1, () => 2)", [(), ()]),
        ("const { f } = () => 1", [()]),
        ("app.get('/x', () => { function inner() {} })", [(), ("inner",)]),
        ("const o = { a: () => 1, b() {}, 'c d': () => 1 }", [("a",), ("b",), ("c d",)]),
        ("const o = { [e]: () => 1, [f]() {} }", [(), ()]),
        ("module.exports.go = function () {}", [("exports", "go")]),
        ("module.exports = function () {}", [("exports",)]),
        ("A.prototype.m = function () {}", [("A", "m")]),
        ("a[i] = () => 1; a().b = () => 1", [(), ()]),
        ("this.f = () => 1", [("f",)]),
        ("export default () => 1", [("default",)]),
        ("export default function f() {}", [("f",)]),
        ("export const f = () => 1", [("f",)]),
        (
            "class A { static s() {} get x() {} set x(v) {} static get y() {} f = () => 1; [q]() {} }",
            [("A",), *(("A", name) for name in ("static s", "get x", "set x", "static get y", "f")), ()],
        ),
        ("class A { #p() {} }", [("A",), ("A", "#p")]),
        ("const K = class { m() {} }", [("K", "m")]),
        ("export default class { m() {} }", [("default", "m")]),
        ("function outer() { const f = () => 1 }", [("outer",), ("outer", "f")]),
        ("function* gen() { function f() {} }", [("gen", "f")]),
        ("x.constructor.prototype = { toString() {} }", [("toString",)]),
    ],
)  # fmt: skip
def test_script_names(text: str, expected: list[tuple[str, ...]]) -> None:
    assert names("a.ts", text) == expected
    assert names("a.js", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("const f = (() => 1) as Handler", [("f",)]),
        ("const f = (() => 1) satisfies Handler", [("f",)]),
        ("abstract class A { m() {} }", [("A", "m")]),
        ("namespace N.M { export function f() {} }", [("N", "M", "f")]),
        ('declare module "m" { interface I {} }', [("m", "I")]),
        ("interface I {} enum E { A }", [("I",), ("E",)]),
        ("class A { static k: H = () => 1 }", [("A",), ("A", "static k")]),
        ("function f(a: number): void; function f(a: any) {}", [("f",)]),
    ],
)
def test_typescript_names(text: str, expected: list[tuple[str, ...]]) -> None:
    assert names("a.ts", text) == expected


# --- Ruby ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class M::A; def m; end; end", [("M", "A"), ("M", "A", "#m")]),
        ("module M; class A; end; end", [("M",), ("M", "A")]),
        ("class ::A; def self.s; end; end", [("A",), ("A", ".s")]),
        (
            "class A; class << self; def s; end; class B; def m; end; end; end; end",
            [("A",), ("A", ".s"), ("A", "B"), ("A", "B", "#m")],
        ),
        ("P = Struct.new(:x) do\n def m; end\nend", [("P", "#m")]),
        ("M::P = Data.define(:x) do\n def m; end\nend", [("M", "P", "#m")]),
        ("x = [1].each do\n def m; end\nend", [("#m",)]),
        ("A = [1].each do\n def m; end\nend", [("#m",)]),
        ("class A; private def ==(o); end; end", [("A",), ("A", "#==")]),
    ],
)
def test_ruby_names(text: str, expected: list[tuple[str, ...]]) -> None:
    assert names("a.rb", text) == expected


def test_ruby_a_reopened_class_stands_twice_and_its_methods_once() -> None:
    text = "class M::A; def m; end; end\nmodule M; class A; def n; end; end; end\n"
    assert counted("a.rb", text) == [
        (("M", "A"), 2),
        (("M", "A", "#m"), 1),
        (("M",), 1),
        (("M", "A"), 2),
        (("M", "A", "#n"), 1),
    ]


# --- Rust ---


def test_rust_impls_tell_traits_apart() -> None:
    text = (
        "mod m { impl fmt::Display for P { fn fmt() {} } impl Debug for P { fn fmt() {} } }\n"
        "impl From< u8 > for P { fn from() {} }\nimpl<'a, T: X> Q<'a, T> { fn new() { fn inner() {} } }\n"
    )
    assert names("a.rs", text) == [
        ("m", "fmt::Display for P"),
        ("m", "fmt::Display for P", "fmt"),
        ("m", "Debug for P"),
        ("m", "Debug for P", "fmt"),
        ("From<u8> for P",),
        ("From<u8> for P", "from"),
        ("Q<'a,T>",),
        ("Q<'a,T>", "new"),
        ("Q<'a,T>", "new", "inner"),
    ]


def test_rust_traits_structs_and_twins() -> None:
    text = "trait T { fn d() {} }\nstruct S;\n#[cfg(a)]\nfn f() {}\n#[cfg(b)]\nfn f() {}\n"
    assert counted("a.rs", text) == [(("T",), 1), (("T", "d"), 1), (("S",), 1), (("f",), 2), (("f",), 2)]


# --- C ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int f(void) {}", [("f",)]),
        ("char **f(int a, char *b) {}", [("f",)]),
        ("int (*f(int x))(char) {}", [("f",)]),
        ("struct S { struct T { int a; } t; };", [("S",), ("S", "T")]),
        ("typedef struct { int a; } T;", [("T",)]),
        ("typedef enum E { A } *P;", [("E",)]),
        ("union { int a; } u;", [()]),
        ("void f(struct S s) {}\nstruct S t;", [("f",), (), ()]),
        ("#ifdef X\nint f(int a) {}\n#else\nint f(long a) {}\n#endif", [("f",), ("f",)]),
    ],
)
def test_c_names(text: str, expected: list[tuple[str, ...]]) -> None:
    assert names("a.c", text) == expected


def test_c_twins_have_parameters_that_tell_them_apart() -> None:
    chunks = named_chunks("a.c", b"#ifdef X\nint f(int a) {}\n#else\nint f(long  a) {}\n#endif")
    assert [(chunk.same, chunk.parameters) for chunk in chunks] == [(2, b"(inta)"), (2, b"(longa)")]


# --- heads ---


@pytest.mark.parametrize(
    ("path", "text", "head", "start"),
    [
        ("a.py", "x = 1\n# about f\n@one\n@two\ndef f(): pass\n", 2, 5),
        ("a.py", "# a licence\n\ndef f(): pass\n", 3, 3),
        ("a.py", "x = 1  # about x\ndef f(): pass\n", 2, 2),
        ("a.js", "/** doc\n */\nexport const f = () => 1\n", 1, 3),
        ("a.rs", "/// doc\n#[inline]\nfn f() {}\n", 1, 3),
        ("a.c", "/* doc */\nstatic int f(void) {}\n", 1, 2),
        ("a.rb", "x = 1\n\n# doc\ndef f; end\n", 3, 4),
    ],
)
def test_a_head_is_what_stands_directly_above(path: str, text: str, head: int, start: int) -> None:
    (chunk,) = named_chunks(path, text.encode())
    assert (chunk.head_line, chunk.start_line) == (head, start)


# --- laws ---


def test_a_file_that_is_one_chunk_has_no_names() -> None:
    assert named_chunks("a.md", b"# title\n") == ()
    assert named_chunks("a.py", b"x = 1\n") == ()


def test_1200_nested_functions_are_named() -> None:
    text = "".join(f"function f{depth}() {{" for depth in range(1200)) + "}" * 1200
    chunks = named_chunks("deep.js", text.encode())
    assert len(chunks) == 1200
    assert chunks[-1].segments == tuple(f"f{depth}" for depth in range(1200))


def _reference_files(oracle: Oracle) -> Iterator[tuple[str, bytes]]:
    for name in oracle.names:
        for path in sorted((oracle.unpack(name) / name).rglob("*")):
            if path.is_file() and not path.is_symlink() and path.suffix[1:] in _CTAGS_LANGUAGES | {"py": ""}:
                yield str(path), path.read_bytes()


@pytest.mark.process
def test_names_stand_for_the_chunks_that_are_indexed_and_match_them(oracle: Oracle) -> None:
    n_named = 0
    for path, text in _reference_files(oracle):
        chunks = named_chunks(path, text)
        spans = [span for span in chunk_file(path, text).spans if span.chunk_type != "module"]
        assert [(chunk.start, chunk.end, chunk.kind) for chunk in chunks] == [
            (span.start, span.end, span.kind) for span in spans
        ]
        for chunk in chunks:
            if chunk.segments:
                n_named += 1
                assert Symbol(chunk.kind, name_text(chunk.segments)).fits(chunk.kind, chunk.segments), path
    assert n_named > 9000


@pytest.mark.process
def test_python_names_are_those_of_pythons_own_parser(oracle: Oracle) -> None:
    n_equal = 0
    for path, text in _reference_files(oracle):
        if path.endswith(".py"):
            expected = _names_by_line(ast.parse(text))
            assert {chunk.start_line: chunk.segments for chunk in named_chunks(path, text)} == expected, path
            n_equal += len(expected)
    assert n_equal == 4166


def _names_by_line(tree: ast.Module) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    waiting: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, ())]
    while waiting:
        node, outer = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            accessors = [
                decorator.attr
                for decorator in node.decorator_list
                if isinstance(decorator, ast.Attribute) and ast.unparse(decorator.value) == node.name
            ]
            outer = (*outer, ".".join([node.name, *accessors]))
            found[node.lineno] = outer
        waiting.extend((child, outer) for child in ast.iter_child_nodes(node))
    return found


_CTAGS_LANGUAGES = {
    "js": "JavaScript",
    "mjs": "JavaScript",
    "ts": "TypeScript",
    "rb": "Ruby",
    "rs": "Rust",
    "c": "C",
    "h": "C",
}
_MAX_LINE_BYTES = 400  # lines of minified code hold many definitions, and ctags gives up on most


@pytest.mark.process
@pytest.mark.skipif(shutil.which("ctags") is None, reason="universal-ctags is not installed")
def test_other_names_are_those_of_ctags(oracle: Oracle) -> None:
    n_equal: dict[str, int] = defaultdict(int)
    n_compared: dict[str, int] = defaultdict(int)
    for path, text in _reference_files(oracle):
        suffix = Path(path).suffix[1:]
        if suffix == "py" or max(map(len, text.split(b"\n"))) > _MAX_LINE_BYTES:
            continue
        tags = _tags_by_line(path, _CTAGS_LANGUAGES[suffix])
        for chunk in named_chunks(path, text):
            beside = _tags_beside(chunk, tags)
            if chunk.segments and beside:  # ctags does not see every definition
                n_compared[suffix] += 1
                n_equal[suffix] += _plain_name(chunk) in beside
    shares = {suffix: n_equal[suffix] / n for suffix, n in n_compared.items()}
    assert sum(n_compared.values()) > 3000
    assert all(share >= 0.97 for share in shares.values()), (shares, dict(n_compared))


def _tags_by_line(path: str, language: str) -> dict[int, set[str]]:
    command = ["ctags", "--output-format=json", "--fields=+n", "--extras=-F", f"--language-force={language}"]
    out = subprocess.run([*command, "-f", "-", path], capture_output=True, check=True).stdout
    tags: dict[int, set[str]] = defaultdict(set)
    for line in out.splitlines():
        tag = json.loads(line)
        name = tag["name"].rpartition(".")[2]
        if not name.startswith(("__anon", "AnonymousFunction")) and tag["kind"] not in (
            "variable",
            "parameter",
        ):
            tags[tag["line"]].add(name)
    return tags


def _tags_beside(chunk: NamedChunk, tags: dict[int, set[str]]) -> set[str]:
    """The tags on the line of a chunk; C has the name of a function or typedef on a later line."""
    is_c = chunk.kind.endswith("_specifier") or chunk.kind == "function_definition"
    last = chunk.end_line if is_c else chunk.start_line
    return set().union(*(tags.get(line, set()) for line in range(chunk.start_line, last + 1)))


def _plain_name(chunk: NamedChunk) -> str:
    """The last piece of its name; of an impl its type without generics, as ctags has it."""
    last = chunk.segments[-1].rpartition(" for ")[2]
    if chunk.kind == "impl_item":
        last = last.partition("<")[0].lstrip("&")
    return split_name(last)[-1]
