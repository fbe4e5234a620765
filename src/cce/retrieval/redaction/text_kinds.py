"""Kinds of text by path: whether a bare word behind `=` or `:` is a literal there."""

from __future__ import annotations

from enum import Enum


class TextKind(Enum):
    """Settings have literals only, code has expressions; other text, such as prose, may have both."""

    SETTINGS = 1
    CODE = 2
    OTHER = 3


_SETTINGS_TEXT = """
    yml yaml env ini cfg conf cnf config properties toml tf tfvars hcl editorconfig npmrc pypirc netrc
    example sample template dist
"""
_CODE_TEXT = """
    py pyi pyx js jsx mjs cjs ts tsx mts cts rb rs c h cc cpp cxx hpp hh go java kt kts cs php swift
    scala lua pl pm dart ex exs erl hs ml clj m mm vue svelte groovy gradle r jl zig nim sol ipynb css
    scss less html htm xhtml erb ejs hbs jinja j2 json map
"""

_SETTINGS = frozenset(_SETTINGS_TEXT.split())
_CODE = frozenset(_CODE_TEXT.split())


def kind_of(path: str) -> TextKind:
    """The kind of the text in the file `path`."""
    name = path.rpartition("/")[2].lower()
    extension = name.rpartition(".")[2]
    if extension in _SETTINGS or name.startswith(".env"):
        return TextKind.SETTINGS
    return TextKind.CODE if extension in _CODE and "." in name else TextKind.OTHER
