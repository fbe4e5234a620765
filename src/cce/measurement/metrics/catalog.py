"""The metrics by name, in the order in which they are listed. A new metric is one more row here.

A metric reads the match of a case with its ranking. Other packages add metrics as entry points of the
group `cce.metrics`; each is a `Metric`, and its figures are checked here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from cce.domain.scores import METRICS, MetricEntry
from cce.errors import MetricError, UnknownNameError
from cce.measurement.matching.matches import CaseMatch
from cce.measurement.metrics import ranked
from cce.registry import Registry, ask_plug_in, unknown_name

DEFAULT_METRICS = METRICS
UNIT_RANGE = (0, 1)

Figure = Callable[[CaseMatch], float | None]
"""The figure of one case; None if it is undefined."""


class Metric(NamedTuple):
    """A named figure per case, within `range`.

    needs_index  whether it needs rankings or the index, which a saved report does not hold
    """

    name: str
    definition: str
    figure: Figure
    range: tuple[int, int] = UNIT_RANGE
    needs_index: bool = True

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
    return Metric(name, definition, figure, needs_index=False)


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

# For plug-ins only, which may not take a built-in name; built-in metrics come from the table.
_REGISTRY: Registry[Metric] = Registry("metric", dict.fromkeys(CATALOG, f"{__name__}:CATALOG"), "cce.metrics")


def metric_names() -> tuple[str, ...]:
    """All known metrics, those of other packages last."""
    return _REGISTRY.names()


def metric_called(name: str) -> Metric:
    """The metric of that name; raises UnknownNameError with the known names."""
    if name in CATALOG:
        return CATALOG[name]
    if name not in _REGISTRY:
        raise UnknownNameError(unknown_name("metric", name, metric_names()))
    return _checked(_REGISTRY.load(name), _REGISTRY.spell(name), name)


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

    return metric._replace(name=name, figure=figure, needs_index=True)
