"""A run: the rankings of a system as a file holds them, before they meet a fixture set and a corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, overload

from cce.domain.outside import FailedAnswer, OutsideResult

_NO_FACTS: Mapping[str, object] = MappingProxyType({})


class RunScope(NamedTuple):
    """The scope that an answer was recorded under; None for what nobody wrote down."""

    name: str | None
    include: tuple[str, ...] | None
    exclude: tuple[str, ...]


class RunOrder(NamedTuple):
    """How a run that has ranks and scores is put in order.

    by         "rank" or "score"; None refuses a run in which the two disagree
    ties       of equal scores: "rank" takes the ranks, then the file's order; "trec_eval" the ids, falling,
               and implies that the scores give the order
    is_rising  whether a smaller score is better: a distance
    """

    by: str | None = None
    ties: str = "rank"
    is_rising: bool = False


class RunAnswer(NamedTuple):
    """What a run holds for one query.

    line    where it stands in the file; 0 where lines mean nothing
    k, query, scope, tenant   what was asked, as far as it was recorded
    repeat  0-based: which time it was asked
    """

    line: int
    results: Sequence[OutsideResult] | FailedAnswer
    k: int | None = None
    query: str | None = None
    repeat: int = 0
    scope: RunScope | None = None
    tenant: str | None = None


class Run(NamedTuple):
    """The answers of a file by query id, in file order.

    has_docids  each result has as its path a document id as written, which may be a place such as `a.py@3-9`
    facts       the header: what was recorded of the system
    order       how the results were put in order; None where they stand as the system returned them
    """

    path: str
    answers: Mapping[str, Sequence[RunAnswer]]
    has_docids: bool = False
    facts: Mapping[str, object] = _NO_FACTS
    order: RunOrder | None = None


class Documents(Sequence[OutsideResult]):
    """Ranked document ids with their scores: a result is made when it is read, since runs go deep.

    A thousand results per query, of which ten count, would take four times the memory as objects.
    """

    def __init__(self, ids: Sequence[str], scores: Sequence[float]) -> None:
        self.ids = ids
        self.scores = scores

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, position: int) -> OutsideResult: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[OutsideResult, ...]: ...
    def __getitem__(self, position: int | slice) -> OutsideResult | tuple[OutsideResult, ...]:
        if isinstance(position, slice):
            pairs = zip(self.ids[position], self.scores[position], strict=True)
            return tuple(OutsideResult(name, score=score) for name, score in pairs)
        return OutsideResult(self.ids[position], score=self.scores[position])

    def __iter__(self) -> Iterator[OutsideResult]:
        return iter(self[:])
