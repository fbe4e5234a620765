"""Scores: what one backend reached on each case, and on the whole set."""

from __future__ import annotations

from typing import NamedTuple

METRICS = ("precision_at_k", "recall", "mrr", "f1")
"""Names of the figures every case and every backend has, in report order."""


class TokenScore(NamedTuple):
    """How well the retrieved lines cover the expected ones, weighed by tokens; each in [0, 1]."""

    precision: float
    recall: float
    iou: float


class CaseScore(NamedTuple):
    """One case on one backend; `first_relevant_rank` is 1-based, `tokens` None for an unranged case."""

    id: str
    k: int
    precision_at_k: float
    recall: float
    mrr: float
    f1: float
    first_relevant_rank: int | None
    tokens: TokenScore | None

    @property
    def figures(self) -> tuple[float, float, float, float]:
        """One figure per metric, in the order of METRICS."""
        return self.precision_at_k, self.recall, self.mrr, self.f1


class BackendScore(NamedTuple):
    """Plain means over all cases, in case order; `tokens` are means over the `n_ranged` ranged ones."""

    backend: str
    precision_at_k: float
    recall: float
    mrr: float
    f1: float
    tokens: TokenScore | None
    n_ranged: int
    cases: tuple[CaseScore, ...]

    @property
    def figures(self) -> tuple[float, float, float, float]:
        """One figure per metric, in the order of METRICS."""
        return self.precision_at_k, self.recall, self.mrr, self.f1
