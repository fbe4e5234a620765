"""Full report in, the figures of the page's charts and tables out, as text and as places on a chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cce.domain.evidence import BackendEvidence, DifferenceEvidence, Evidence, SliceEvidence
from cce.domain.full_report import FullReport
from cce.domain.scores import METRICS
from cce.numerals import MICRO, format_score, ordering_key
from cce.report.html.charts import Strip, strip
from cce.report.view.cells import bounds, direction, label, number, signed, signed_bounds, unsigned
from cce.report.view.changes import VERDICT_TONES, Change
from cce.report.view.rows import NamedScore, columns

TOKEN_LABELS = {"token_precision": "tok-P", "token_recall": "tok-recall", "token_iou": "tok-IoU"}
DEFINITIONS = {
    "precision_at_k": "relevant results / k",
    "recall": "matched anchors / anchors",
    "mrr": "1 / rank of the first relevant result",
    "f1": "harmonic mean of P@k and recall",
    "ndcg": "graded gains, discounted by rank",
    "ndcg_linear": "grades as gains, discounted by rank",
    "hit": "1 if any result is relevant",
    "ap": "mean precision at the relevant ranks",
    "token_precision": "retrieved tokens that were expected",
    "token_recall": "expected tokens that were retrieved",
    "token_iou": "overlap of both / their union",
}

_BUCKETS = 20


@dataclass(frozen=True, slots=True)
class Mean:
    """One backend's mean on a panel; `series` chooses its colour."""

    name: str
    series: int
    text: str
    bounds: str
    strip: Strip | None


@dataclass(frozen=True, slots=True)
class Panel:
    """One metric of the overview."""

    label: str
    definition: str
    means: tuple[Mean, ...]


@dataclass(frozen=True, slots=True)
class Shift:
    """One metric of the comparison; the strips of all share one scale."""

    label: str
    change: Change
    mean_a: str
    mean_b: str
    delta: str
    bounds: str
    strip: Strip | None
    tone: str
    figures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SliceRow:
    """One tag and one metric; `delta` is None without a comparison."""

    name: str
    n: int
    is_too_few: bool
    means: tuple[tuple[str, int], ...]
    delta: str | None
    direction: int
    moved: tuple[int, int, int]
    sign_p: str


def panels(full: FullReport) -> Iterator[Panel]:
    """One per metric: the four of every report, those of token spans, what else the evidence holds."""
    shown = columns(full)
    weighed = () if full.report.evidence is None else full.report.evidence.backends
    for metric in METRICS:
        yield _panel(metric, shown, [column.score.means[metric] for column in shown], weighed)
    for metric, short in TOKEN_LABELS.items():
        means = [column.score.means.get(metric) for column in shown]
        if any(mean is not None for mean in means):
            yield _panel(metric, shown, means, weighed, short)
    for metric in weighed[0].metrics if weighed else ():
        if metric not in METRICS and metric not in TOKEN_LABELS:
            yield _panel(metric, shown, [each.metrics[metric].mean for each in weighed], weighed)


def _panel(
    metric: str,
    shown: Sequence[NamedScore],
    means: Sequence[float | None],
    weighed: Sequence[BackendEvidence],
    short: str = "",
) -> Panel:
    aligned = weighed if len(weighed) == len(shown) else [None] * len(shown)
    entries = zip(shown, means, aligned, strict=True)
    drawn = (_mean(metric, series, *entry) for series, entry in enumerate(entries))
    return Panel(short or label(metric), DEFINITIONS.get(metric, ""), tuple(drawn))


def _mean(
    metric: str, series: int, column: NamedScore, mean: float | None, weighed: BackendEvidence | None
) -> Mean:
    interval = None if weighed is None else weighed.metrics.get(metric)
    if interval is not None and interval.n + interval.n_undefined != column.score.n_cases:
        interval = None  # of other cases than the mean: those that a baseline has, too
    low, high = (None, None) if interval is None else (interval.ci95_low, interval.ci95_high)
    shown = "" if low is None or high is None else bounds(low, high)
    return Mean(column.name, series, unsigned(mean), shown, strip(mean, low, high))


def shift(each: Change, extent: float) -> Shift:
    """`each` on a scale from -extent to extent."""
    return Shift(
        label=label(each.metric),
        change=each,
        mean_a=unsigned(each.mean_a),
        mean_b=unsigned(each.mean_b),
        delta=signed(each.delta),
        bounds=signed_bounds(each.low, each.high),
        strip=strip(each.delta, each.low, each.high, extent),
        tone="" if each.verdict is None else VERDICT_TONES[each.verdict],
        figures=() if each.evidence is None else _sureness(each.evidence),
    )


def _sureness(each: DifferenceEvidence) -> tuple[str, ...]:
    return (
        str(each.n),
        *map(format_score, (each.sign_p, each.flip_p, each.adjusted_p)),
        each.flip_method.value,
        signed(each.effect_size),
        unsigned(each.mde),
        number(each.n_needed),
        format_score(each.attainable_p),
    )


def slices(evidence: Evidence, first: Sequence[str]) -> dict[str, tuple[SliceRow, ...]]:
    """Metric -> a row per tag, the metrics in `first` before others; empty if no case has a tag."""
    if not evidence.slices:
        return {}
    family = evidence.options.metrics
    ordered = [*(name for name in first if name in family), *(name for name in family if name not in first)]
    return {metric: tuple(_slice(each, metric) for each in evidence.slices) for metric in ordered}


def _slice(each: SliceEvidence, metric: str) -> SliceRow:
    moved = None if each.compare is None else each.compare.get(metric)
    means = (backend.metrics[metric] for backend in each.backends)
    return SliceRow(
        name=each.name,
        n=each.n,
        is_too_few=each.is_too_few,
        means=tuple((unsigned(mean), bucket(mean)) for mean in means),
        delta=None if moved is None else signed(moved.mean_delta),
        direction=0 if moved is None else direction(moved.mean_delta),
        moved=(0, 0, 0) if moved is None else (moved.better, moved.tied, moved.worse),
        sign_p="" if moved is None else format_score(moved.sign_p),
    )


def bucket(figure: float | None) -> int:
    """A figure of 0..1 as one of the widths that the page has for a bar in a cell; above 0 at least 1.

    A count can exceed 1, and gets the widest bar.
    """
    micro = 0 if figure is None else min(ordering_key(figure), MICRO)
    return -(-micro * _BUCKETS // MICRO)
