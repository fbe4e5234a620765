"""What a set can detect: the minimum detectable effect of a paired t test on its number of cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from cce.domain.findings import Finding
from cce.domain.scores import METRICS
from cce.measurement.evidence.power import POWER, detectable_effect
from cce.measurement.reports.reading import SavedReport
from cce.numerals import format_score, mean, ordered_sum
from cce.quoting import on_one_line

TYPICAL_SD = 0.25
"""Standard deviation of the deltas per case between two backends, a guess before any were measured."""

ALPHA = 0.05


def sensitivity(n_cases: int, saved: SavedReport | None) -> Iterator[Finding]:
    """A note for a typical spread, and one for the spread of the first two backends of a report."""
    effect = detectable_effect(n_cases, ALPHA)
    if effect is None:
        yield _note("one case can detect no difference between two rankings, add more")
        return
    yield _note(
        f"minimum detectable effect of {n_cases} cases at {POWER:.0%} power:"
        f" a mean difference of {format_score(effect * TYPICAL_SD)}"
        f" (sd {TYPICAL_SD} is typical, alpha {ALPHA})"
    )
    if saved is not None:
        yield from _measured(saved)


def _measured(saved: SavedReport) -> Iterator[Finding]:
    place = on_one_line(saved.path)
    if len(saved.backends) < 2 or saved.backends[0].n_cases < 2:
        yield _note(
            f"{place} has no two backends over two cases or more, so it shows no spread of differences"
        )
        return
    a, b = saved.backends[:2]
    effect = detectable_effect(a.n_cases, ALPHA) or math.inf
    found = []
    for metric in METRICS:
        columns = zip(a.columns[metric], b.columns[metric], strict=True)
        sd = _sd([y - x for x, y in columns if x is not None and y is not None])
        found.append(f"{metric} {format_score(effect * sd)} (sd {format_score(sd)})")
    yield _note(
        f"minimum detectable effects of {a.n_cases} cases between {a.backend} and {b.backend} in {place}:"
        f" {', '.join(found)}"
    )


def _sd(values: Sequence[float]) -> float:
    center = mean(values)
    return math.sqrt(ordered_sum((value - center) ** 2 for value in values) / (len(values) - 1))


def _note(message: str) -> Finding:
    return Finding("note", "sensitivity", None, None, message)
