"""Scores: what one backend reached on each case, and on the whole set; columns by metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

METRICS = ("precision_at_k", "recall", "mrr", "f1")
"""The figures that every v2 report has for every case, in report order."""

TOKEN_METRICS = ("token_precision", "token_recall", "token_iou")
"""The figures that a v2 report has for every case with ranged anchors."""

Column = Sequence[float | None]
"""One figure per case, in case order; None where the metric is undefined."""


def defined(column: Column) -> list[float]:
    """The figures of a column that are not None, in order."""
    return [figure for figure in column if figure is not None]


class MetricEntry(NamedTuple):
    """A metric as the list of metrics shows it; one that needs the index is in no saved report."""

    name: str
    definition: str
    range: tuple[int, int]
    needs_index: bool


class CaseScore(NamedTuple):
    """One case of a BackendScore; `first_relevant_rank` is 1-based, None without a relevant result."""

    id: str
    k: int
    first_relevant_rank: int | None
    figures: Mapping[str, float | None]


class BackendScore(NamedTuple):
    """What one backend reached; all sequences in case order.

    columns  metric -> one figure per case: METRICS, TOKEN_METRICS if any case is ranged, others if asked for
    means    metric -> the plain mean over the cases it is defined for, None if there is none
    """

    backend: str
    ids: tuple[str, ...]
    ks: tuple[int, ...]
    first_relevant_ranks: tuple[int | None, ...]
    columns: Mapping[str, Column]
    means: Mapping[str, float | None]

    @property
    def n_cases(self) -> int:
        """How many cases were scored."""
        return len(self.ids)

    @property
    def is_ranged(self) -> bool:
        """Whether any case has token figures."""
        return TOKEN_METRICS[0] in self.columns

    @property
    def n_ranged(self) -> int:
        """How many cases have token figures."""
        return sum(1 for figure in self.columns.get(TOKEN_METRICS[0], ()) if figure is not None)

    def mean(self, metric: str) -> float:
        """The mean of one of METRICS, which is defined for every case."""
        mean = self.means[metric]
        if mean is None:
            raise ValueError(f"{metric} is undefined for every case")
        return mean

    def case(self, position: int) -> CaseScore:
        """The case at a 0-based position, as a row."""
        figures = {metric: column[position] for metric, column in self.columns.items()}
        return CaseScore(self.ids[position], self.ks[position], self.first_relevant_ranks[position], figures)
