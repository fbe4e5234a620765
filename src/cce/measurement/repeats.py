"""Systems that are asked several times: the mean over repeats, and how far they differ.

One score per repeat enters; one score leaves, with as many cases as before: repeats are no further cases.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from cce.domain.ranking import Ranking
from cce.domain.scores import BackendScore, Column, defined
from cce.measurement.scoring import summarize
from cce.numerals import format_score, mean
from cce.quoting import counted, on_one_line

_SPREAD_METRIC = "mrr"


def mean_of_repeats(scores: Sequence[BackendScore]) -> BackendScore:
    """The mean of each figure over the repeats in which it is defined; ranks are the worst of all repeats.

    The worst rank is none at all: a critical case must not be missed even once.
    """
    first = scores[0]
    if len(scores) == 1:
        return first
    ranks = [_worst(ranks) for ranks in zip(*(score.first_relevant_ranks for score in scores), strict=True)]
    columns: Mapping[str, Column] = {
        metric: tuple(_mean(figures) for figures in zip(*(s.columns[metric] for s in scores), strict=True))
        for metric in first.columns
    }
    return summarize(first.backend, first.ids, first.ks, ranks, columns)


def repeats_notice(scores: Sequence[BackendScore], rankings: Sequence[Sequence[Ranking]]) -> str | None:
    """How much a system differs from itself; None if it was asked once. One ranking per case and repeat."""
    if len(scores) < 2:
        return None
    n_differing = sum(any(other != case[0] for other in case[1:]) for case in zip(*rankings, strict=True))
    n_cases, name = scores[0].n_cases, on_one_line(scores[0].backend)
    repeats = f"asked {len(scores)} times"
    if not n_differing:
        return f"{name}: {repeats}, the same ranking each time for all {counted(n_cases, 'case')}"
    columns = [score.columns[_SPREAD_METRIC] for score in scores]
    by_case = [defined(figures) for figures in zip(*columns, strict=True)]
    within = math.sqrt(mean([_deviation(figures) ** 2 for figures in by_case]))
    between = _deviation([mean(figures) for figures in by_case])
    return (
        f"{name}: {repeats}, other rankings for {n_differing} of {n_cases} cases; the standard deviation of "
        f"{_SPREAD_METRIC} is {format_score(within)} within a case and {format_score(between)} between cases"
    )


def _mean(figures: Sequence[float | None]) -> float | None:
    known = defined(figures)
    return mean(known) if known else None


def _worst(ranks: Sequence[int | None]) -> int | None:
    known = [rank for rank in ranks if rank is not None]
    return max(known) if len(known) == len(ranks) else None


def _deviation(figures: Sequence[float]) -> float:
    """The standard deviation with n - 1; 0 for a single figure."""
    if len(figures) < 2:
        return 0.0
    centre = mean(figures)
    squares = 0.0
    for figure in figures:
        squares += (figure - centre) ** 2
    return math.sqrt(squares / (len(figures) - 1))
