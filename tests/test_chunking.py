from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_sitter import Node

from cce.domain.ranking import Chunk
from cce.errors import GrammarError
from cce.retrieval.chunking import grammars, treesitter
from cce.retrieval.chunking.languages import PACKS, LanguagePack, language_pack
from cce.retrieval.chunking.treesitter import chunk_file, chunk_id
from cce.retrieval.embedding.hashing import HashEmbedder
from corpora import build_index


def chunks(path: str, source: str | bytes) -> list[Chunk]:
    file = chunk_file(path, source if isinstance(source, bytes) else source.encode())
    return list(build_index([file], HashEmbedder()).chunks)


def outline(path: str, source: str) -> list[tuple[str, str, int, int]]:
    """(type, kind, first line, last line) of each chunk."""
    return [(c.chunk_type, c.kind, c.start_line, c.end_line) for c in chunks(path, source)]


def contents(path: str, source: str) -> list[str]:
    return [chunk.content.decode() for chunk in chunks(path, source)]


# --- what every language calls a function and a class


def test_python_has_functions_and_classes() -> None:
    source = "class K:\n    def m(self):\n        pass\nasync def a(): pass\nlambda x: x\n"
    assert outline("m.py", source) == [
        ("class", "class_definition", 1, 3),
        ("function", "function_definition", 2, 3),
        ("function", "function_definition", 4, 4),
    ]


def test_a_decorated_function_starts_at_its_def_and_keeps_its_whole_signature() -> None:
    source = "@cache\n@other(1)\ndef total(\n    a: int,\n    b: int,\n) -> int:\n    return a + b\n"
    (chunk,) = chunks("m.py", source)
    assert (chunk.start_line, chunk.end_line) == (3, 7)
    assert chunk.content.decode() == source.partition("@other(1)\n")[2].rstrip("\n")


SCRIPT = """\
class K { m() {} get g() { return 1 } }
function f() {}
const a = () => 1;
const b = function () {};
const c = class {};
"""
SCRIPT_OUTLINE = [
    ("class", "class_declaration", 1, 1),
    ("function", "method_definition", 1, 1),
    ("function", "method_definition", 1, 1),
    ("function", "function_declaration", 2, 2),
    ("function", "arrow_function", 3, 3),
    ("function", "function_expression", 4, 4),
]


@pytest.mark.parametrize("path", ["m.js", "m.jsx", "m.mjs", "m.cjs", "m.ts", "m.tsx"])
def test_scripts_have_four_kinds_of_functions_and_class_declarations(path: str) -> None:
    assert outline(path, SCRIPT) == SCRIPT_OUTLINE


def test_typescript_has_interfaces_and_enums_besides() -> None:
    source = "interface I { x(): number }\nenum E { A }\ntype T = number;\nabstract class L {}\n"
    assert outline("m.ts", source) == [
        ("class", "interface_declaration", 1, 1),
        ("class", "enum_declaration", 2, 2),
    ]


def test_ruby_has_methods_singleton_methods_classes_and_modules() -> None:
    source = "module M\n  class K\n    def m; end\n    def self.s; end\n  end\nend\n"
    assert outline("m.rb", source) == [
        ("class", "module", 1, 6),
        ("class", "class", 2, 5),
        ("function", "method", 3, 3),
        ("function", "singleton_method", 4, 4),
    ]


def test_a_ruby_keyword_of_the_same_name_is_no_chunk() -> None:
    assert outline("m.rb", "class A\nend\n") == [("class", "class", 1, 2)]
    assert outline("m.rb", "module A\nend\n") == [("class", "module", 1, 2)]
    assert outline("m.rb", "x = 1\n") == [("module", "module", 1, 2)]  # a file, not a Ruby module


def test_rust_has_functions_and_five_kinds_of_classes() -> None:
    source = (
        "struct S;\nenum E { A }\ntrait T { fn d(&self); fn e(&self) {} }\n"
        "impl T for S { fn d(&self) {} }\nunion U { a: u8 }\nmod m { fn g() {} }\n"
    )
    assert outline("m.rs", source) == [
        ("class", "struct_item", 1, 1),
        ("class", "enum_item", 2, 2),
        ("class", "trait_item", 3, 3),
        ("function", "function_item", 3, 3),
        ("class", "impl_item", 4, 4),
        ("function", "function_item", 4, 4),
        ("class", "union_item", 5, 5),
        ("function", "function_item", 6, 6),
    ]


