"""The metrics by name, in the order in which they are listed. A new one is one more entry here.

Two sorts: a reported metric is read from the row that every report has for a case, so it can be had
from a saved report as well; a judged one needs the ranking and the index it was made from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cce.domain.metric import MetricEntry
from cce.domain.scores import METRICS, CaseScore
from cce.errors import UnknownNameError
from cce.measurement.matching.matches import Judgment
from cce.measurement.metrics import graded
from cce.registry import unknown_name

DEFAULT_METRICS = METRICS
UNIT_RANGE = (0, 1)


@dataclass(frozen=True, slots=True)
class ReportedMetric:
    """`figure` reads one case's row; None where the metric is undefined for that case."""

    name: str
    definition: str
    figure: Callable[[CaseScore], float | None]
    range: tuple[int, int] = UNIT_RANGE

    @property
    def entry(self) -> MetricEntry:
        """What a list of metrics says of it."""
        return MetricEntry(self.name, self.definition, self.range, needs_index=False)


@dataclass(frozen=True, slots=True)
class JudgedMetric:
    """`figure` takes a judgment with its ideal; None where the metric is undefined for that case."""

    name: str
    definition: str
    figure: Callable[[Judgment], float | None]
    range: tuple[int, int] = UNIT_RANGE

    @property
    def entry(self) -> MetricEntry:
        """What a list of metrics says of it."""
        return MetricEntry(self.name, self.definition, self.range, needs_index=True)


Metric = ReportedMetric | JudgedMetric


def _hit(case: CaseScore) -> float:
    return 0.0 if case.first_relevant_rank is None else 1.0


_TABLE: tuple[Metric, ...] = (
    ReportedMetric("precision_at_k", "relevant results / k", lambda case: case.precision_at_k),
    ReportedMetric("recall", "matched anchors / anchors", lambda case: case.recall),
    ReportedMetric("mrr", "1 / rank of the first relevant result, 0 if none", lambda case: case.mrr),
    ReportedMetric("f1", "harmonic mean of precision_at_k and recall, 0 if both are 0", lambda case: case.f1),
    ReportedMetric("hit", "1 if any result is relevant, else 0", _hit),
    JudgedMetric(
        "ndcg",
        "DCG / ideal DCG; gain 2^grade - 1, discount log2(1 + rank); the ideal ranks the whole index",
        graded.ndcg,
    ),
    JudgedMetric("ndcg_linear", "as ndcg with gain = grade, as trec_eval computes it", graded.ndcg_linear),
    JudgedMetric(
        "ap",
        "mean precision at the ranks of the relevant chunks of the index, at most k of them, "
        "0 for those not returned",
        graded.average_precision,
    ),
    ReportedMetric(
        "token_iou",
        "overlap / union of retrieved and expected lines, weighed by tokens; ranged cases only",
        lambda case: None if case.tokens is None else case.tokens.iou,
    ),
    ReportedMetric(
        "token_precision",
        "overlap / retrieved lines, weighed by tokens; ranged cases only",
        lambda case: None if case.tokens is None else case.tokens.precision,
    ),
    ReportedMetric(
        "token_recall",
        "overlap / expected lines, weighed by tokens; ranged cases only",
        lambda case: None if case.tokens is None else case.tokens.recall,
    ),
)

CATALOG: Mapping[str, Metric] = {metric.name: metric for metric in _TABLE}


def metric_called(name: str) -> Metric:
    """The metric of that name; raises UnknownNameError that lists the known ones."""
    if name not in CATALOG:
        raise UnknownNameError(unknown_name("metric", name, CATALOG))
    return CATALOG[name]
