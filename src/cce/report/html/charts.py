"""Figures in, places on a chart out: where an interval, a bar or a tick stands, in percent of its width.

Why no chart library: the page draws intervals and bars, about a dozen SVG elements a chart, which the
template writes itself. Vega-Lite would add 88 MB to an installation (vl-convert) or its script to
every page, text whose bytes change with its version, and drawings that neither follow the reader's
colours nor the width of the window. Percentages as SVG coordinates do both without a script.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cce.numerals import format_score, ordering_key
from cce.report.view.cells import direction, percent, signed
from cce.report.view.changes import Change

PLOT_HEIGHT = 112

# Shares of the width: one bar at most, and the gap that stands for all ties.
_WIDEST_BAR = 0.04
_TIED_SHARE = 0.14
# A bar narrower than 0.4 % of the width is too thin to point at, so titles would only add bytes.
MAX_TITLED_BARS = 250
# Half widths of a scale around 0: the first one that holds all values of a chart is used.
_EXTENTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75)


@dataclass(frozen=True, slots=True)
class Strip:
    """A mean and its interval on one axis; places are percentages, None where there is no interval."""

    mean: str
    low: str | None
    width: str | None


@dataclass(frozen=True, slots=True)
class Bar:
    """One case; `x` and `width` in percent, `y` and `height` in pixels, `title` empty where bars are many."""

    position: int
    is_better: bool
    x: str
    width: str
    y: int
    height: int
    title: str


@dataclass(frozen=True, slots=True)
class DeltaPlot:
    """The deltas of one metric, worst first; `tied_x` is the middle of the gap that the ties leave."""

    metric: str
    change: Change
    extent: str
    bars: tuple[Bar, ...]
    tied_x: str | None


def strip(
    mean: float | None, low: float | None, high: float | None, extent: float | None = None
) -> Strip | None:
    """Places on an axis from 0 to 1, or from -extent to extent; None for an undefined mean."""
    if mean is None:
        return None

    def place(value: float) -> float:
        return min(max(value if extent is None else (value / extent + 1) / 2, 0.0), 1.0)

    if low is None or high is None:
        return Strip(percent(place(mean)), None, None)
    return Strip(percent(place(mean)), percent(place(low)), percent(place(high) - place(low)))


def extent_of(values: Sequence[float | None]) -> float:
    """The half width of a scale around 0 that holds all `values`."""
    most = max((abs(value) for value in values if value is not None), default=0.0)
    return next((extent for extent in _EXTENTS if extent >= most), 1.0)


def extent_text(extent: float) -> str:
    """The end of a scale as its tick shows it: all of _EXTENTS have two decimals."""
    return format_score(extent)[:4]


def delta_plot(change: Change, ids: Sequence[str], per_case: Sequence[float | None]) -> DeltaPlot:
    """The deltas `per_case` as bars, the deepest fall on the left, the highest rise on the right."""
    moved = [(position, delta) for position, delta in enumerate(per_case) if delta and direction(delta)]
    moved.sort(key=lambda entry: (ordering_key(entry[1]), entry[0]))
    extent = extent_of(per_case)
    tied = _TIED_SHARE if change.tied else 0.0
    slot = min((1 - tied) / max(len(moved), 1), _WIDEST_BAR)
    n_worse = sum(1 for _, delta in moved if delta < 0)
    start = (1 - tied - slot * len(moved)) / 2
    bars = [
        _bar(rank, position, delta, extent, slot, start + (tied if rank >= n_worse else 0.0))
        for rank, (position, delta) in enumerate(moved)
    ]
    titled = bars if len(bars) > MAX_TITLED_BARS else [_titled(bar, ids, per_case) for bar in bars]
    tied_x = percent(start + slot * n_worse + tied / 2) if tied else None
    return DeltaPlot(change.metric, change, extent_text(extent), tuple(titled), tied_x)


def _bar(rank: int, position: int, delta: float, extent: float, slot: float, start: float) -> Bar:
    half = PLOT_HEIGHT // 2
    height = max(2, round(abs(delta) / extent * (half - 8)))
    return Bar(
        position=position,
        is_better=delta > 0,
        x=percent(start + slot * rank),
        width=percent(slot * 0.86 if slot > 0.002 else slot),
        y=half - height if delta > 0 else half,
        height=height,
        title="",
    )


def _titled(bar: Bar, ids: Sequence[str], per_case: Sequence[float | None]) -> Bar:
    return replace(bar, title=f"{ids[bar.position]} {signed(per_case[bar.position])}")
