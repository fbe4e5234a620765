"""The metrics by name, in the order in which they are listed. A new metric is one more row here.

A metric reads the match of a case with its ranking. `NAME@K` is the metric NAME over the first K results
instead of the case's k. Other packages add metrics as entry points of the group `cce.metrics`; each is a
`Metric`, and its figures are checked here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from cce.domain.scores import METRICS, MetricEntry
from cce.errors import MetricError, UnknownNameError
from cce.measurement.matching.matches import CaseMatch
from cce.measurement.metrics import ranked
from cce.measurement.metrics.cutoffs import (
    CUT_NAMES,
    MAX_CUTOFF,
    cutoff_fault,
    cutoff_of,
    parse_cutoff,
    unknown_metric,
)
from cce.registry import Registry, ask_plug_in

DEFAULT_METRICS = METRICS
UNIT_RANGE = (0, 1)

Figure = Callable[[CaseMatch], float | None]
"""The figure of one case; None if it is undefined."""


class Metric(NamedTuple):
    """A named figure per case, within `range`.

    needs_index  whether it needs rankings or the index, which a saved report does not hold
    needs_ideal  whether it reads the ideal ranking of the index
    needs_judgments  whether it reads which results were judged irrelevant
    is_compared  whether more of it is better, so that two systems can be compared by it
    cutoff       the number of results it reads; None for the case's own k
    """

    name: str
    definition: str
    figure: Figure
    range: tuple[int, int] = UNIT_RANGE
    needs_index: bool = True
    needs_ideal: bool = True
    needs_judgments: bool = False
    is_compared: bool = True
    cutoff: int | None = None

    @property
    def entry(self) -> MetricEntry:
        """The row of the metric in a list of metrics."""
        return MetricEntry(self.name, self.definition, self.range, self.needs_index)


def _graded(formula: str) -> Figure:
    """A formula of `graded`, which is imported only where one of them is asked for: few runs do."""

    def figure(match: CaseMatch) -> float | None:
        from cce.measurement.metrics import graded

        formulas: dict[str, Figure] = {
            "ndcg": graded.ndcg,
            "ndcg_linear": graded.ndcg_linear,
            "ap": graded.average_precision,
        }
        return formulas[formula](match)

    return figure


def _saved(name: str, definition: str, figure: Figure) -> Metric:
    return Metric(name, definition, figure, needs_index=False, needs_ideal=False)


def _judging(name: str, definition: str, figure: Figure, *, is_compared: bool) -> Metric:
    most = 1 if is_compared else MAX_CUTOFF
    return Metric(
        name, definition, figure, (0, most), needs_ideal=False, needs_judgments=True, is_compared=is_compared
    )


_TABLE: tuple[Metric, ...] = (
    _saved("precision_at_k", "relevant results / k", ranked.precision_at_k),
    _saved("recall", "matched anchors / anchors", ranked.recall),
    _saved("mrr", "1 / rank of the first relevant result, 0 if none", ranked.reciprocal_rank),
    _saved("f1", "harmonic mean of precision_at_k and recall, 0 if both are 0", ranked.f1),
    _saved("hit", "1 if any result is relevant, else 0", ranked.hit),
    Metric(
        "ndcg",
        "DCG / ideal DCG; gain 2^grade - 1, discount log2(1 + rank); "
        "the ideal ranks the whole index, and the anchors that match none",
        _graded("ndcg"),
    ),
    Metric("ndcg_linear", "as ndcg with gain = grade, as trec_eval computes it", _graded("ndcg_linear")),
    Metric(
        "ap",
        "mean precision at the ranks of the relevant chunks, and of the anchors that match none, "
        "at most k of them (AP@k over min(k, R); trec_eval's map divides by R); 0 for those not returned",
        _graded("ap"),
    ),
    _saved(
        "token_iou",
        "overlap / union of retrieved and expected lines, weighed by tokens; ranged cases only",
        lambda match: None if match.tokens is None else match.tokens.iou,
    ),
    _saved(
        "token_precision",
        "overlap / retrieved lines, weighed by tokens; ranged cases only",
        lambda match: None if match.tokens is None else match.tokens.precision,
    ),
    _saved(
        "token_recall",
        "overlap / expected lines, weighed by tokens; ranged cases only",
        lambda match: None if match.tokens is None else match.tokens.recall,
    ),
)

CATALOG: Mapping[str, Metric] = {metric.name: metric for metric in _TABLE}

CUT_ONLY: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        _judging(
            "judged",
            "results that match an anchor or an irrelevant place / results; undefined without results",
            ranked.judged,
            is_compared=True,
        ),
        _judging(
            "irrelevant_hits",
            "number of results that match an irrelevant place; for [ceiling] and means",
            ranked.irrelevant_hits,
            is_compared=False,
        ),
    )
}
"""The metrics that only exist with a cut-off: they ask about so many results, whatever k a case has."""

# For plug-ins only, which may not take a built-in name; built-in metrics come from the table.
_REGISTRY: Registry[Metric] = Registry("metric", dict.fromkeys(CATALOG, f"{__name__}:CATALOG"), "cce.metrics")


def metric_names() -> tuple[str, ...]:
    """All known metrics without a cut-off, those of other packages last."""
    return _REGISTRY.names()


def metric_entries() -> tuple[MetricEntry, ...]:
    """The list of metrics: those of `metric_names`, then those that need a cut-off as `NAME@K`."""
    cut = (metric.entry._replace(name=f"{name}@K") for name, metric in CUT_ONLY.items())
    return (*(metric_called(name).entry for name in metric_names()), *cut)


def metric_called(name: str) -> Metric:
    """The metric of that name; raises UnknownNameError with the known names."""
    if name in CATALOG:
        return CATALOG[name]
    if "@" in name:
        return _with_cutoff(name)
    if name in CUT_ONLY:
        raise UnknownNameError(f"metric {name!r} needs a cut-off, write {name}@10")
    return _plug_in(name, name)


def _with_cutoff(name: str) -> Metric:
    base, cutoff = parse_cutoff(name)
    metric = CATALOG.get(CUT_NAMES.get(base, base)) or CUT_ONLY.get(base) or _plug_in(base, name)
    fault = cutoff_fault(name)
    if fault is not None:
        raise UnknownNameError(fault)
    low, high = metric.range
    return metric._replace(
        name=name,
        range=(low, cutoff) if not metric.is_compared else (low, high),
        needs_index=True,
        cutoff=cutoff,
    )


def _plug_in(name: str, typed: str) -> Metric:
    if name not in _REGISTRY:
        raise UnknownNameError(unknown_metric(typed, metric_names(), tuple(CUT_ONLY)))
    return _checked(_REGISTRY.load(name), _REGISTRY.spell(name), name)


def largest_cutoff(metrics: Iterable[str]) -> int | None:
    """The largest K of the metrics `NAME@K`, for which every system is asked once more; None without any."""
    return max((cutoff for name in metrics if (cutoff := cutoff_of(name)) is not None), default=None)


def has_means_only(name: str) -> bool:
    """Whether less of the metric is better, so that nothing is compared by it; unknown names are compared."""
    metric = CUT_ONLY.get(name.partition("@")[0])
    return metric is not None and not metric.is_compared


def catalog_order(name: str) -> tuple[int, int]:
    """A sort key of built-in metrics: as in the catalog, each before its own cut-offs, smallest first."""
    base = name.partition("@")[0]
    return [*CATALOG, *CUT_ONLY].index(CUT_NAMES.get(base, base)), cutoff_of(name) or 0


def _checked(metric: object, culprit: str, name: str) -> Metric:
    """A metric of another package, whose figures are checked against its range."""
    if not isinstance(metric, Metric):
        raise MetricError(f"{culprit}: must be a Metric, got {type(metric).__name__}")
    low, high = metric.range

    def figure(match: CaseMatch) -> float | None:
        value = ask_plug_in(culprit, MetricError, metric.figure, match)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise MetricError(f"{culprit}: a figure is a finite float or None, got {value!r}")
        if not low <= value <= high:
            raise MetricError(f"{culprit}: the figure {value} is outside its range {low} to {high}")
        return float(value)

    return metric._replace(name=name, figure=figure, needs_index=True, cutoff=None)
