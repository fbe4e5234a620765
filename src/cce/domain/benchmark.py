"""A benchmark: what indexing a corpus and asking it costs, and what its answers save the reader."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from cce.domain.redaction import Redaction


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure of several runs: the least, the median and the most of them, all in the same unit."""

    least: float
    median: float
    most: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Spread:
        """The spread of `figures`, one per run and at least one."""
        return cls(min(figures), statistics.median(figures), max(figures))


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds per query. Each run gives a p50, a p95 and a maximum over all queries.

    `first` is what the very first query took, which builds what the backend needs of the index.
    """

    first: float
    p50: Spread
    p95: Spread
    most: Spread


@dataclass(frozen=True, slots=True)
class TokenSaving:
    """Tokens of the hits of all queries, and of the whole files that these come from.

    A file counts once per query. Nested hits count separately, since a reader gets both.
    """

    n_in_hits: int
    n_in_files: int

    @property
    def share(self) -> float | None:
        """The part of the files' tokens that need not be read; None without hits, below 0 for a loss."""
        return 1 - self.n_in_hits / self.n_in_files if self.n_in_files else None


@dataclass(frozen=True, slots=True)
class BackendBenchmark:
    """What one backend costs and saves."""

    backend: str
    latency: Latency
    saving: TokenSaving


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Everything measured in one process, with what it was measured on.

    `fixtures` is the set that the queries are from; None if they were made from the corpus. `n_bytes` counts
    the text that was indexed; `n_peak_bytes` is the most memory that the process had after indexing
    once and asking every query once, None where the system does not report it.
    """

    corpus: str
    fixtures: str | None
    machine: str
    n_files: int
    n_chunks: int
    n_bytes: int
    n_queries: int
    n_warm_ups: int
    n_runs: int
    index_seconds: Spread
    n_peak_bytes: int | None
    backends: tuple[BackendBenchmark, ...]
    redaction: Redaction = Redaction.STANDARD

    @property
    def bytes_per_second(self) -> float:
        """Bytes of text indexed per second, in the run with the median time."""
        return self.n_bytes / self.index_seconds.median
