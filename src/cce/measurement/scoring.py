"""Fixture set and rankings in, the score of one backend out: one column per metric, and their means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cce.domain.case import Case, FixtureSet
from cce.domain.ranking import Chunk, Ranking
from cce.domain.scores import METRICS, TOKEN_METRICS, BackendScore, Column, defined
from cce.errors import UsageError
from cce.measurement.matching.matcher import Matcher
from cce.measurement.matching.scoping import ScopedCase
from cce.measurement.matching.spans import LineWeights
from cce.measurement.metrics.catalog import CATALOG, Metric, metric_called
from cce.measurement.metrics.ranked import first_relevant_rank
from cce.numerals import mean


class SetScorer:
    """Scores the rankings of one fixture set over one index, one backend at a time."""

    def __init__(
        self,
        fixtures: FixtureSet,
        chunks: Iterable[Chunk] | None,
        metrics: Iterable[str],
        weights: LineWeights,
    ) -> None:
        """Raises UnknownNameError for an unknown metric.

        chunks   all chunks of the index, which few runs look at; None where there is no corpus
        metrics  metrics to score besides those of every report
        """
        self._fixtures = fixtures
        self.matcher = Matcher(chunks, weights)
        is_ranged = any(case.is_ranged for case in fixtures.cases)
        reported = (*METRICS, *TOKEN_METRICS) if is_ranged else METRICS
        self._metrics = [metric_called(name) for name in dict.fromkeys((*reported, *metrics))]
        self._needs_ideal = any(metric.needs_index for metric in self._metrics)
        self._ideals = [self._ideal(case) for case in fixtures.cases]

    def score(
        self, backend: str, rankings: Sequence[Ranking], scoped: Sequence[ScopedCase] | None = None
    ) -> BackendScore:
        """Score one ranking per case, in case order; an empty ranking scores 0 and counts in the means.

        scoped  the cases as scopes leave them, in case order; None without a scope. One without an anchor
                scores 0 in METRICS and has no other figure
        """
        cases = self._fixtures.cases
        columns: list[list[float | None]] = [[] for _ in self._metrics]
        ranks: list[int | None] = []
        ideals = self._ideals if scoped is None else [self._ideal(*each) for each in scoped]
        asked = map(ScopedCase, cases) if scoped is None else scoped
        for (case, allowed), ranking, ideal in zip(asked, rankings, ideals, strict=True):
            match = self.matcher.match(case, ranking, ideal, allowed) if case.anchors else None
            ranks.append(None if match is None else first_relevant_rank(match))
            for metric, column in zip(self._metrics, columns, strict=True):
                column.append(_without_anchors(metric) if match is None else metric.figure(match))
        named = {metric.name: tuple(column) for metric, column in zip(self._metrics, columns, strict=True)}
        return summarize(backend, [case.id for case in cases], [case.k for case in cases], ranks, named)

    def _ideal(self, case: Case, allowed: frozenset[int] | None = None) -> tuple[int, ...]:
        return self.matcher.ideal(case, allowed) if self._needs_ideal else ()

    def most_ndcg_of_whole_files(self) -> float | None:
        """The mean ndcg of a system that returns the best files whole; None where there is no index."""
        from cce.measurement.matching.matches import CaseMatch, anchor_grades
        from cce.measurement.metrics.graded import ndcg

        if self.matcher.has_no_corpus:
            return None
        figures = []
        for case in self._fixtures.cases:
            gains = self.matcher.indexed().whole_files(case)
            found = CaseMatch(case.k, (), anchor_grades(case), self.matcher.ideal(case), located=gains)
            figures.append(ndcg(found))
        return mean_of_defined(figures)


def _without_anchors(metric: Metric) -> float | None:
    return 0.0 if metric.name in METRICS else None


def summarize(
    backend: str,
    ids: Iterable[str],
    ks: Iterable[int],
    first_relevant_ranks: Iterable[int | None],
    columns: Mapping[str, Column],
) -> BackendScore:
    """The score with these columns, over at least one case, and their unweighted means."""
    means = {metric: mean_of_defined(column) for metric, column in columns.items()}
    return BackendScore(backend, tuple(ids), tuple(ks), tuple(first_relevant_ranks), columns, means)


def mean_of_defined(column: Column) -> float | None:
    """The mean of the figures that are not None; None without any."""
    figures = defined(column)
    return mean(figures) if figures else None


def select_cases(score: BackendScore, positions: Sequence[int]) -> BackendScore:
    """The score of the cases at `positions` only, in that order."""
    return summarize(
        score.backend,
        [score.ids[at] for at in positions],
        [score.ks[at] for at in positions],
        [score.first_relevant_ranks[at] for at in positions],
        {metric: tuple(column[at] for at in positions) for metric, column in score.columns.items()},
    )


def with_saved_metrics(score: BackendScore, metrics: Iterable[str]) -> BackendScore:
    """The score with a column for each of `metrics`; the figures of a saved report are all there is.

    Raises UnknownNameError, and UsageError for a metric that is missing because no saved report holds it.
    """
    columns = dict(score.columns)
    for name in metrics:
        if name not in columns and metric_called(name).needs_index:
            saved = ", ".join(known for known, metric in CATALOG.items() if not metric.needs_index)
            raise UsageError(
                f"metric {name!r} needs the rankings and the index, which a saved report does not hold: "
                f"use {saved}, or cce relevance --compare"
            )
        columns.setdefault(name, (None,) * score.n_cases)  # token figures of a set without ranges
    means = {name: mean_of_defined(column) for name, column in columns.items() if name not in score.means}
    return score._replace(columns=columns, means={**score.means, **means})
