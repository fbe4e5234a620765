"""The scores and costs of several systems in, the rows of an experiment out, and which of them to choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cce.domain.costs import Costs
from cce.domain.evidence import DifferenceEvidence, EvidenceOptions
from cce.domain.experiment import Choice, ExperimentRow
from cce.domain.scores import BackendScore, defined
from cce.measurement.evidence.differences import weigh_family
from cce.measurement.evidence.gathering import intervals_of
from cce.measurement.evidence.intervals import equivalence_bounds
from cce.measurement.evidence.power import cases_needed
from cce.measurement.evidence.significance import case_deltas
from cce.measurement.metrics.catalog import has_means_only, metric_called
from cce.numerals import MICRO, ordering_key


def experiment_rows(
    options: EvidenceOptions,
    scores: Sequence[BackendScore],
    costs: Mapping[str, Costs],
    by: str,
    baseline: str,
) -> tuple[ExperimentRow, ...]:
    """One row per score, in their order; all are over the same cases and have columns for `options.metrics`.

    The p values of each metric are adjusted over all rows against the baseline: one family per metric.
    """
    first = next(score for score in scores if score.backend == baseline)
    others = [score for score in scores if score.backend != baseline]
    differences: dict[str, dict[str, DifferenceEvidence]] = {score.backend: {} for score in scores}
    for metric in options.metrics if others else ():
        if not has_means_only(metric):
            family = replace(options, metrics=(metric,))
            for weighed in weigh_family(family, [(first, other) for other in others]):
                differences[weighed.b][metric] = weighed.metrics[metric]
    intervals = intervals_of(replace(options, metrics=(by,)), scores)
    return tuple(
        ExperimentRow(
            score.backend,
            {metric: score.means[metric] for metric in options.metrics},
            interval.metrics[by],
            differences[score.backend],
            costs[score.backend],
        )
        for score, interval in zip(scores, intervals, strict=True)
    )


def choose(
    options: EvidenceOptions, scores: Sequence[BackendScore], costs: Mapping[str, Costs], by: str
) -> Choice | None:
    """The cheapest row shown to lose less than `options.min_effect` to the best; None without a limit.

    Every row is held against the best one by the lower bound of `equivalent`, at alpha / (rows - 1). Costs
    are compared by estimate where all rows have one, else by pairs, then tokens; equal ones by their order.
    """
    limit = ordering_key(options.min_effect)
    ranked = [score for score in scores if score.means[by] is not None]
    if not limit or not ranked:
        return None
    best = max(ranked, key=lambda score: ordering_key(score.means[by] or 0.0))
    alpha = options.alpha / max(1, len(scores) - 1)
    deltas = {score.backend: _micro_deltas(by, best, score) for score in scores if score is not best}
    lows = {name: _lower_bound(found, alpha, by) for name, found in deltas.items()}
    order = sorted(scores, key=lambda score: _price_key(costs, score.backend))
    passing = [score.backend for score in order if score is best or _is_above(lows[score.backend], -limit)]
    cheapest = order[0].backend
    n_needed = None
    if passing == [best.backend] and cheapest != best.backend:
        n_needed = _n_needed(deltas[cheapest], options.min_effect, alpha)
    bounds = {name: None if low is None else low / MICRO for name, low in lows.items()}
    return Choice(passing[0], best.backend, options.min_effect, {best.backend: None, **bounds}, n_needed)


def _micro_deltas(metric: str, best: BackendScore, other: BackendScore) -> list[int]:
    """Other - best in units of 1e-6, for the cases where both are defined."""
    return [*map(ordering_key, defined(case_deltas(best.columns[metric], other.columns[metric])))]


def _lower_bound(deltas: Sequence[int], alpha: float, metric: str) -> int | None:
    low, high = metric_called(metric).range
    bounds = equivalence_bounds(deltas, alpha, high - low)
    return None if bounds is None else bounds[0]


def _is_above(bound: int | None, limit: int) -> bool:
    return bound is not None and bound > limit


def _price_key(costs: Mapping[str, Costs], name: str) -> tuple[float, ...]:
    if all(each.estimate is not None for each in costs.values()):
        return (costs[name].estimate or 0.0,)
    return costs[name].pairs, costs[name].tokens


def _n_needed(deltas: Sequence[int], effect: float, alpha: float) -> int | None:
    """Cases that show with 80 % power that a row which loses nothing loses less than `effect`.

    A one-sided test at alpha is one half of a two-sided test at twice that. None without spread.
    """
    n, total = len(deltas), sum(deltas)
    squares = n * sum(delta * delta for delta in deltas) - total * total
    if n < 2 or not squares:
        return None
    deviation = (squares / (n * (n - 1))) ** 0.5 / MICRO
    return cases_needed(effect / deviation, min(1.0, 2 * alpha))
