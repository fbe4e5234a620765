"""Scopes of a run: that of a case and those of a system, as positions, requests and tests of paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cce.domain.case import Case, FixtureSet
from cce.domain.outside import ScopeRequest
from cce.domain.scope import Scope
from cce.errors import UsageError
from cce.measurement.matching.scoping import ScopedCase, scope_case
from cce.quoting import on_one_line, quoted
from cce.retrieval.indexing.index import Index

if TYPE_CHECKING:
    from cce.retrieval.corpus.scopes import ScopedFiles


class CaseScopes:
    """The scopes of a systems file over one index; each combination is read once."""

    def __init__(self, scopes: Mapping[str, Scope], index: Index | None, path: str | None = None) -> None:
        """`path` is the systems file, for messages; `index` is None where there is no corpus."""
        self._scopes = scopes
        self._index = index
        self._path = path
        self._files: dict[tuple[Scope, ...], ScopedFiles] = {}
        self._allowed: dict[tuple[Scope, ...], frozenset[int]] = {}

    def require_known(self, fixtures: FixtureSet) -> None:
        """Raise UsageError for a scope that a case names and nothing defines."""
        for case in fixtures.cases:
            if case.scope is None or case.scope in self._scopes:
                continue
            place = f"{on_one_line(fixtures.path)}:{case.line}"
            if self._path is None:
                way_out = "a systems file defines it, name one with --systems FILE"
                raise UsageError(f"{place}: scope {quoted(case.scope)}: {way_out}")
            from cce.toml_tables import unknown  # it brings in a reader of TOML

            known = unknown("scope", case.scope, self._scopes)
            raise UsageError(f"{place}: {known}; {on_one_line(self._path)} defines them")

    def files(self, case: Case, others: Sequence[Scope] = ()) -> ScopedFiles | None:
        """The files that the case's scope and `others` allow; None without a scope."""
        own = () if case.scope is None else (self._scopes[case.scope],)
        key = tuple(dict.fromkeys((*own, *others)))
        if not key:
            return None
        if key not in self._files:
            from cce.retrieval.corpus.scopes import ScopedFiles  # few runs have a scope

            self._files[key] = ScopedFiles(key)
        return self._files[key]

    def allowed(self, case: Case, others: Sequence[Scope] = ()) -> frozenset[int] | None:
        """Positions of the chunks of those files; None without a scope or a corpus, empty for nothing."""
        files = self.files(case, others)
        if files is None or self._index is None:
            return None
        if files.scopes not in self._allowed:
            self._allowed[files.scopes] = files.positions(self._index.positions_by_file)
        return self._allowed[files.scopes]

    def scoped(self, cases: Sequence[Case], others: Sequence[Scope] = ()) -> tuple[ScopedCase, ...] | None:
        """The cases with the anchors that their scopes and `others` leave; None without any scope."""
        if not others and all(case.scope is None for case in cases):
            return None
        return tuple(
            ScopedCase(case)
            if (files := self.files(case, others)) is None
            else scope_case(case, files.holds, self.allowed(case, others))
            for case in cases
        )

    def request(self, case: Case, others: Sequence[Scope] = ()) -> ScopeRequest | None:
        """The scope as it travels to an outside system; None without one."""
        files = self.files(case, others)
        if files is None:
            return None
        return files.request(None if self._index is None else self._index.positions_by_file.keys())

    def notices(self) -> tuple[str, ...]:
        """Patterns that match no file, of all scopes that were used."""
        if self._index is None:
            return ()
        paths = self._index.positions_by_file.keys()
        lines = (line for files in self._files.values() for line in files.notices(paths))
        return tuple(dict.fromkeys(lines))
