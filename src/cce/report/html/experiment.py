"""An experiment in, one self-contained HTML page out: quality against cost, curves of a sweep, and the table.

It has no script. Places on a plot are percentages; the title of a point names its row.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from cce.domain.experiment import Experiment, ExperimentRow
from cce.numerals import format_score
from cce.report.catalog import GENERATOR
from cce.report.html.renderer import environment, page_policy, text_of
from cce.report.view.cells import UNDEFINED, brief, label, unsigned
from cce.report.view.experiment import MARK, experiment_cells, sentences

_TEMPLATE, _STYLES = "experiment.html.j2", ("report.css", "history.css", "experiment.css")
_MARGIN = 6.0  # per cent on every side, so that no point is cut
_RADIUS, _CHOSEN_RADIUS = "4", "7"


class PlotPoint(NamedTuple):
    """One row on a plot; `tone` is a class of the style."""

    x: str
    y: str
    title: str
    tone: str
    radius: str


class CostPlot(NamedTuple):
    """The main metric of every row against its cost."""

    title: str
    points: tuple[PlotPoint, ...]
    right: str


class Curve(NamedTuple):
    """A metric along the first setting of a sweep: a line for each combination of the others."""

    title: str
    points: tuple[PlotPoint, ...]
    lines: tuple[tuple[PlotPoint, PlotPoint], ...]
    left: str
    right: str


def render_experiment_html(experiment: Experiment) -> str:
    """The table as a page, with one final newline."""
    from markupsafe import Markup

    style = "".join(map(text_of, _STYLES))
    cells = experiment_cells(experiment)
    text = (
        environment()
        .get_template(_TEMPLATE)
        .render(
            experiment=experiment,
            sentences=[text.removeprefix(f"{MARK} ") for text in sentences(experiment)],
            cost=cost_plot(experiment),
            curves=list(curves(experiment)),
            header=cells.header,
            rows=[[name, *map(brief, figures)] for name, *figures in cells.rows],
            chosen=cells.chosen,
            generator=GENERATOR,
            style=Markup(style),  # noqa: S704 - ours
            policy=page_policy(style),
        )
    )
    return text.rstrip("\n") + "\n"


def cost_plot(experiment: Experiment) -> CostPlot:
    """Estimates where every row has one, else scored pairs, else tokens."""
    rows = experiment.rows
    noun, costs = "tokens", [row.costs.tokens for row in rows]
    if any(row.costs.pairs for row in rows):
        noun, costs = "scored pairs", [row.costs.pairs for row in rows]
    estimates = [row.costs.estimate for row in rows if row.costs.estimate is not None]
    if len(estimates) == len(rows):
        noun, costs = f"estimate in {rows[0].costs.unit}", estimates
    most = max(costs)
    points = [
        _point(experiment, row, cost / most if most else 0.5, f"{noun} {format_score(cost)}")
        for row, cost in zip(rows, costs, strict=True)
    ]
    return CostPlot(
        f"{label(experiment.by)} against {noun} a query", tuple(points), brief(format_score(most))
    )


def curves(experiment: Experiment) -> Iterator[Curve]:
    """One per metric, if the rows are a sweep over numbers."""
    settings = [_setting(row.name) for row in experiment.rows]
    if experiment.verb != "sweep" or any(each is None for each in settings):
        return
    numbers = sorted({each[1] for each in settings if each is not None})
    if len(numbers) < 2:
        return
    low, high = numbers[0], numbers[-1]
    key = next(each[0] for each in settings if each is not None)
    for metric in experiment.metrics:
        groups: dict[str, list[tuple[float, PlotPoint]]] = {}
        for row, each in zip(experiment.rows, settings, strict=True):
            if each is not None and row.means[metric] is not None:
                _, number, others = each
                point = _point(experiment, row, (number - low) / (high - low), metric=metric)
                groups.setdefault(others, []).append((number, point))
        ordered = [sorted(group) for group in groups.values()]
        lines = [(a[1], b[1]) for group in ordered for a, b in pairwise(group)]
        points = tuple(point for group in ordered for _, point in group)
        yield Curve(f"{label(metric)} by {key}", points, tuple(lines), f"{low:g}", f"{high:g}")


def _setting(name: str) -> tuple[str, float, str] | None:
    """The key and the number of the first setting of a row, and the others: `depth=3 final=1`."""
    first, _, others = name.partition(" ")
    key, _, value = first.partition("=")
    try:
        return key, float(value), others
    except ValueError:
        return None


def _point(
    experiment: Experiment, row: ExperimentRow, share: float, said: str = "", metric: str | None = None
) -> PlotPoint:
    by = metric or experiment.by
    mean = row.means[by]
    is_chosen = experiment.choice is not None and experiment.choice.row == row.name
    figures = ", ".join(filter(None, (f"{label(by)} {unsigned(mean)}", said)))
    return PlotPoint(
        f"{_MARGIN + share * (100 - 2 * _MARGIN):.2f}%",
        f"{100 - _MARGIN - (mean or 0.0) * (100 - 2 * _MARGIN):.2f}%",
        f"{row.name}: {figures if mean is not None else UNDEFINED}",
        "chosen" if is_chosen else "base" if row.name == experiment.baseline else "version",
        _CHOSEN_RADIUS if is_chosen else _RADIUS,
    )
