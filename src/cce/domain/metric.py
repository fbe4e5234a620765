"""A metric as people know it: its name and what it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MetricEntry:
    """One line of the catalogue; a metric that needs the index cannot be had from a saved report."""

    name: str
    definition: str
    range: tuple[int, int]
    needs_index: bool
