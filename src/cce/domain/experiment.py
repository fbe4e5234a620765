"""Experiments: systems as the rows of one table, each held against the first one or the one named.

An experiment compares systems, an ablation changes one thing at a time, a sweep tries every combination.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cce.domain.costs import Costs
from cce.domain.evidence import DifferenceEvidence, EvidenceOptions, Interval


class ExperimentRow(NamedTuple):
    """One system.

    means        metric -> mean over the cases it is defined for
    interval     of the mean of the table's main metric
    differences  metric -> this row - the baseline, its p adjusted over all rows; empty for the baseline, and
                 without the metrics that have means only
    outcome      what a policy says of it; None without one
    """

    name: str
    means: Mapping[str, float | None]
    interval: Interval
    differences: Mapping[str, DifferenceEvidence]
    costs: Costs
    outcome: str | None = None


class Choice(NamedTuple):
    """The cheapest row that is shown to lose less than a limit to the best one.

    row       the row chosen
    best      the row with the highest mean of the main metric; of equal ones the first
    limit     in units of the metric
    bounds    row -> the least that its mean can lie above that of the best, from a one-sided test; negative
              where it may lose. None for the best itself
    n_needed  cases needed to show it for the cheapest row, if only the best passes; None where no number of
              cases would do, or another row passes
    """

    row: str
    best: str
    limit: float
    bounds: Mapping[str, float | None]
    n_needed: int | None = None


class HeldOut(NamedTuple):
    """The row that was chosen, on the cases that it was not chosen on.

    tuned_on  what these cases have in common, as typed
    """

    tuned_on: str
    n_tuned: int
    n_cases: int
    row: ExperimentRow


class Experiment(NamedTuple):
    """The table.

    verb      experiment, ablate or sweep
    by        the main metric; `metrics` has it and all others, in the order asked
    baseline  the row that all others are held against
    n_cases   cases of the rows, without those held out
    """

    verb: str
    fixtures: str
    corpus: str
    embedder: str
    n_cases: int
    metrics: tuple[str, ...]
    by: str
    baseline: str
    options: EvidenceOptions
    rows: tuple[ExperimentRow, ...]
    choice: Choice | None = None
    held_out: HeldOut | None = None
    notes: tuple[str, ...] = ()