@pytest.mark.parametrize("path", ["m.c", "m.h"])
def test_c_has_functions_structs_unions_and_enums(path: str) -> None:
    source = (
        "struct S { int a; };\nunion U { int a; };\nenum E { A };\n"
        "int f(struct S s) { return s.a; }\nint g(void);\ntypedef struct { int b; } T;\n"
    )
    assert outline(path, source) == [
        ("class", "struct_specifier", 1, 1),
        ("class", "union_specifier", 2, 2),
        ("class", "enum_specifier", 3, 3),
        ("function", "function_definition", 4, 4),
        ("class", "struct_specifier", 4, 4),  # the mention in the parameters is a node of the kind, too
        ("class", "struct_specifier", 6, 6),
    ]


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("m.py", "python"),
        ("m.js", "javascript"),
        ("m.tsx", "typescript"),
        ("m.rb", "ruby"),
        ("m.rs", "rust"),
        ("m.h", "c"),
    ],
)
def test_a_chunk_names_its_language_even_where_there_is_no_function(path: str, language: str) -> None:
    assert [chunk.language for chunk in chunks(path, "\n")] == [language]


def test_nested_functions_are_chunks_of_their_own_in_tree_order() -> None:
    source = "def a():\n    def b():\n        def c(): pass\n    def d(): pass\ndef e(): pass\n"
    assert [text.partition("(")[0] for text in contents("m.py", source)] == [
        f"def {name}" for name in "abcde"
    ]


# --- bytes


def test_offsets_count_bytes_whatever_stands_before() -> None:
    source = "# — naïve café ✓ 𝄞\ndef total():\n    return '✓'\n# ü\ndef rest():\n    pass\n"
    assert contents("m.py", source) == ["def total():\n    return '✓'", "def rest():\n    pass"]


def test_an_id_is_made_of_the_first_hundred_bytes_not_characters() -> None:
    (chunk,) = chunks("x.txt", "é" * 120)
    assert chunk.chunk_id == "727005dc7cd2cfdc"
    assert chunk.chunk_id == hashlib.sha256(b"x.txt:1:1:" + "é".encode() * 50).hexdigest()[:16]


def test_an_id_may_cut_a_character_in_two() -> None:
    content = b"a" + "é".encode() * 50
    expected = hashlib.sha256(b"x.txt:1:1:a" + "é".encode() * 49 + b"\xc3").hexdigest()[:16]
    assert chunk_id("x.txt", 1, 1, content) == expected


def test_an_id_depends_on_path_lines_and_beginning_only() -> None:
    base = chunk_id("a.py", 1, 2, b"x" * 100)
    assert base == chunk_id("a.py", 1, 2, b"x" * 100 + b"tail")
    others = [
        chunk_id("b.py", 1, 2, b"x" * 100),
        chunk_id("a.py", 2, 2, b"x" * 100),
        chunk_id("a.py", 1, 3, b"x" * 100),
        chunk_id("a.py", 1, 2, b"x" * 99 + b"y"),
    ]
    assert len({base, *others}) == 5


def test_the_path_of_an_id_is_utf_8() -> None:
    expected = hashlib.sha256("é/ü.py:3:4:".encode() + b"x").hexdigest()[:16]
    assert chunk_id("é/ü.py", 3, 4, b"x") == expected


def test_carriage_returns_stay_in_content_and_id() -> None:
    (chunk,) = chunks("w.py", b"def f():\r\n    return 1\r\n")
    assert chunk.content == b"def f():\r\n    return 1"
    assert chunk.chunk_id == "e80b167c835485a6"
    assert (chunk.start_line, chunk.end_line) == (1, 2)


def test_a_nul_byte_between_two_functions_hides_neither() -> None:
    assert contents("m.py", "def f():\n    pass\n\0\ndef g():\n    pass\n") == [
        "def f():\n    pass",
        "def g():\n    pass",
    ]


@pytest.mark.parametrize(("n_bytes", "n_tokens"), [(9, 2), (11, 2), (12, 3), (15, 3), (16, 4)])
def test_tokens_are_a_quarter_of_the_bytes(n_bytes: int, n_tokens: int) -> None:
    (chunk,) = chunks("m.c", "int f(){" + " " * (n_bytes - 9) + "}\n")
    assert (len(chunk.content), chunk.token_count) == (n_bytes, n_tokens)


