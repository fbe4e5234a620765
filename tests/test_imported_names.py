from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tree_sitter import Node, Parser

from cce.retrieval.chunking.grammars import load_language
from cce.retrieval.chunking.imports import without_extension
from cce.retrieval.chunking.languages import language_pack
from cce.retrieval.chunking.treesitter import chunk_file


def imports(path: str, source: str) -> list[str]:
    return list(chunk_file(path, source.encode()).imports)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import os", ["os"]),
        ("import os.path", ["os"]),
        ("import a.b as c, d.e, f", ["a", "d", "f"]),
        ("import numpy as np", ["numpy"]),
        ("from x.y import z", ["x"]),
        ("from x import (a, b as c)", ["x"]),
        ("from x import *", ["x"]),
        ("from .rel import q", ["rel"]),
        ("from ..up.er import t", ["up"]),
        ("from . import s", []),
        ("from .... import s", []),
        ("from __future__ import annotations", []),  # a statement of its own kind
        ("def f():\n    import inner", ["inner"]),
        ("try:\n    import a\nexcept ImportError:\n    import b", ["a", "b"]),
        ("importlib.import_module('x')", []),
        ("import", []),
        ("from", []),
        ("import é.b", ["é"]),
    ],
)
def test_python_imports_give_the_first_part_of_the_module(source: str, names: list[str]) -> None:
    assert imports("m.py", source + "\n") == names


SCRIPT_IMPORTS = [
    ("import a from 'react';", ["react"]),
    ('import {b} from "./util/strings";', ["util"]),
    ("import '../x';", ["x"]),
    ("import '../../x/y';", ["x"]),
    ("import * as c from '@scope/pkg/deep';", ["@scope/pkg"]),
    ("import d from '@scope';", ["@scope"]),
    ("import e from './x.js';", ["x.js"]),
    ("import g from '/abs/x';", ["abs"]),
    ("import h from 'a//b';", ["a"]),
    ("import '';", []),
    ("import './';", []),
    ("import '..';", []),
    (r"import f from 'a\u0041b';", ["b"]),  # the last fragment, behind the escape
    ("export {g} from 'exported';", []),
    ("const r = require('required');", []),
    ("import('dynamic');", []),
    ("import x from", []),
    ("import i from 'a';\nimport j from 'b';\nimport k from 'a/c';", ["a", "b"]),
]


@pytest.mark.parametrize("path", ["m.js", "m.ts"])
@pytest.mark.parametrize(("source", "names"), SCRIPT_IMPORTS)
def test_script_imports_give_the_first_part_that_says_something(
    path: str, source: str, names: list[str]
) -> None:
    assert imports(path, source + "\n") == names


