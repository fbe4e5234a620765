"""The v2 report as pydantic models, from which its JSON Schema is generated.

`reading` does not use them: msgspec is faster and loads sooner. They mirror `report/json/report_v2.py` and
`report/json/evidence.py` key by key and refuse any other key, so a test that validates real reports fails
when the two differ.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from cce.domain.evidence import FlipMethod, Verdict
from cce.measurement.reports.reading import SCHEMA

ScoreText = Annotated[str, Field(pattern=r"^(0\.[0-9]{6}|1\.000000)$")]
FigureText = Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]{6}$")]
SignedText = Annotated[str, Field(pattern=r"^[+-][0-9]+\.[0-9]{6}$")]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]


class StrictModel(BaseModel):
    """A part of a report: its keys are these and no others."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Tokens(StrictModel):
    """Token spans of one case."""

    iou: ScoreText
    precision: ScoreText
    recall: ScoreText


class TokenMeans(Tokens):
    """Token spans over the ranged cases, which `queries` counts."""

    queries: Positive


class QueryRow(StrictModel):
    """One case on one backend."""

    f1: ScoreText
    first_relevant_rank: Positive | None
    id: str
    k: Positive
    mrr: ScoreText
    precision_at_k: ScoreText
    recall: ScoreText
    tokens: Tokens | None = Field(default=None, description="Only if the case is ranged.")


class BackendRow(StrictModel):
    """Means of one backend, and its cases in the order of the set."""

    backend: str
    f1: ScoreText
    mrr: ScoreText
    per_query: list[QueryRow]
    precision_at_k: ScoreText
    recall: ScoreText
    tokens: TokenMeans | None = Field(default=None, description="Only if a case is ranged.")


class TTest(StrictModel):
    """A paired t-test on the deltas of one metric."""

    ci95_high: SignedText | None
    ci95_low: SignedText | None
    mean_delta: SignedText
    n: Count
    p: ScoreText | None
    t: SignedText | None


class TTests(StrictModel):
    """One test a metric."""

    f1: TTest
    mrr: TTest
    precision_at_k: TTest
    recall: TTest


class Compare(StrictModel):
    """Backend b against backend a; deltas are b - a."""

    a: str
    b: str
    metrics: TTests


class MeanRow(StrictModel):
    """A mean and its bootstrap interval; null where no case has the metric."""

    ci95_high: FigureText | None
    ci95_low: FigureText | None
    mean: FigureText | None
    n: Count


class BackendEvidenceRow(StrictModel):
    """Intervals of one backend by metric."""

    backend: str
    metrics: dict[str, MeanRow]


class DifferenceRow(StrictModel):
    """How sure one difference is."""

    attainable_p: ScoreText
    better: list[str]
    ci95_high: SignedText | None
    ci95_low: SignedText | None
    effect_size: SignedText | None
    flip_method: FlipMethod
    flip_p: ScoreText
    adjusted_p: ScoreText
    mde: FigureText | None
    mean_delta: SignedText | None
    n: Count
    n_needed: Count | None
    sign_p: ScoreText
    tied: Count
    verdict: Verdict
    worse: list[str]


class CompareEvidence(StrictModel):
    """Differences by metric; deltas are b - a."""

    a: str
    b: str
    metrics: dict[str, DifferenceRow]


class SliceBackend(StrictModel):
    """Means of one backend over a slice."""

    backend: str
    metrics: dict[str, FigureText | None]


class SliceDifferenceRow(StrictModel):
    """A difference over a slice; it describes and decides nothing."""

    better: Count
    mean_delta: SignedText | None
    sign_p: ScoreText
    tied: Count
    worse: Count


class Slice(StrictModel):
    """The cases of one tag."""

    backends: list[SliceBackend]
    compare: dict[str, SliceDifferenceRow] | None = Field(default=None, description="Only with a comparison.")
    n: Count
    tag: str


class EvidencePart(StrictModel):
    """What --evidence adds."""

    alpha: FigureText
    backends: list[BackendEvidenceRow]
    compare: CompareEvidence | None = Field(default=None, description="Only with a comparison.")
    metrics: list[str]
    min_effect: FigureText
    resamples: Count
    seed: Count
    slices: list[Slice] | None = Field(default=None, description="Only if a case has tags.")


class LabelRow(StrictModel):
    """What a case was labelled with; the digest is over its query, k and anchors."""

    critical: bool
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    tags: list[str]


class MadeByRow(StrictModel):
    """What a baseline was measured with; `system` is the table of the candidate."""

    cce: str
    grammars: dict[str, str]
    redact: Literal["standard", "strict"]
    system: dict[str, Any]


class Saved(StrictModel):
    """What cce compare adds: the reports, and how many cases only some of them have."""

    left_out: Count
    new: str | list[str]
    old: str


class ComparisonRow(StrictModel):
    """One of several saved reports against the first: what moved from that one to `report`."""

    compare: Compare
    evidence: EvidencePart | None = Field(default=None, description="Only with --evidence.")
    report: str


class ReportModel(StrictModel):
    """A report of cce relevance or cce compare. Scores are strings with six decimals."""

    backends: list[BackendRow]
    compare: Compare | None = Field(default=None, description="Only with a comparison.")
    comparisons: list[ComparisonRow] | None = Field(
        default=None, description="Instead of compare, only from cce compare of three reports and more."
    )
    corpus: str
    embedder: str
    evidence: EvidencePart | None = Field(default=None, description="Only with --evidence.")
    figures: dict[str, dict[str, dict[str, FigureText | None]]] | None = Field(
        default=None,
        description="Only in a baseline: by backend, metric and case id, what else its policy names.",
    )
    labels: dict[str, LabelRow] | None = Field(
        default=None, description="Only in a baseline and with --labels: by case id."
    )
    made_by: MadeByRow | None = Field(default=None, description="Only in a baseline.")
    queries: Positive
    redact: Literal["strict"] | None = Field(default=None, description="Only with --redact strict.")
    saved: Saved | None = Field(default=None, description="Only from cce compare.")
    schema_name: Literal["cce.relevance.report/v2"] = Field(alias="schema")


def report_schema() -> dict[str, Any]:
    """The JSON Schema of a report, open to keys that later versions add."""
    return open_schema(ReportModel) | {"title": f"A report ({SCHEMA})"}


def open_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of `model`, which refuses unknown keys, for readers that do not."""
    schema = model.model_json_schema()
    for part in (schema, *schema["$defs"].values()):
        part.pop("additionalProperties", None)
        for field in part.get("properties", {}).values():
            field.pop("title", None)
    return schema
