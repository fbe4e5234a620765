"""Grammars: what tree-sitter needs to parse a language and to find the nodes of its pack.

A grammar that cannot be loaded is always an error, since silently indexing whole files would change
every figure.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING

from cce.errors import GrammarError
from cce.retrieval.chunking.limits import TooSlowError, limit_in_microseconds

if TYPE_CHECKING:
    from types import ModuleType

    from tree_sitter import Language, Query, Tree

    from cce.retrieval.chunking.languages import LanguagePack

CHUNK_PATTERN = 0
"""Position of the pattern for chunks in a grammar's query; the other one is for imports."""

# Asking a query takes less time than walking a tree, but compiling it takes 1 to 5 ms: as long as walking the
# trees of about this much text.
_MANY_BYTES = 100_000


class Grammar:
    """A parser, and the node types that matter."""

    def __init__(self, pack: LanguagePack) -> None:
        """Raises what tree-sitter raises, and ValueError for a node type that the grammar does not have."""
        from tree_sitter import Parser

        self._language = load_language(pack)
        self._pack = pack
        for kind in (*pack.functions, *pack.classes, *pack.imports, *pack.holders):
            if self._language.id_for_node_kind(kind, True) is None:
                raise ValueError(f"no node type {kind}")
        self._parser = Parser(self._language)
        self._limit = 0
        self.chunk_types = dict.fromkeys(pack.functions, "function") | dict.fromkeys(pack.classes, "class")
        self.import_types = frozenset(pack.imports)
        self.holders = frozenset(pack.holders)
        self._n_bytes = 0
        self._query: Query | None = None

    def parse(self, text: bytes) -> Tree:
        """The tree of `text`. Raises TooSlowError where `limits` sets a limit."""
        self._set_limit(limit_in_microseconds())
        try:
            return self._parser.parse(text)
        except ValueError as exc:
            if not self._limit:
                raise
            self._parser.reset()  # or it would go on with this text when it is given the next one
            raise TooSlowError from exc

    def _set_limit(self, microseconds: int) -> None:
        if microseconds != self._limit:
            with warnings.catch_warnings():
                # Deprecated for a callback that this version calls for no text that is given as bytes.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._parser.timeout_micros = microseconds  # type: ignore[misc]  # its stub is wrong
            self._limit = microseconds

    def query(self, n_bytes: int) -> Query | None:
        """The query for chunks and imports, to be asked of `n_bytes` more; None while it would not pay."""
        self._n_bytes += n_bytes
        if self._query is None and self._n_bytes >= _MANY_BYTES:
            from tree_sitter import Query

            if not self.chunk_types:  # then the first pattern would be the one for imports
                return None
            groups = ([*self._pack.functions, *self._pack.classes], self._pack.imports)
            patterns = "\n".join(f"{_alternation(kinds)} @node" for kinds in groups if kinds)
            self._query = Query(self._language, patterns)
        return self._query


@cache
def load_grammar(pack: LanguagePack) -> Grammar:
    """The grammar of `pack`, made once per process. Raises GrammarError."""
    try:
        return Grammar(pack)
    except Exception as exc:
        reason = " ".join(f"{type(exc).__name__}: {exc}".split())
        package = pack.grammar_package.replace("_", "-")
        raise GrammarError(
            f"grammar {package!r} cannot be loaded ({reason}); "
            f"reinstall cce-relevance: tree-sitter and {package} must have the pinned versions"
        ) from exc


def load_language(pack: LanguagePack) -> Language:
    """What the runtime parses the files of `pack` with. Raises ImportError, AttributeError and ValueError."""
    from tree_sitter import Language

    binding = _load_binding(pack.grammar_package) or import_module(pack.grammar_package)
    return Language(getattr(binding, pack.grammar_function)())


def _load_binding(package: str) -> ModuleType | None:
    """The extension module of a grammar package; None where only the package itself knows how to load it.

    Importing the package would import `importlib.resources` too, which takes longer than all else that a
    small corpus needs of it. Its version is pinned, so the name of its extension module is known.
    """
    found = find_spec(package)  # does not import it
    if found is None:
        return None
    spec = PathFinder.find_spec(f"{package}._binding", found.submodule_search_locations)
    if spec is None or spec.loader is None:
        return None
    try:
        binding = module_from_spec(spec)
        spec.loader.exec_module(binding)
    except ImportError:
        return None
    return binding


def _alternation(node_types: list[str] | tuple[str, ...]) -> str:
    return "[" + " ".join(f"({node_type})" for node_type in node_types) + "]"
