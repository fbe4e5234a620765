"""A history in, text for a terminal out: a sparkline per metric, then one line per version."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cce.domain.history import BaselineHistory, BaselineVersion
from cce.numerals import format_score, ordering_key
from cce.quoting import counted, one_line
from cce.report.text.tables import align
from cce.report.view.cells import UNDEFINED, label
from cce.report.view.history import CUT, day, labels_changed, short_commit, told_cases, told_subject

TITLE = "CCE history — the versions of a baseline, oldest first"

_BARS = "▁▂▃▄▅▆▇█"
_NEW_LINE = "|"
_UNREADABLE = "?"
_MAX_BARS = 60


def render_history_text(history: BaselineHistory) -> str:
    """The history for a terminal, with one final newline."""
    heading = [
        TITLE,
        f"  baseline: {one_line(history.path)}",
        f"  backend : {one_line(history.backend)}",
        f"  versions: {len(history.versions)}{f' ({CUT})' if history.is_cut else ''}",
    ]
    return "\n\n".join("\n".join(block) for block in (heading, _sparklines(history), _table(history))) + "\n"


def _sparklines(history: BaselineHistory) -> list[str]:
    shown = history.versions[-_MAX_BARS:]
    rows = [_spark_row(metric, shown) for metric in history.metrics]
    n_hidden = len(history.versions) - len(shown)
    older = f", without the {counted(n_hidden, 'older version')}" if n_hidden else ""
    title = (
        f"  means ({_NEW_LINE} the labels or cases changed, so figures before and after are no "
        f"comparison{older})"
    )
    return [title, *align([("metric", "lowest", "highest", "newest", "", ""), *rows], n_left=1)]


def _spark_row(metric: str, versions: Sequence[BaselineVersion]) -> tuple[str, ...]:
    means = [version.means[metric] for version in versions if version.means]
    newest = format_score(versions[-1].means[metric]) if versions[-1].means else UNDEFINED
    if not means:
        return label(metric), UNDEFINED, UNDEFINED, newest, "", ""
    low, high = min(means), max(means)
    return label(metric), format_score(low), format_score(high), newest, "", sparkline(metric, versions)


def sparkline(metric: str, versions: Iterable[BaselineVersion]) -> str:
    """One bar per version, as high as its mean lies between the lowest and the highest: `▁▃|▇█`."""
    shown = list(versions)
    keys = [ordering_key(version.means[metric]) for version in shown if version.means]
    low, high = min(keys), max(keys)
    bars = []
    for position, version in enumerate(shown):
        if not version.means:
            bars.append(_UNREADABLE)
            continue
        bars.append(_NEW_LINE if position and version.starts_line else "")
        key = ordering_key(version.means[metric])
        height = (key - low) * (len(_BARS) - 1) // (high - low) if high > low else len(_BARS) // 2
        bars.append(_BARS[height])
    return "".join(bars)


def _table(history: BaselineHistory) -> list[str]:
    header = ("commit", "date", "cases", "labels changed", *map(label, history.metrics), "subject")
    rows = [_row(version, history.metrics) for version in history.versions]
    # The subject is last and long: align it by hand, behind the numbers.
    cells = align([header[:-1], *(row[:-1] for row in rows)], n_left=2)
    subjects = [header[-1], *(row[-1] for row in rows)]
    return [f"{line}  {one_line(subject)}".rstrip() for line, subject in zip(cells, subjects, strict=True)]


def _row(version: BaselineVersion, metrics: Sequence[str]) -> tuple[str, ...]:
    means = [format_score(version.means[metric]) if version.means else UNDEFINED for metric in metrics]
    words = (short_commit(version), day(version), told_cases(version), labels_changed(version))
    return *words, *means, told_subject(version)
