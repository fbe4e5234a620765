"""Scores and rankings in, the figures of chosen metrics out: one per case, None where undefined.

A reported metric is read from the score of the case; a judged one judges its ranking once more, beside
the best that the whole index could have given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cce.domain.case import Case
from cce.domain.chunk import Chunk
from cce.domain.ranking import Ranking
from cce.domain.scores import BackendScore
from cce.errors import UsageError
from cce.measurement.evidence.gathering import BackendFigures, Figures
from cce.measurement.matching.ideals import IndexedChunks
from cce.measurement.matching.matches import judge
from cce.measurement.metrics.catalog import CATALOG, JudgedMetric, ReportedMetric, metric_called


class FigureReader:
    """Reads the figures of some metrics for the cases of one set on one index."""

    def __init__(self, metrics: Iterable[str], cases: Sequence[Case], chunks: Iterable[Chunk]) -> None:
        """Raises UnknownNameError; `chunks` are only looked at if a metric needs them."""
        self._metrics = tuple(map(metric_called, metrics))
        self._judged = [metric for metric in self._metrics if isinstance(metric, JudgedMetric)]
        self._cases = cases
        self._ideals: list[tuple[int, ...]] = []
        if self._judged:
            indexed = IndexedChunks(chunks)
            self._ideals = [indexed.ideal(case) for case in cases]

    def read(self, score: BackendScore, rankings: Sequence[Ranking]) -> BackendFigures:
        """The figures behind `score`; `rankings` are those it was made from, one per case."""
        judged = self._judge(rankings) if self._judged else {}
        return BackendFigures(
            score.backend,
            {
                metric.name: _reported(metric, score)
                if isinstance(metric, ReportedMetric)
                else judged[metric.name]
                for metric in self._metrics
            },
        )

    def _judge(self, rankings: Sequence[Ranking]) -> dict[str, Figures]:
        rows = []
        for case, ranking, ideal in zip(self._cases, rankings, self._ideals, strict=True):
            judgment = judge(case, ranking, ideal)
            rows.append([metric.figure(judgment) for metric in self._judged])
        columns = zip(*rows, strict=True)
        return {metric.name: figures for metric, figures in zip(self._judged, columns, strict=True)}


def reported_figures(metrics: Iterable[str], score: BackendScore) -> BackendFigures:
    """The figures of a score without its rankings; raises UsageError for metrics that need them."""
    figures = {}
    for name in metrics:
        metric = metric_called(name)
        if not isinstance(metric, ReportedMetric):
            raise UsageError(
                f"metric {name!r} needs the rankings and the index, which a saved report does not hold: "
                f"use {', '.join(_reported_names())}, or cce relevance --compare"
            )
        figures[name] = _reported(metric, score)
    return BackendFigures(score.backend, figures)


def _reported(metric: ReportedMetric, score: BackendScore) -> Figures:
    return tuple(map(metric.figure, score.cases))


def _reported_names() -> list[str]:
    return [name for name, metric in CATALOG.items() if isinstance(metric, ReportedMetric)]
