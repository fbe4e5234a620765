"""The table of an experiment as pydantic models, from which its JSON Schema is generated.

Nothing reads a table back. The models mirror `report/json/experiment.py` key by key and refuse any other key,
so a test that validates real tables fails when the two differ.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from cce.measurement.reports.model import (
    Count,
    DifferenceRow,
    FigureText,
    Positive,
    SignedText,
    StrictModel,
    open_schema,
)


class IntervalRow(StrictModel):
    """The bootstrap interval of the main metric."""

    ci95_high: FigureText | None
    ci95_low: FigureText | None
    n: Count


class CostsRow(StrictModel):
    """Means per query; no estimate without a price."""

    estimate: FigureText | None
    pairs: FigureText
    tokens: FigureText
    unit: str | None


class SystemRow(StrictModel):
    """One system; `compare` holds it against the baseline, and is empty for that."""

    compare: dict[str, DifferenceRow]
    costs: CostsRow
    gate: Literal["BLOCK", "REVIEW", "GO"] | None = Field(default=None, description="Only with --gate.")
    interval: IntervalRow
    means: dict[str, FigureText | None]
    system: str


class ChoiceRow(StrictModel):
    """The cheapest row that is shown to lose less than `limit` to the best."""

    best: str
    bounds: dict[str, SignedText | None]
    limit: FigureText
    n_needed: Count | None
    system: str


class HeldOutRow(StrictModel):
    """The row chosen, on the cases that it was not chosen on."""

    queries: Positive
    row: SystemRow
    tuned_on: str
    tuned_queries: Positive


class ExperimentModel(StrictModel):
    """A table of cce experiment, ablate or sweep. Figures are strings with six decimals."""

    alpha: FigureText
    baseline: str
    by: str
    choice: ChoiceRow | None
    corpus: str
    embedder: str
    fixtures: str
    held_out: HeldOutRow | None
    metrics: list[str]
    min_effect: FigureText
    notes: list[str]
    queries: Positive
    resamples: Count
    rows: list[SystemRow]
    schema_name: Literal["cce.experiment/v1"] = Field(alias="schema")
    seed: Count
    verb: Literal["experiment", "ablate", "sweep"]


def experiment_schema() -> dict[str, Any]:
    """The JSON Schema of a table, open to keys that later versions add."""
    return open_schema(ExperimentModel) | {"title": "A table of systems (cce.experiment/v1)"}
