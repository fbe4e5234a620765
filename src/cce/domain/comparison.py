"""A comparison: backend B against backend A over the same cases, deltas always B - A."""

from __future__ import annotations

from typing import NamedTuple

from cce.domain.scores import BackendScore


class PairedTest(NamedTuple):
    """A two-sided paired t-test on per-case deltas; what is undefined is None."""

    n: int
    mean_delta: float
    t: float | None
    p: float | None
    ci95_low: float | None
    ci95_high: float | None

    @property
    def df(self) -> int:
        """Degrees of freedom; 0 where a single case leaves none."""
        return self.n - 1


class Difference(NamedTuple):
    """One metric, B - A: `per_case` in case order, and `of_means` between the two backend means.

    In `per_case` and in `test` a difference within rounding noise is 0.
    """

    metric: str
    per_case: tuple[float, ...]
    of_means: float
    test: PairedTest


class Comparison(NamedTuple):
    """`differences` has one entry per metric, in the order the report shows them."""

    a: BackendScore
    b: BackendScore
    differences: tuple[Difference, ...]
