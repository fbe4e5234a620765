"""A report: everything a renderer shows, with nothing left to compute."""

from __future__ import annotations

from dataclasses import dataclass

from cce.domain.comparison import Comparison
from cce.domain.scores import BackendScore


@dataclass(frozen=True, slots=True)
class Report:
    """What was measured: `corpus` as the user named it, one score per backend in report order."""

    corpus: str
    embedder: str
    n_queries: int
    backends: tuple[BackendScore, ...]
    comparison: Comparison | None