def test_the_file_and_its_chunks_know_their_path() -> None:
    file = chunk_file("dir/m.py", "# é\ndef f(): pass\n".encode())
    assert (file.path, len(file.text)) == ("dir/m.py", 19)
    assert [chunk.file_path for chunk in chunks("dir/m.py", file.text)] == ["dir/m.py"]


# --- files without functions


@pytest.mark.parametrize(
    ("source", "end_line"),
    [("", 1), ("x", 1), ("x\n", 2), ("x\ny", 2), ("\n\n", 3), ("a\r\nb\r\n", 3), ("a\rb\u2028c\f", 1)],
)
@pytest.mark.parametrize(
    ("path", "language"), [("m.txt", "plaintext"), ("m.py", "python"), (".py", "plaintext")]
)
def test_a_file_without_functions_is_one_module_of_all_its_lines(
    path: str, language: str, source: str, end_line: int
) -> None:
    (chunk,) = chunks(path, source)
    assert (chunk.chunk_type, chunk.kind, chunk.language) == ("module", "module", language)
    assert (chunk.start_line, chunk.end_line) == (1, end_line)
    assert chunk.content == source.encode()
    assert chunk.token_count == max(1, len(source.encode()) // 4)
    assert chunk.chunk_id == chunk_id(path, 1, end_line, source.encode())


def test_plain_text_is_never_parsed() -> None:
    assert outline("m.txt", "def f():\n    pass\n") == [("module", "module", 1, 3)]


# --- broken and extreme input


def test_functions_around_broken_syntax_are_found() -> None:
    source = (
        "def f():\n    return 1\n\ndef (\n\nclass K:\n    def m(self:\n        pass\n\ndef g():\n    pass\n"
    )
    texts = contents("m.py", source)
    assert texts[0] == "def f():\n    return 1"
    assert texts[-1] == "def g():\n    pass"


def test_functions_inside_an_error_node_are_found() -> None:
    assert outline("m.c", "int f(void) {\n  return (1;\n}\n}}}\nint g(void) { return 2; }\n") == [
        ("function", "function_definition", 1, 3),
        ("function", "function_definition", 5, 5),
    ]


def preorder(path: str, source: str) -> list[tuple[str, bytes]]:
    """Kind and text of the chunks, by walking the whole tree: the rule word by word."""
    from tree_sitter import Parser

    pack = language_pack(path)
    assert pack is not None
    kinds = {*pack.functions, *pack.classes}
    encoded = source.encode()
    tree = Parser(grammars.load_language(pack)).parse(encoded)
    nodes = (node for node in _walk(tree.root_node) if node.is_named and node.type in kinds)
    return [(node.type, encoded[node.start_byte : node.end_byte]) for node in nodes] or [("module", encoded)]


def _walk(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


FRAGMENTS = {
    "m.py": ["def f(", "):", "\n    ", "\n", "class K:", "pass", "@d\n", "(", ")", "lambda: 0", "é", '"""'],
    "m.ts": [
        "function f",
        "()",
        "{",
        "}",
        "=>",
        "class K",
        "enum E",
        "interface I",
        ";",
        "(",
        "`",
        "é",
        "\n",
    ],
    "m.rb": ["class K", "module M", "def m", "def self.s", "end", "\n", "class", "do |x|", "{", "}", "<<A\n"],
    "m.rs": ["fn f()", "{", "}", "struct S", "impl S", "trait T", "union U", ";", "<'a>", 'r#"', "\n"],
    "m.c": ["int f(void)", "{", "}", "struct S", "union U", "enum E", ";", "(", ")", "#if 1\n", "\n#endif\n"],
}


SOURCES = st.sampled_from(sorted(FRAGMENTS)).flatmap(
    lambda path: st.tuples(
        st.just(path), st.lists(st.sampled_from(FRAGMENTS[path]), max_size=25).map(" ".join)
    )
)


@pytest.mark.parametrize("many_bytes", [0, 10**9], ids=["by a query", "by walking"])
@settings(deadline=None, max_examples=150)
@given(SOURCES)
def test_any_tree_gives_its_named_nodes_in_pre_order(
    many_bytes: int, path_and_source: tuple[str, str]
) -> None:
    path, source = path_and_source
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grammars, "_MANY_BYTES", many_bytes)
        patch.setattr(treesitter, "load_grammar", grammars.Grammar)  # one that has seen no text yet
        found = [(chunk.kind, chunk.content) for chunk in chunks(path, source)]
    assert found == preorder(path, source)


SUITE = "      import i\n      def f(): pass\n      class K: from m import n\n"
COMPOUND = (
    "if x:\n{}elif y:\n{}else:\n{}",
    "if x: import a; from b import c\nelse: import d\n",
    "for i in x:\n{}else:\n{}",
    "while x:\n{}else:\n{}",
    "try:\n{}except E:\n{}else:\n{}finally:\n{}",
    "try:\n{}except* E:\n{}",
    "with x as y, z:\n{}",
    "async def a():\n  async with x:\n{}  async for y in z:\n{}",
    "@d\n@e(1)\nasync def f(x=lambda: 0):\n{}",
    "@d\nclass K(B):\n{}",
    "match x:\n  case 1:\n{}  case _ if y:\n{}",
    "x = [lambda: 0 for i in (yield)]; import a\nclass K: import b\n",
)


@pytest.mark.parametrize("statement", COMPOUND)
def test_python_has_definitions_and_imports_in_every_statement_that_holds_others(statement: str) -> None:
    source = statement.replace("{}", SUITE)
    found = [(chunk.kind, chunk.content) for chunk in chunks("m.py", source)]
    assert found == preorder("m.py", source)
    imported = re.findall(r"\b(?:from|import) (\w)", re.sub(r"(from \w) import \w", r"\1", source))
    assert chunk_file("m.py", source.encode()).imports == tuple(dict.fromkeys(imported))


def test_a_hundred_kilobytes_into_a_language_imports_are_found_as_in_its_first_lines() -> None:
    grammars.load_grammar.cache_clear()
    source = b"import x from 'a'\nfunction f() {}\nimport 'b'\n"
    first = chunk_file("m.js", source)
    assert first.imports == ("a", "b")
    chunk_file("long.js", b"x = 1\n" * 20_000)  # from here on a query finds the nodes
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(treesitter, "_walk_nodes")
        assert chunk_file("m.js", source) == first


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(["m.py", "m.js", "m.ts", "m.rb", "m.rs", "m.c", "m.txt"]), st.text(max_size=60))
def test_no_text_is_too_odd_to_chunk(path: str, source: str) -> None:
    assert len(chunks(path, source)) >= 1


