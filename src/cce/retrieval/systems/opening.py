"""Whatever ranks, opened by its name: every ranking enters through here.

The message of a plug-in's fault has its name, its package and what it did. A fault of a built-in backend
stays what it is, a bug of this package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.errors import RankingError
from cce.registry import ask_plug_in
from cce.retrieval.backends.catalog import BACKENDS
from cce.retrieval.backends.checking import check_ranking
from cce.retrieval.backends.contract import Backend
from cce.retrieval.indexing.index import Index

if TYPE_CHECKING:
    from cce.domain.ranking_account import RankingAccount

_T = TypeVar("_T")


@runtime_checkable
class ExplainingBackend(Protocol):
    """A backend that can account for what `rank` answers, hit by hit."""

    def explain(self, query: Query, k: int) -> RankingAccount:
        """The same hits as `rank` gives, each with what its score is made of."""


class System:
    """One backend over one index, under the name that reports give it."""

    def __init__(self, name: str, index: Index) -> None:
        """Raises UsageError for an unknown name, RankingError for a plug-in that cannot be made."""
        self.name = name
        self._index = index
        factory = BACKENDS.load(name)
        self._is_plug_in = BACKENDS.package_of(name) is not None
        self._culprit = BACKENDS.spell(name)
        self._backend: Backend = self._ask(factory, index)

    def rank(self, query: Query, k: int) -> Ranking:
        """At most k hits, best first, that keep the laws of rankings; raises RankingError."""
        return check_ranking(self._ask(self._backend.rank, query, k), query, k, self._index, self._culprit)

    def search(self, query: Query, k: int, *, use_graph: bool) -> Ranking:
        """As `rank`; hybrid adds, behind the k hits and with `use_graph`, what the import graph suggests."""
        if self.name != "hybrid":
            return self.rank(query, k)
        from cce.retrieval.backends.hybrid import HybridBackend

        return HybridBackend(self._index).search(query, k, use_graph=use_graph)

    def explain(self, query: Query, k: int) -> RankingAccount:
        """The hits of `rank`, accounted for as far as the backend can."""
        from cce.domain.ranking_account import AccountedHit, RankingAccount  # few runs explain

        if not isinstance(self._backend, ExplainingBackend):
            ranked = enumerate(self.rank(query, k), start=1)
            return RankingAccount(tuple(AccountedHit(rank, hit) for rank, hit in ranked))
        account = self._ask(self._backend.explain, query, k)
        check_ranking([hit.hit for hit in account.hits], query, k, self._index, self._culprit)
        return account

    def _ask(self, call: Callable[..., _T], *arguments: object) -> _T:
        # What a built-in backend raises is a bug of this package, and ends as one.
        return (
            ask_plug_in(self._culprit, RankingError, call, *arguments)
            if self._is_plug_in
            else call(*arguments)
        )


def open_system(name: str, index: Index) -> System:
    """The system called `name`, ready to rank the chunks of `index`; raises CceError."""
    return System(name, index)
