"""Metrics: a match or a case's scores in, a figure in [0, 1] out. The table of them is `catalog`."""

from cce.measurement.metrics.ranked import (
    f1,
    first_relevant_rank,
    harmonic_mean,
    precision_at_k,
    recall,
    reciprocal_rank,
)

__all__ = ["f1", "first_relevant_rank", "harmonic_mean", "precision_at_k", "recall", "reciprocal_rank"]
