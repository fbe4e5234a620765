"""Whatever ranks, opened by its name: every ranking enters through here.

The message of a plug-in's fault has its name, its package and what it did. A fault of a built-in backend
stays what it is, a bug of this package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.domain.systems import Variant
from cce.errors import RankingError
from cce.quoting import on_one_line
from cce.registry import ask_plug_in
from cce.retrieval.backends.catalog import BACKENDS
from cce.retrieval.backends.checking import check_ranking
from cce.retrieval.backends.contract import Backend
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.catalogue import Catalogue, ResolvedSystem
from cce.retrieval.systems.options import require_options

if TYPE_CHECKING:
    from cce.domain.ranking_account import RankingAccount
    from cce.retrieval.corpus.scopes import ScopedFiles
    from cce.retrieval.rerank.stage import Stage, Staged
    from cce.retrieval.rerank.stages import Stages

_T = TypeVar("_T")


@runtime_checkable
class ExplainingBackend(Protocol):
    """A backend that can account for what `rank` answers, hit by hit."""

    def explain(self, query: Query, k: int) -> RankingAccount:
        """The same hits as `rank` gives, each with what its score is made of."""


class CheckedBackend:
    """A backend with its options over one index, whose rankings are held to their laws."""

    def __init__(self, name: str, options: Mapping[str, Any], place: str, index: Index) -> None:
        """Raises UsageError for an option that the backend does not have, RankingError if it fails.

        place  where the options were written, for messages
        """
        factory = BACKENDS.load(name)
        self._is_plug_in = BACKENDS.package_of(name) is not None
        self._culprit = BACKENDS.spell(name)
        self._index = index
        require_options(factory, options, place, n_given=1)
        self._backend: Backend = self._ask(factory, index, **options)

    def ranking(self, query: Query, k: int) -> Ranking:
        """At most k hits, best first; the same query is ranked once for each k."""
        return query.once(self._rank, k)

    def _rank(self, query: Query, k: int) -> Ranking:
        return check_ranking(self._ask(self._backend.rank, query, k), query, k, self._index, self._culprit)

    def account(self, query: Query, k: int) -> RankingAccount | None:
        """The same hits, accounted for; None from a backend that cannot."""
        if not isinstance(self._backend, ExplainingBackend):
            return None
        account = self._ask(self._backend.explain, query, k)
        check_ranking([hit.hit for hit in account.hits], query, k, self._index, self._culprit)
        return account

    def _ask(self, call: Callable[..., _T], *arguments: object, **options: object) -> _T:
        # What a built-in backend raises is a bug of this package, and ends as one.
        if not self._is_plug_in:
            return call(*arguments, **options)
        return ask_plug_in(self._culprit, RankingError, partial(call, **options), *arguments)


class Backends:
    """The backends of a run over one index, each opened once: systems with one backend share its rankings."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._opened: dict[str, CheckedBackend] = {}

    def open(self, variant: Variant, place: str) -> CheckedBackend:
        """What `variant` names; as for CheckedBackend."""
        key = f"{variant.backend} {sorted(variant.options.items())}"
        if key not in self._opened:
            opened = CheckedBackend(variant.backend, variant.options, place, self._index)
            self._opened[key] = opened
        return self._opened[key]