@pytest.mark.parametrize(
    ("source", "names"), [("import type {X} from './t/y';", ["t"]), ("import a = require('b');", [])]
)
def test_typescript_has_imports_of_its_own(source: str, names: list[str]) -> None:
    assert imports("m.tsx", source) == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("require 'json'", ["json"]),
        ('require "json"', ["json"]),
        ("require('net/http')", ["http"]),
        ("require_relative 'lib/foo.rb'", ["foo"]),
        ("require_relative '../foo'", ["foo"]),
        ("require 'a.b/c.d.e'", ["c.d"]),
        ("require '.hidden'", [".hidden"]),
        ("require 'dir/'", []),
        ("require ''", []),
        ("require name", []),
        ("require", []),
        ("load 'x'", []),
        ("Kernel.require 'x'", []),
        ("require File.join('first', 'second')", ["first"]),
        ('require "x#{y}z"', ["x"]),
        ("def f\n  require 'inner' if true\nend", ["inner"]),
        ("require 'a'\nrequire 'b'\nrequire_relative 'x/a'", ["a", "b"]),
    ],
)
def test_ruby_requires_give_the_last_part_without_extension(source: str, names: list[str]) -> None:
    assert imports("m.rb", source + "\n") == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("use std;", ["std"]),
        ("use std::io;", ["std"]),
        ("use std::{io, fs::File};", ["std"]),
        ("use crate::a::{self, b::{c, d}};", ["crate"]),
        ("use super::x::*;", ["super"]),
        ("pub use a::b;", ["a"]),
        ("pub(crate) use q::{w};", ["q"]),
        ("use a as b;", ["a"]),
        ("use a_1;", ["a_1"]),
        ("use r#try::x;", ["r"]),  # cut at the #
        ("use\n    spread::x;", ["spread"]),
        ("use {a::b, c};", []),
        ("use ::std::io;", []),
        ("use *;", []),
        ("extern crate foo;", []),
        ("mod a;", []),
        ("fn f() { use inner::x; }", ["inner"]),
        ("use a::b; use c::d; use a::e;", ["a", "c"]),
    ],
)
def test_rust_uses_give_the_first_part(source: str, names: list[str]) -> None:
    assert imports("m.rs", source + "\n") == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("#include <stdio.h>", ["stdio"]),
        ("#include <sys/x.h>", ["x"]),
        ('#include "a/b.h"', ["b"]),
        ('#include "../b.h"', ["b"]),
        ('#include "a.b.c"', ["a.b"]),
        ('#include "x"', ["x"]),
        ('#include ".h"', [".h"]),
        ('#include "a/"', []),
        ('#include ""', []),
        ("#include MACRO", []),
        ("#include", []),
        ("#ifdef A\n#include <a.h>\n#endif\n#include <b.h>\n#include <sys/a.h>", ["a", "b"]),
    ],
)
def test_c_includes_give_the_last_part_without_extension(source: str, names: list[str]) -> None:
    assert imports("m.c", source + "\n") == names
    assert imports("m.h", source + "\n") == names


def test_names_keep_their_first_place() -> None:
    assert imports("m.py", "import b\nimport a\nimport b.c\nfrom a import x\nimport c\n") == ["b", "a", "c"]


def test_plain_text_imports_nothing() -> None:
    assert imports("m.txt", "import os\n") == []


def test_imports_survive_broken_syntax_around_them() -> None:
    assert imports("m.py", "import a\ndef (:\nimport b\n") == ["a", "b"]


def test_nested_requires_cost_what_their_text_costs() -> None:
    # 2,000 levels already take ten seconds; this many should take a tenth of one.
    assert imports("m.rb", "require(" * 20_000 + "1" + ")" * 20_000) == []


REQUIRES = [
    "require(",
    "require ",
    "require_relative(",
    "f(",
    ")",
    "'a'",
    "'b/c.rb'",
    "''",
    ", ",
    "x",
    "[",
    "]",
    "\n",
]


@example("require(require(require(, 'a'))require(")
@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from(REQUIRES), max_size=20).map("".join))
def test_nested_requires_each_give_the_first_string_in_them(source: str) -> None:
    names: list[str] = []
    pack = language_pack("m.rb")
    assert pack is not None
    for call in preorder(Parser(load_language(pack)).parse(source.encode()).root_node):
        if call.type == "call" and call.children[0].text in (b"require", b"require_relative"):
            assert call.children[0].type == "identifier"
            lists = [child for child in call.children if child.type == "argument_list"]
            strings = [node for node in preorder(lists[0]) if node.type == "string_content"] if lists else []
            names += [(strings[0].text or b"").decode().split("/")[-1].split(".")[0] for _ in strings[:1]]
    assert imports("m.rb", source) == list(dict.fromkeys(names))


def preorder(root: Node) -> list[Node]:
    nodes, waiting = [], [root]
    while waiting:
        nodes.append(waiting.pop())
        waiting.extend(reversed(nodes[-1].children))
    return nodes


@pytest.mark.parametrize(
    ("base_name", "stem"),
    [("a.py", "a"), ("a.tar.gz", "a.tar"), ("a", "a"), (".h", ".h"), (".a.h", ".a"), ("a.", "a"), ("", "")],
)
def test_an_extension_is_cut_at_the_last_dot_unless_that_comes_first(base_name: str, stem: str) -> None:
    assert without_extension(base_name) == stem
