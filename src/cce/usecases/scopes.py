"""The scopes that the cases of a set name, and what each leaves of an index.

A set and the scopes of a systems file enter; allowed positions and notices leave. A case's own scope and
that of a system both hold: what a system may return for a case lies in each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from cce.domain.case import Case, FixtureSet
from cce.domain.scope import Scope
from cce.errors import FixtureError
from cce.quoting import on_one_line, quoted
from cce.registry import nearest_name
from cce.retrieval.corpus.scopes import ScopedFiles
from cce.retrieval.indexing.index import Index

_NO_SCOPES: Mapping[str, Scope] = MappingProxyType({})


class CaseScopes:
    """The scopes of the cases of one set over one index, each read and matched once."""

    def __init__(
        self,
        fixtures: FixtureSet,
        index: Index | None,
        scopes: Mapping[str, Scope] = _NO_SCOPES,
        path: str | None = None,
    ) -> None:
        """Raises FixtureError for a case that names none of `scopes`, UsageError for a faulty pattern.

        index  None where there is no corpus
        path   the systems file that `scopes` are from; None without one
        """
        self._index = index
        for case in fixtures.cases:
            if case.scope is not None and case.scope not in scopes:
                fault = _unknown_scope(case.scope, scopes, path)
                raise FixtureError(f"{on_one_line(fixtures.path)}:{case.line}: {fault}")
        self._scopes = {case.scope: scopes[case.scope] for case in fixtures.cases if case.scope is not None}
        self._files: dict[tuple[Scope, ...], ScopedFiles] = {}
        self._allowed: dict[tuple[Scope, ...], frozenset[int]] = {}

    def files(self, case: Case, own: ScopedFiles | None = None) -> ScopedFiles | None:
        """The files that `case` and, if given, the `own` scopes of a system allow; None for all files."""
        scopes = () if own is None else own.scopes
        if case.scope is not None:
            scopes = (*scopes, self._scopes[case.scope])
        if not scopes:
            return None
        if scopes not in self._files:
            self._files[scopes] = ScopedFiles(scopes)
        return self._files[scopes]

    def allowed(self, files: ScopedFiles | None) -> frozenset[int] | None:
        """The positions of the chunks of these files; None for all, and where there is no corpus."""
        if files is None or self._index is None:
            return None
        if files.scopes not in self._allowed:
            self._allowed[files.scopes] = files.positions(self._index.positions_by_file)
        return self._allowed[files.scopes]

    def notices(self, own: Iterable[ScopedFiles] = ()) -> tuple[str, ...]:
        """Notices about the patterns of the scopes in use, those of cases and of the systems' `own`."""
        if self._index is None:
            return ()
        scopes = dict.fromkeys((*self._scopes.values(), *(scope for files in own for scope in files.scopes)))
        return tuple(ScopedFiles(tuple(scopes)).notices(self._index.positions_by_file)) if scopes else ()


def _unknown_scope(name: str, scopes: Mapping[str, Scope], path: str | None) -> str:
    fault = f"unknown scope {quoted(name)}"
    if path is None:
        return f"{fault}: scopes are tables [scope.NAME] of a systems file, name it with --systems FILE"
    if not scopes:
        return f"{fault}: {on_one_line(path)} has none, add a table [scope.NAME]"
    nearest = nearest_name(name, tuple(scopes))
    hint = "" if nearest is None else f"; did you mean {quoted(nearest)}?"
    return f"{fault}{hint} ({on_one_line(path)} has {', '.join(scopes)})"
