"""Evidence: what a set of cases can say about a ranking, and about the difference of two.

Differences are always B - A. What is undefined is None: figures of no case, ratios over no spread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from cce.domain.scores import METRICS
from cce.errors import UsageError

# numpy.random.RandomState takes seeds of 32 bits.
MAX_SEED = 2**32 - 1
MAX_RESAMPLES = 1_000_000
# With 4 cases no two-sided sign test gives a p below 2 / 2**4 = 0.125, with 5 below 0.0625.
MIN_SLICE_CASES = 5
INTERVAL_ALPHA = 0.05
"""Intervals are 95 % ones, whatever alpha a verdict is asked at."""
UNTAGGED = "(untagged)"


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """What is asked for; `metrics` is the family that p values are adjusted over, in the order asked.

    `min_effect` is in metric units, 0 for any effect at all. Raises UsageError for values out of range.
    """

    metrics: tuple[str, ...] = METRICS
    alpha: float = 0.05
    min_effect: float = 0.0
    seed: int = 0
    resamples: int = 10_000

    def __post_init__(self) -> None:
        if not self.metrics:
            raise UsageError("--metrics names no metric, name at least one")
        if len(set(self.metrics)) < len(self.metrics):
            raise UsageError("--metrics names a metric twice, name each once")
        # Six decimals would print an alpha closer to 0 or 1 as 0 or 1.
        if not 1e-6 <= self.alpha <= 0.999999:
            raise UsageError(
                f"--alpha must lie between 0 and 1 (0.000001..0.999999), as in 0.05, got {self.alpha}"
            )
        if not 0.0 <= self.min_effect <= 1.0:
            raise UsageError(
                f"--min-effect must lie in 0..1, in units of the metrics, as in 0.01, got {self.min_effect}"
            )
        if not 0 <= self.seed <= MAX_SEED:
            raise UsageError(f"--seed must lie in 0..{MAX_SEED}, got {self.seed}")
        if not 1 <= self.resamples <= MAX_RESAMPLES:
            raise UsageError(f"--resamples must lie in 1..{MAX_RESAMPLES}, got {self.resamples}")


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over the `n` cases it is defined for, with its bootstrap bounds.

    `n_undefined` cases are left out. Mean and bounds are None if no case is left.
    """

    mean: float | None
    ci95_low: float | None
    ci95_high: float | None
    n: int
    n_undefined: int = 0


@dataclass(frozen=True, slots=True)
class BackendEvidence:
    """One backend: metric -> interval, for every metric of the family, in its order."""

    backend: str
    metrics: Mapping[str, Interval]


class FlipMethod(StrEnum):
    """How the sign patterns were counted: all of them, or a sample."""

    EXACT = "exact"
    MONTE_CARLO = "monte-carlo"


class Verdict(StrEnum):
    """What a difference amounts to; the first that holds, in this order."""

    IDENTICAL = "identical"
    CANNOT_TELL = "cannot tell"
    IMPROVED = "improved"
    REGRESSED = "regressed"
    EQUIVALENT = "equivalent"
    NO_CASE_MOVED = "no case moved"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class DifferenceEvidence:
    """One metric, B - A.

    per_case        delta per case of the set, in case order; None where either side is undefined
    better, worse   ids of the cases with a positive, a negative delta; `tied` counts the rest of `n`
    sign_p          two-sided exact sign test on better against worse
    flip_p          two-sided sign-flip randomisation test of the mean
    adjusted_p      the same, adjusted over the family; `is_drawn` if it depends on the seed
    ci95_low, ci95_high  the 95 % interval of the mean of this metric alone, which agrees with `flip_p`
    effect_size     mean / sd of the deltas
    mde             minimum detectable effect: the mean delta that a t test at alpha / the size of the family
                    finds with 80 % power, given n and sd
    n_needed        cases needed to tell a true change of `min_effect`, or of the observed mean if that is 0,
                    from none with the same power
    attainable_p    the smallest `adjusted_p` that n cases can ever give
    equivalence     the one-sided bounds of the mean at alpha that `equivalent` rests on
    is_fragile      whether one more case that loses everything would undo `improved`; `regressed` mirrors it
    n, n_undefined  cases paired, and cases left out because the metric is undefined on either side
    """

    per_case: tuple[float | None, ...]
    better: tuple[str, ...]
    worse: tuple[str, ...]
    tied: int
    sign_p: float
    flip_p: float
    flip_method: FlipMethod
    adjusted_p: float
    mean_delta: float | None
    ci95_low: float | None
    ci95_high: float | None
    effect_size: float | None
    mde: float | None
    n_needed: int | None
    attainable_p: float
    verdict: Verdict
    n: int
    n_undefined: int = 0
    equivalence: tuple[float, float] | None = None
    is_drawn: bool = False
    is_fragile: bool = False


@dataclass(frozen=True, slots=True)
class ComparisonEvidence:
    """Backend `b` against backend `a`: metric -> difference, for every metric of the family, in its order.

    family_size  how many differences the p values were adjusted over; more than the metrics where several
                 reports are compared with one
    """

    a: str
    b: str
    metrics: Mapping[str, DifferenceEvidence]
    family_size: int


@dataclass(frozen=True, slots=True)
class SliceMeans:
    """One backend within one slice: metric -> mean over the slice's cases it is defined for."""

    backend: str
    metrics: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class SliceDifference:
    """One metric within one slice, B - A; `better`, `worse` and `tied` are counts."""

    mean_delta: float | None
    better: int
    worse: int
    tied: int
    sign_p: float


@dataclass(frozen=True, slots=True)
class SliceEvidence:
    """The `n` cases that carry one tag, or none at all if `tag` is None; it describes, it decides nothing.

    `compare` maps each metric of the family to its difference; None without a comparison.
    """

    tag: str | None
    n: int
    backends: tuple[SliceMeans, ...]
    compare: Mapping[str, SliceDifference] | None

    @property
    def name(self) -> str:
        """The tag as reports spell it."""
        return UNTAGGED if self.tag is None else self.tag

    @property
    def is_too_few(self) -> bool:
        """Whether the slice is too small to be read as more than its single cases."""
        return self.n < MIN_SLICE_CASES


@dataclass(frozen=True, slots=True)
class Evidence:
    """All of it: `compare` is None without a comparison, `slices` empty if no case has a tag."""

    options: EvidenceOptions
    backends: tuple[BackendEvidence, ...]
    compare: ComparisonEvidence | None
    slices: tuple[SliceEvidence, ...] = ()