def test_five_thousand_parentheses_are_read() -> None:
    source = "def f():\n    return " + "(" * 5000 + "1" + ")" * 5000 + "\ndef g(): pass\n"
    assert outline("m.py", source) == [
        ("function", "function_definition", 1, 2),
        ("function", "function_definition", 3, 3),
    ]


def test_an_initialiser_of_fifteen_thousand_items_is_read() -> None:
    source = "int f(void) { return 0; }\nint a[] = {" + "1," * 15_000 + "1};\nint g(void) { return 0; }\n"
    assert outline("m.c", source) == [
        ("function", "function_definition", 1, 1),
        ("function", "function_definition", 3, 3),
    ]


def test_twelve_hundred_nested_functions_are_read() -> None:
    source = "".join(" " * depth + f"def f{depth}():\n" for depth in range(1200)) + " " * 1200 + "pass\n"
    # The grammar forgets indentations beyond some hundreds; what is left of the tree is read all the same.
    found = [(chunk.kind, chunk.content) for chunk in chunks("m.py", source)]
    assert found == preorder("m.py", source)
    assert len(found) > 500


def test_functions_ten_thousand_deep_are_found() -> None:
    assert contents("m.js", "(" * 10_000 + "x => 1" + ")" * 10_000) == ["x => 1"]
    assert contents("m.js", "x=>" * 1_500 + "1") == ["x=>" * n + "1" for n in range(1_500, 0, -1)]


def test_functions_seventy_thousand_deep_are_found() -> None:
    assert contents("m.js", "(" * 70_000 + "x => 1" + ")" * 70_000) == ["x => 1"]


