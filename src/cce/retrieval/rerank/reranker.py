"""Rerankers of a run: each is opened once, asked for each pair once, and held to the laws of scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, SupportsFloat, TypeVar, cast

from cce.errors import RankingError
from cce.quoting import quoted
from cce.registry import ask_plug_in
from cce.retrieval.rerank.catalog import RERANKERS
from cce.retrieval.rerank.contract import PairScorer
from cce.retrieval.rerank.passages import Passage, digest

_T = TypeVar("_T")


class Reranker:
    """A PairScorer whose scores are checked and kept."""

    def __init__(self, name: str, options: Mapping[str, Any], *, remembers: bool = True) -> None:
        """Raises UsageError for an unknown name, RankingError if it cannot be made.

        remembers  whether a pair that was scored before is not scored again
        """
        factory = RERANKERS.load(name)
        self._is_plug_in = RERANKERS.package_of(name) is not None
        self._culprit = RERANKERS.spell(name)
        self._known: dict[bytes, float] | None = {} if remembers else None
        self._scorer: PairScorer = self._ask(lambda: factory(**options))

    def scores(self, query: str, passages: Sequence[Passage]) -> list[float]:
        """The score of each passage, in their order; raises RankingError for a score that cannot be."""
        if self._known is None:
            return self._predict(query, [passage.text for passage in passages])
        asked = digest(query)
        keys = [asked + passage.digest for passage in passages]
        # Equal passages of one query are one pair.
        missing = {
            key: passage.text for key, passage in zip(keys, passages, strict=True) if key not in self._known
        }
        if missing:
            found = self._predict(query, [*missing.values()])
            self._known.update(zip(missing, found, strict=True))
        return [self._known[key] for key in keys]

    def _predict(self, query: str, passages: Sequence[str]) -> list[float]:
        if not passages:
            return []
        pairs = [(query, passage) for passage in passages]
        found = self._ask(lambda: _sequence(self._scorer.predict(pairs)))
        if isinstance(found, str):
            self._fail(query, f"predict returned {found}, not a sequence of numbers")
        if len(found) != len(pairs):
            self._fail(query, f"{len(found)} scores for {len(pairs)} pairs; predict gives one for each")
        return [self._checked(query, number, score) for number, score in enumerate(found, start=1)]

    def _checked(self, query: str, number: int, score: object) -> float:
        value = _number(score)
        if value is None:
            self._fail(query, f"score {number} must be a number, got {type(score).__name__}")
        if not math.isfinite(value):
            self._fail(query, f"score {number} is {value}; scores are finite")
        return value

    def _fail(self, query: str, law: str) -> NoReturn:
        raise RankingError(f"{self._culprit}: query {quoted(query)}: {law}")

    def _ask(self, call: Callable[[], _T]) -> _T:
        # What a built-in reranker raises is a bug of this package, and ends as one.
        return ask_plug_in(self._culprit, RankingError, call) if self._is_plug_in else call()


def _sequence(found: object) -> list[object] | str:
    """The scores as a list, of a list, a tuple or an array; the type's name for anything else."""
    if isinstance(found, Iterable) and not isinstance(found, str | bytes | Mapping):
        return list(found)
    return type(found).__name__


def _number(score: object) -> float | None:
    """A number of Python, numpy or torch as a float; None for anything else."""
    if type(score) is float:  # nearly always
        return score
    is_number = isinstance(score, SupportsFloat) and not isinstance(score, bool)
    if not is_number or getattr(score, "ndim", None):
        return None
    return float(cast(SupportsFloat, score))
