"""Fixture set and rankings in, the score of one backend out: one column per metric, and their means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cce.domain.case import FixtureSet
from cce.domain.ranking import Chunk, Ranking
from cce.domain.scores import METRICS, TOKEN_METRICS, BackendScore, Column, defined
from cce.errors import UsageError
from cce.measurement.matching.matcher import Matcher
from cce.measurement.matching.matches import CaseMatch
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
        # None stands for the case's own k, which every report needs; only cut-offs of these ask for more.
        self._cutoffs = tuple(dict.fromkeys(metric.cutoff for metric in self._metrics))
        self._deepest = max(cutoff or 0 for cutoff in self._cutoffs)
        self._has_judgments = any(metric.needs_judgments for metric in self._metrics)
        self._needs_ideal = any(metric.needs_ideal for metric in self._metrics)
        self._ideals = [self._ideal(ScopedCase(case)) for case in fixtures.cases]

    def score(
        self,
        backend: str,
        rankings: Sequence[Ranking],
        deep: Sequence[Ranking] | None = None,
        scoped: Sequence[ScopedCase] | None = None,
    ) -> BackendScore:
        """Score one ranking per case, in case order; an empty ranking scores 0 and counts in the means.

        deep    the rankings for the largest cut-off, read by each `NAME@K` whose K exceeds the case's k; None
                where there is no such metric
        scoped  the cases as scopes leave them, in case order; None without a scope. One without an anchor
                scores 0 in METRICS and has no other figure
        """
        cases = self._fixtures.cases
        columns: list[list[float | None]] = [[] for _ in self._metrics]
        ranks: list[int | None] = []
        ideals = self._ideals if scoped is None else list(map(self._ideal, scoped))
        asked = list(map(ScopedCase, cases)) if scoped is None else scoped
        # A deep ranking that nobody asked for is never read.
        for each, ranking, deeper, ideal in zip(asked, rankings, deep or rankings, ideals, strict=True):
            matches = self._matches(each, ranking, deeper, ideal) if each.case.anchors else None
            ranks.append(None if matches is None else first_relevant_rank(matches[None]))
            for metric, column in zip(self._metrics, columns, strict=True):
                column.append(
                    _without_anchors(metric) if matches is None else metric.figure(matches[metric.cutoff])
                )
        named = {metric.name: tuple(column) for metric, column in zip(self._metrics, columns, strict=True)}
        return summarize(backend, [case.id for case in cases], [case.k for case in cases], ranks, named)

    def _ideal(self, scoped: ScopedCase) -> tuple[int, ...]:
        """The ideal for the case's k or the largest cut-off, whichever is more."""
        if not self._needs_ideal:
            return ()
        case = scoped.case._replace(k=max(scoped.case.k, self._deepest))
        return self.matcher.ideal(case, scoped.allowed)

    def _matches(
        self, scoped: ScopedCase, ranking: Ranking, deeper: Ranking, ideal: Sequence[int]
    ) -> Mapping[int | None, CaseMatch]:
        """The match for each cut-off; None stands for the case's own k."""
        case = scoped.case
        matches: dict[int | None, CaseMatch] = {None: self._match(scoped, ranking, ideal)}
        for cutoff in self._cutoffs:
            if cutoff is not None:
                cut = scoped._replace(case=case._replace(k=cutoff))
                matches[cutoff] = self._match(cut, deeper if cutoff > case.k else ranking, ideal)
        return matches

    def _match(self, scoped: ScopedCase, ranking: Ranking, ideal: Sequence[int]) -> CaseMatch:
        """The match of the first k results; `ideal` may be deeper."""
        case, allowed = scoped
        match = self.matcher.match(case, ranking, tuple(ideal[: case.k]), allowed)
        if not self._has_judgments:
            return match
        forbidden = self.matcher.match(case._replace(anchors=case.forbidden), ranking, (), allowed).matches
        return match._replace(irrelevant=tuple(map(bool, forbidden)))

    def most_ndcg_of_whole_files(self) -> float | None:
        """The mean ndcg of a system that returns the best files whole; None where there is no index."""
        from cce.measurement.matching.matches import anchor_grades
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