class System:
    """A backend, or a variant of one, over one index, under the name that reports give it."""

    def __init__(
        self,
        resolved: ResolvedSystem,
        index: Index,
        stages: Stages | None = None,
        backends: Backends | None = None,
    ) -> None:
        """Raises UsageError for an option that its backend does not have, RankingError if it fails.

        stages, backends  those of the run; None for its own
        """
        table = resolved.table
        assert isinstance(table.source, Variant)  # noqa: S101 - all others are opened by `external`
        self.name = table.name
        self.table = table
        self._index = index
        self.scopes = resolved.scopes
        self._scopes: ScopedFiles | None = None
        if resolved.scopes:
            from cce.retrieval.corpus.scopes import ScopedFiles  # few runs have a scope

            self._scopes = ScopedFiles(resolved.scopes)
        place = f"{on_one_line(table.origin)}: system.{table.name}.options"
        self._backend = (backends or Backends(index)).open(table.source, place)
        self.stage: Stage | None = None
        if table.stage.is_active:
            from cce.retrieval.systems.second_stages import open_stage  # few systems have one

            self.stage = open_stage(table, index, stages)

    @cached_property
    def allowed(self) -> frozenset[int] | None:
        """Positions of the chunks that its own scopes allow; None without a scope."""
        return None if self._scopes is None else self._scopes.positions(self._index.positions_by_file)

    def notices(self) -> list[str]:
        """One line for each of its scopes with patterns that match no file."""
        paths = self._index.positions_by_file.keys()
        return [] if self._scopes is None else self._scopes.notices(paths)

    def rank(self, query: Query, k: int) -> Ranking:
        """At most k hits, best first, that keep the laws of rankings; raises RankingError.

        `query` is limited further by the system's own scope, before ranking or after it.
        """
        if self.stage is not None:
            return self.staged(query, k).ranking
        limited = query.within(self.allowed)
        n = self._n_final(k)
        if self.table.filter == "after":
            return self._drop(self._backend.ranking(query.unlimited, n), limited)
        return self._backend.ranking(limited, n)

    def staged(self, query: Query, k: int) -> Staged:
        """As `rank`, for a system with a second stage, with what that did."""
        assert self.stage is not None  # noqa: S101 - whoever asks has looked
        limited = query.within(self.allowed)
        asked = query.unlimited if self.table.filter == "after" else limited
        first = self._backend.ranking(asked, self.stage.n_asked(k))
        staged = self.stage.rerank(query.text, first, self._n_final(k))
        return staged if asked is limited else self._kept(staged, limited)

    def _n_final(self, k: int) -> int:
        return k if self.table.final is None else min(k, self.table.final)

    def _kept(self, staged: Staged, limited: Query) -> Staged:
        """`staged` without what a filter behind both stages drops."""
        ranking = self._drop(staged.ranking, limited)
        kept = {id(hit) for hit in ranking}
        placed = zip(staged.ranking, staged.placed, strict=True)
        return staged._replace(ranking=ranking, placed=tuple(at for hit, at in placed if id(hit) in kept))

    def _drop(self, ranking: Ranking, limited: Query) -> Ranking:
        positions = self._index.chunks.positions_of([hit.chunk for hit in ranking])
        return tuple(
            hit
            for hit, position in zip(ranking, positions, strict=True)
            if position is not None and limited.allows(position)
        )

    def search(self, query: Query, k: int, *, use_graph: bool) -> Ranking:
        """As `rank`; hybrid adds, behind the k hits and with `use_graph`, what the import graph suggests."""
        if self.name != "hybrid":  # a name that no table may take
            return self.rank(query, k)
        from cce.retrieval.backends.hybrid import HybridBackend

        return HybridBackend(self._index).search(query, k, use_graph=use_graph)

    def explain(self, query: Query, k: int) -> RankingAccount:
        """The hits of `rank`, accounted for as far as the backend can."""
        if self.stage is not None:
            return self.stage.account(query.text, self.staged(query, k))
        from cce.domain.ranking_account import AccountedHit, RankingAccount  # few runs explain

        is_plain = self.table.filter == "before" and self.table.final is None
        account = self._backend.account(query.within(self.allowed), k) if is_plain else None
        if account is not None:
            return account
        ranked = enumerate(self.rank(query, k), start=1)
        return RankingAccount(tuple(AccountedHit(rank, hit) for rank, hit in ranked))


def open_system(name: str, index: Index) -> System:
    """The backend called `name`, ready to rank the chunks of `index`; raises CceError."""
    return System(Catalogue().resolve(name), index)
