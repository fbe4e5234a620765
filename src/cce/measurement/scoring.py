"""Fixture set and rankings in, the score of one backend out: one column per metric, and their means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cce.domain.case import Case, FixtureSet
from cce.domain.ranking import Chunk, Ranking
from cce.domain.scores import METRICS, TOKEN_METRICS, BackendScore, Column, defined
from cce.errors import UsageError
from cce.measurement.matching.matches import CaseMatch, match_case
from cce.measurement.matching.spans import LineWeights, token_score
from cce.measurement.metrics.catalog import CATALOG, metric_called
from cce.measurement.metrics.ranked import first_relevant_rank
from cce.numerals import mean


class SetScorer:
    """Scores the rankings of one fixture set over one index, one backend at a time."""

    def __init__(
        self, fixtures: FixtureSet, chunks: Iterable[Chunk], metrics: Iterable[str], weights: LineWeights
    ) -> None:
        """Raises UnknownNameError for an unknown metric.

        chunks   all chunks of the index; only metrics that need the index use them
        metrics  metrics to score besides those of every report
        """
        self._fixtures = fixtures
        self._weights = weights
        is_ranged = any(case.is_ranged for case in fixtures.cases)
        reported = (*METRICS, *TOKEN_METRICS) if is_ranged else METRICS
        self._metrics = [metric_called(name) for name in dict.fromkeys((*reported, *metrics))]
        # None stands for the case's own k, which every report needs; only cut-offs of these ask for more.
        self._cutoffs = tuple(dict.fromkeys(metric.cutoff for metric in self._metrics))
        self._has_judgments = any(metric.needs_judgments for metric in self._metrics)
        self._ideals: Sequence[tuple[int, ...]] = [()] * len(fixtures.cases)
        if any(metric.needs_ideal for metric in self._metrics):
            from cce.measurement.matching.ideals import IndexedChunks  # the figures of a report need none

            indexed, deepest = IndexedChunks(chunks), max(cutoff or 0 for cutoff in self._cutoffs)
            self._ideals = [indexed.ideal(case._replace(k=max(case.k, deepest))) for case in fixtures.cases]

    def score(
        self, backend: str, rankings: Sequence[Ranking], deep: Sequence[Ranking] | None = None
    ) -> BackendScore:
        """Score one ranking per case, in case order; an empty ranking scores 0 and counts in the means.

        deep  the rankings for the largest cut-off, read by each `NAME@K` whose K exceeds the case's k; None
              where there is no such metric
        """
        cases = self._fixtures.cases
        columns: list[list[float | None]] = [[] for _ in self._metrics]
        ranks: list[int | None] = []
        # A deep ranking that nobody asked for is never read.
        rows = zip(cases, rankings, rankings if deep is None else deep, self._ideals, strict=True)
        for case, ranking, deeper, ideal in rows:
            matches = {
                cutoff: self._match(case._replace(k=cutoff), deeper if cutoff > case.k else ranking, ideal)
                for cutoff in self._cutoffs
                if cutoff is not None
            }
            own = self._match(case, ranking, ideal)
            ranks.append(first_relevant_rank(own))
            for metric, column in zip(self._metrics, columns, strict=True):
                column.append(metric.figure(own if metric.cutoff is None else matches[metric.cutoff]))
        named = {metric.name: tuple(column) for metric, column in zip(self._metrics, columns, strict=True)}
        return summarize(backend, [case.id for case in cases], [case.k for case in cases], ranks, named)

    def _match(self, case: Case, ranking: Ranking, ideal: Sequence[int]) -> CaseMatch:
        """The match of the first k results; `ideal` may be deeper."""
        match = match_case(case, ranking, tuple(ideal[: case.k]), token_score(case, ranking, self._weights))
        if not self._has_judgments:
            return match
        forbidden = match_case(case._replace(anchors=case.forbidden), ranking).matches
        return match._replace(irrelevant=tuple(map(bool, forbidden)))


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
