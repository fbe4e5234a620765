"""An experiment in, the cells and sentences that its reports for people share out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cce.domain.experiment import Choice, Experiment, ExperimentRow, HeldOut
from cce.numerals import format_score, format_signed
from cce.quoting import counted, one_line
from cce.report.view.cells import UNDEFINED, bounds, label, signed, unsigned

NO_CHOICE = (
    "without --min-effect no row is marked: that rows cannot be told apart is what small sets always say"
)
MARK = "*"


class ExperimentCells(NamedTuple):
    """The table: a header and rows, the first column left aligned; `chosen` is the position of a row."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    chosen: int | None


def experiment_cells(experiment: Experiment) -> ExperimentCells:
    """One row per system: means, the interval and the changes in the main metric, and costs."""
    names = [row.name for row in experiment.rows]
    chosen = None if experiment.choice is None else names.index(experiment.choice.row)
    by, has_price = label(experiment.by), any(row.costs.estimate is not None for row in experiment.rows)
    header = (
        "system",
        *map(label, experiment.metrics),
        f"{by} 95% CI",
        f"{by} change",
        "better",
        "worse",
        "p adj.",
        "pairs",
        "tokens",
        *(("est.",) if has_price else ()),
        *(("gate",) if any(row.outcome is not None for row in experiment.rows) else ()),
    )
    rows = (_cells(row, experiment, has_price=has_price) for row in experiment.rows)
    return ExperimentCells(header, tuple(rows), chosen)


def _cells(row: ExperimentRow, experiment: Experiment, *, has_price: bool) -> tuple[str, ...]:
    found = row.differences.get(experiment.by)
    change = ("", "", "", "")
    if found is not None:
        counts = str(len(found.better)), str(len(found.worse))
        change = (signed(found.mean_delta), *counts, format_score(found.adjusted_p))
    costs = (row.costs.pairs, row.costs.tokens, *((row.costs.estimate,) if has_price else ()))
    return (
        row.name,
        *(unsigned(row.means[metric]) for metric in experiment.metrics),
        bounds(row.interval.ci95_low, row.interval.ci95_high),
        *change,
        *map(unsigned, costs),
        *(() if row.outcome is None else (row.outcome,)),
    )


def sentences(experiment: Experiment) -> Iterator[str]:
    """What the table amounts to."""
    if len(experiment.rows) > 1:
        yield (
            f"changes are against {one_line(experiment.baseline)}; p is adjusted over "
            f"{counted(len(experiment.rows) - 1, 'row')}, at alpha {format_score(experiment.options.alpha)}"
        )
    if experiment.choice is not None:
        yield from _choice(experiment.choice, experiment)
    elif len(experiment.rows) > 1:
        yield NO_CHOICE
    if experiment.held_out is not None:
        yield _held_out(experiment.held_out, experiment)


def _choice(choice: Choice, experiment: Experiment) -> Iterator[str]:
    metric, limit = label(experiment.by), format_score(choice.limit)
    best, row = one_line(choice.best), one_line(choice.row)
    if choice.row != choice.best:
        least = choice.bounds[choice.row]
        loss = UNDEFINED if least is None else format_signed(least)
        yield (
            f"{MARK} {row} is the cheapest row shown to lose less than {limit} in {metric} to the best, "
            f"{best}: its change is above {loss}"
        )
        return
    yield f"{MARK} {row} is the best row in {metric}; no cheaper one is shown to lose less than {limit} to it"
    if choice.n_needed is not None:
        yield f"to show that the cheapest row loses less, if it loses nothing, takes {choice.n_needed} cases"


def _held_out(held: HeldOut, experiment: Experiment) -> str:
    name, metric = one_line(held.row.name), label(experiment.by)
    found = held.row.differences.get(experiment.by)
    mean = unsigned(held.row.means[experiment.by])
    chosen = (
        f"chosen on {counted(held.n_tuned, 'case')} ({one_line(held.tuned_on)}); on the other {held.n_cases}"
    )
    if found is None:
        return f"{chosen}, {name} has {metric} {mean}"
    return (
        f"{chosen}, {name} has {metric} {mean}, {signed(found.mean_delta)} against "
        f"{one_line(experiment.baseline)}, better for {len(found.better)} and worse for {len(found.worse)}"
    )