def test_a_tree_of_a_hundred_thousand_nodes_is_read_as_a_small_one() -> None:
    source = (
        "import a\nclass K:\n    def m(self): pass\nx = [" + "1," * 50_000 + "]\nimport b\ndef f(): pass\n"
    )
    assert outline("m.py", source) == [
        ("class", "class_definition", 2, 3),
        ("function", "function_definition", 3, 3),
        ("function", "function_definition", 6, 6),
    ]
    assert chunk_file("m.py", source.encode()).imports == ("a", "b")
    assert outline("m.rb", "class A\nend\nx = [" + "1," * 50_000 + "]\n") == [("class", "class", 1, 2)]


# --- grammars that do not fit


def python_pack(**changes: object) -> LanguagePack:
    return PACKS[0]._replace(**changes)  # type: ignore[arg-type]


def use_pack(monkeypatch: pytest.MonkeyPatch, pack: LanguagePack) -> None:
    monkeypatch.setattr(treesitter, "language_pack", lambda _: pack)


def refusal(source: str = "def f(): pass\n") -> str:
    with pytest.raises(GrammarError) as caught:
        chunk_file("m.py", source.encode())
    assert caught.value.__cause__ is not None
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_unknown_grammar_is_a_hard_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    use_pack(monkeypatch, python_pack(grammar_package="tree_sitter_klingon"))
    assert "grammar 'tree-sitter-klingon' cannot be loaded" in refusal()


def test_a_grammar_that_fails_to_load_is_a_hard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def incompatible(binding: object) -> object:
        raise ValueError("Incompatible Language version 99")

    use_pack(monkeypatch, python_pack(extensions=(".py", ".other")))  # not the pack that is cached
    monkeypatch.setattr("tree_sitter.Language", incompatible)
    message = refusal()
    reason = "ValueError: Incompatible Language version 99"
    assert f"grammar 'tree-sitter-python' cannot be loaded ({reason})" in message
    assert "reinstall" in message


def hide_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the packages of the grammars keep their modules elsewhere."""
    monkeypatch.setattr("cce.retrieval.chunking.grammars._load_binding", lambda package: None)


def test_grammars_that_are_kept_elsewhere_are_asked_of_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_bindings(monkeypatch)
    use_pack(monkeypatch, python_pack(extensions=(".py", ".elsewhere")))
    assert outline("m.py", "def f(): pass\n") == [("function", "function_definition", 1, 1)]


@pytest.mark.parametrize("pack", PACKS, ids=[pack.name for pack in PACKS])
def test_a_grammar_is_the_one_that_its_package_would_give(pack: LanguagePack) -> None:
    from tree_sitter import Language

    package = import_module(pack.grammar_package)
    assert grammars._load_binding(pack.grammar_package) is not None
    assert grammars.load_language(pack) == Language(getattr(package, pack.grammar_function)())


@pytest.mark.process
def test_a_small_corpus_imports_no_grammar_that_it_does_not_need() -> None:
    script = (
        "import sys; from cce.retrieval.chunking.treesitter import chunk_file;"
        "chunk_file('m.py', b'def f(): pass');"
        "print([name for name in sys.modules if name.startswith('tree_sitter_')])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout in ("[]\n", "['tree_sitter_python._binding']\n")


def test_another_interface_of_the_grammars_is_a_hard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_bindings(monkeypatch)
    use_pack(monkeypatch, python_pack(extensions=(".py", ".other")))
    monkeypatch.delattr("tree_sitter_python.language")
    assert "AttributeError" in refusal()


@pytest.mark.parametrize("field", ["functions", "classes", "imports"])
def test_a_node_type_that_the_grammar_lacks_is_a_hard_error_that_names_it(
    field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_pack(monkeypatch, python_pack(**{field: ("no_such_node",)}))
    message = refusal()
    assert "grammar 'tree-sitter-python'" in message
    assert "no_such_node" in message


def test_a_failure_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    pack = python_pack(extensions=(".py", ".later"))
    with monkeypatch.context() as broken:
        use_pack(broken, pack)
        broken.delattr("tree_sitter.Parser")
        refusal()
    use_pack(monkeypatch, pack)
    assert outline("m.py", "def f(): pass\n") == [("function", "function_definition", 1, 1)]


def test_plain_text_needs_no_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("tree_sitter.Parser")
    assert outline("m.txt", "x") == [("module", "module", 1, 1)]
