"""Backend scores for tests, written row by row as a report shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cce.domain.scores import METRICS, TOKEN_METRICS, BackendScore, Column
from cce.measurement.matching.matches import TokenScore
from cce.measurement.scoring import summarize


class Row(NamedTuple):
    """One case: its figures in the order of METRICS, and those of its token spans."""

    id: str
    k: int
    precision_at_k: float
    recall: float
    mrr: float
    f1: float
    first_relevant_rank: int | None
    tokens: TokenScore | None = None


def score_of(backend: str, rows: Sequence[Row]) -> BackendScore:
    """The score of these cases, with the means over them."""
    columns: dict[str, Column] = {name: tuple(getattr(row, name) for row in rows) for name in METRICS}
    if any(row.tokens for row in rows):
        for name in TOKEN_METRICS:
            field = name.removeprefix("token_")
            columns[name] = tuple(getattr(row.tokens, field) if row.tokens else None for row in rows)
    columns["hit"] = tuple(0.0 if row.first_relevant_rank is None else 1.0 for row in rows)
    return summarize(
        backend,
        [row.id for row in rows],
        [row.k for row in rows],
        [row.first_relevant_rank for row in rows],
        columns,
    )


def score_with_means(
    backend: str, rows: Sequence[Row], means: Sequence[float], tokens: TokenScore | None = None
) -> BackendScore:
    """The score of these cases under means of its own, in the order of METRICS, as a file may hold them."""
    told: dict[str, float | None] = dict(zip(METRICS, means, strict=True))
    if tokens is not None:
        told |= dict(zip(TOKEN_METRICS, tokens, strict=True))
    return score_of(backend, rows)._replace(means=told)


def score_of_columns(backend: str, columns: Mapping[str, Column]) -> BackendScore:
    """The score with nothing but these columns; cases are called q1, q2 and so on."""
    n_cases = len(next(iter(columns.values())))
    ids = [f"q{n}" for n in range(1, n_cases + 1)]
    return summarize(backend, ids, [10] * n_cases, [None] * n_cases, columns)
