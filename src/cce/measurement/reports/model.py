"""The v2 report as models: what its JSON Schema is generated from. Nothing reads reports with them.

They mirror `report/json_v2.py` and `report/evidence_json.py` key by key and refuse any other key, so
that a test which validates real reports finds out when the two part.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from cce.domain.evidence import FlipMethod, Verdict

Score = Annotated[str, Field(pattern=r"^(0\.[0-9]{6}|1\.000000)$")]
Figure = Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]{6}$")]
Signed = Annotated[str, Field(pattern=r"^[+-][0-9]+\.[0-9]{6}$")]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class Tokens(_Part):
    """Token spans of one case."""

    iou: Score
    precision: Score
    recall: Score


class TokenMeans(Tokens):
    """Token spans over the ranged cases, which `queries` counts."""

    queries: Positive


class CaseRow(_Part):
    """One case on one backend."""

    f1: Score
    first_relevant_rank: Positive | None
    id: str
    k: Positive
    mrr: Score
    precision_at_k: Score
    recall: Score
    tokens: Tokens | None = Field(default=None, description="Only if the case is ranged.")


class BackendRow(_Part):
    """Means of one backend, and its cases in the order of the set."""

    backend: str
    f1: Score
    mrr: Score
    per_query: list[CaseRow]
    precision_at_k: Score
    recall: Score
    tokens: TokenMeans | None = Field(default=None, description="Only if a case is ranged.")


class TTest(_Part):
    """A paired t-test on the deltas of one metric."""

    ci95_high: Signed | None
    ci95_low: Signed | None
    mean_delta: Signed
    n: Count
    p: Score | None
    t: Signed | None


class TTests(_Part):
    """One test a metric."""

    f1: TTest
    mrr: TTest
    precision_at_k: TTest
    recall: TTest


class Compare(_Part):
    """Backend b against backend a; deltas are b - a."""

    a: str
    b: str
    metrics: TTests


class Interval(_Part):
    """A mean and its bootstrap interval; null where no case has the metric."""

    ci95_high: Score | None
    ci95_low: Score | None
    mean: Score | None
    n: Count


class BackendEvidence(_Part):
    """Intervals of one backend by metric."""

    backend: str
    metrics: dict[str, Interval]


class DifferenceEvidence(_Part):
    """How sure one difference is."""

    attainable_p: Score
    better: list[str]
    ci95_high: Signed | None
    ci95_low: Signed | None
    effect_size: Signed | None
    flip_method: FlipMethod
    flip_p: Score
    holm_p: Score
    mde: Figure | None
    mean_delta: Signed | None
    n: Count
    n_needed: Count | None
    sign_p: Score
    tied: Count
    verdict: Verdict
    worse: list[str]


class CompareEvidence(_Part):
    """Differences by metric; deltas are b - a."""

    a: str
    b: str
    metrics: dict[str, DifferenceEvidence]


class SliceBackend(_Part):
    """Means of one backend over a slice."""

    backend: str
    metrics: dict[str, Score | None]


class SliceDifference(_Part):
    """A difference over a slice; it describes and decides nothing."""

    better: Count
    mean_delta: Signed | None
    sign_p: Score
    tied: Count
    worse: Count


class Slice(_Part):
    """The cases of one tag."""

    backends: list[SliceBackend]
    compare: dict[str, SliceDifference] | None = Field(default=None, description="Only with a comparison.")
    n: Count
    tag: str


class EvidencePart(_Part):
    """What --evidence adds."""

    alpha: Figure
    backends: list[BackendEvidence]
    compare: CompareEvidence | None = Field(default=None, description="Only with a comparison.")
    metrics: list[str]
    min_effect: Figure
    resamples: Count
    seed: Count
    slices: list[Slice] | None = Field(default=None, description="Only if a case has tags.")


class Saved(_Part):
    """What cce compare adds: the two reports, and how many cases only one of them has."""

    left_out: Count
    new: str
    old: str


class ReportModel(_Part):
    """A report of cce relevance or cce compare. Scores are strings with six decimals."""

    backends: list[BackendRow]
    compare: Compare | None = Field(default=None, description="Only with a comparison.")
    corpus: str
    embedder: str
    evidence: EvidencePart | None = Field(default=None, description="Only with --evidence.")
    queries: Positive
    redact: Literal["strict"] | None = Field(default=None, description="Only with --redact strict.")
    saved: Saved | None = Field(default=None, description="Only from cce compare.")
    schema_name: Literal["cce.relevance.report/v2"] = Field(alias="schema")
