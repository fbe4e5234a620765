"""A history in, one self-contained HTML page with a plot per metric out; it has no script.

A version is a point. A line joins the versions whose figures are a comparison: it ends where labels or cases
changed, and a new one starts. Places on a plot are percentages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cce.domain.history import BaselineHistory, BaselineVersion
from cce.numerals import format_score
from cce.report.catalog import GENERATOR
from cce.report.html.renderer import environment, page_policy, text_of
from cce.report.view.cells import UNDEFINED, label
from cce.report.view.history import CUT, day, labels_changed, short_commit, told_cases, told_subject

_TEMPLATE, _STYLES = "history.html.j2", ("report.css", "history.css")
_MANY = 80  # versions whose points would touch
_RADIUS, _SMALL_RADIUS = "4", "1.5"
_MARGIN = 4.0  # per cent of the height above 1 and below 0, so that no point is cut


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """One version on a plot, and what it says when pointed at."""

    x: str
    y: str
    title: str


@dataclass(frozen=True, slots=True)
class HistoryPlot:
    """One metric: its points, the lines between them, and where a new line starts."""

    label: str
    newest: str
    points: tuple[HistoryPoint, ...]
    lines: tuple[tuple[HistoryPoint, HistoryPoint], ...]
    breaks: tuple[str, ...]


def render_history_html(history: BaselineHistory) -> str:
    """The history as a page, with one final newline."""
    from markupsafe import Markup

    style = "".join(map(text_of, _STYLES))
    text = (
        environment()
        .get_template(_TEMPLATE)
        .render(
            history=history,
            plots=[_plot(history, metric) for metric in history.metrics],
            rows=[_row(version, history.metrics) for version in reversed(history.versions)],
            radius=_RADIUS if len(history.versions) <= _MANY else _SMALL_RADIUS,
            cut=CUT,
            generator=GENERATOR,
            style=Markup(style),  # noqa: S704 - ours
            policy=page_policy(style),
        )
    )
    return text.rstrip("\n") + "\n"


def _plot(history: BaselineHistory, metric: str) -> HistoryPlot:
    last = len(history.versions) - 1
    drawn = [
        (version, _point(version, metric, 100.0 * at / last if last else 50.0))
        for at, version in enumerate(history.versions)
        if version.means
    ]
    return HistoryPlot(
        label(metric),
        format_score(drawn[-1][0].means[metric]) if drawn else UNDEFINED,
        tuple(point for _, point in drawn),
        tuple(_lines(drawn)),
        tuple(point.x for version, point in drawn[1:] if version.starts_line),
    )


def _lines(
    drawn: Sequence[tuple[BaselineVersion, HistoryPoint]],
) -> Iterator[tuple[HistoryPoint, HistoryPoint]]:
    for (_, before), (version, point) in pairwise(drawn):
        if not version.starts_line:
            yield before, point


def _point(version: BaselineVersion, metric: str, x: float) -> HistoryPoint:
    mean = version.means[metric]
    y = 100.0 - _MARGIN - mean * (100.0 - 2 * _MARGIN)
    title = f"{format_score(mean)}, {day(version)}, {short_commit(version)}: {version.subject}"
    return HistoryPoint(f"{x:.2f}%", f"{y:.2f}%", title)


def _row(version: BaselineVersion, metrics: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a version, then its figures."""
    means = tuple(format_score(version.means[metric]) if version.means else UNDEFINED for metric in metrics)
    words = (short_commit(version), day(version), told_subject(version), labels_changed(version))
    return words, (told_cases(version), *means)
