"""Language packs: what each language calls a function, a class and an import. One row per language."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from cce.retrieval.chunking.imports import (
    ImportRule,
    c_imports,
    python_imports,
    ruby_imports,
    rust_imports,
    script_imports,
)


class LanguagePack(NamedTuple):
    """`extensions` are lower-cased with their dot, the rest are node types of the grammar.

    The grammar is what `grammar_function` of the module `grammar_package` returns.
    `import_rule` makes names of the nodes of `imports`; a language may have neither.
    Where the syntax is sound, functions, classes and imports are children of `holders` only, which are
    themselves children of holders. A language that has them anywhere has no holders.
    """

    name: str
    extensions: tuple[str, ...]
    grammar_package: str
    grammar_function: str
    functions: tuple[str, ...]
    classes: tuple[str, ...]
    imports: tuple[str, ...] = ()
    import_rule: ImportRule | None = None
    holders: tuple[str, ...] = ()


PLAIN_TEXT = "plaintext"
"""The language of files that have no pack."""

_SCRIPT_FUNCTIONS = ("function_declaration", "method_definition", "arrow_function", "function_expression")

PACKS = (
    LanguagePack(
        "python",
        (".py",),
        "tree_sitter_python",
        "language",
        ("function_definition",),
        ("class_definition",),
        ("import_statement", "import_from_statement"),
        python_imports,
        # The statements that other statements stand in: an expression holds none.
        (
            *("module", "block", "decorated_definition", "function_definition", "class_definition"),
            *("if_statement", "elif_clause", "else_clause", "for_statement", "while_statement"),
            *("try_statement", "except_clause", "finally_clause"),
            *("with_statement", "match_statement", "case_clause"),
        ),
    ),
    LanguagePack(
        "javascript",
        (".js", ".jsx", ".mjs", ".cjs"),
        "tree_sitter_javascript",
        "language",
        _SCRIPT_FUNCTIONS,
        ("class_declaration",),
        ("import_statement",),
        script_imports,
    ),
    LanguagePack(
        "ruby",
        (".rb",),
        "tree_sitter_ruby",
        "language",
        ("method", "singleton_method"),
        ("class", "module"),
        ("call",),
        ruby_imports,
    ),
    LanguagePack(
        "rust",
        (".rs",),
        "tree_sitter_rust",
        "language",
        ("function_item",),
        ("struct_item", "enum_item", "trait_item", "impl_item", "union_item"),
        ("use_declaration",),
        rust_imports,
    ),
    LanguagePack(
        "typescript",
        (".ts", ".tsx"),
        "tree_sitter_typescript",
        "language_typescript",
        _SCRIPT_FUNCTIONS,
        ("class_declaration", "interface_declaration", "enum_declaration"),
        ("import_statement",),
        script_imports,
    ),
    LanguagePack(
        "c",
        (".c", ".h"),
        "tree_sitter_c",
        "language",
        ("function_definition",),
        ("struct_specifier", "union_specifier", "enum_specifier"),
        ("preproc_include",),
        c_imports,
    ),
)

CHUNK_KINDS = tuple(
    dict.fromkeys(
        [
            *(("function", kind) for pack in PACKS for kind in pack.functions),
            *(("class", kind) for pack in PACKS for kind in pack.classes),
            ("module", "module"),
        ]
    )
)
"""Every (chunk type, kind) there is, in a fixed order."""

_BY_EXTENSION = {extension: pack for pack in PACKS for extension in pack.extensions}


def language_pack(path: str) -> LanguagePack | None:
    """The pack for a file, by the lower-cased extension of its base name; None for plain text."""
    base = path.rpartition("/")[2]
    dot = base.rfind(".")
    # A name whose only dot is its first character (`.py`) has no extension.
    return _BY_EXTENSION.get(base[dot:].lower()) if dot > 0 else None


@lru_cache(1024)
def language_name(path: str) -> str:
    """What the chunks of a file call its language."""
    pack = language_pack(path)
    return PLAIN_TEXT if pack is None else pack.name
