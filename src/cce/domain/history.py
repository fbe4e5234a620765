"""The history of a baseline: one entry per version that git's log has, oldest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LabelChanges:
    """Cases that are not what they were in the version before.

    changed         cases of both whose label or k differs; None where a version does not say what its labels
                    were and each k is the same
    added, removed  cases that only this version has, that only the one before has
    """

    changed: int | None
    added: int
    removed: int

    @property
    def is_other_exam(self) -> bool:
        """Whether figures before and after are no comparison."""
        return bool(self.changed or self.added or self.removed)


@dataclass(frozen=True, slots=True)
class BaselineVersion:
    """A baseline as one commit has it.

    date     when it was committed, ISO 8601 with its time zone
    means    metric -> mean; empty if the version cannot be read, and `fault` says why
    labels   what differs from the version before that could be read; None for the first one
    """

    commit: str
    date: str
    subject: str
    n_cases: int
    means: Mapping[str, float]
    labels: LabelChanges | None
    fault: str | None = None

    @property
    def starts_line(self) -> bool:
        """Whether its figures are no comparison with those before."""
        return self.labels is None or self.labels.is_other_exam


@dataclass(frozen=True, slots=True)
class BaselineHistory:
    """All versions, at least one; `is_cut` if the clone does not have the whole history."""

    path: str
    backend: str
    metrics: tuple[str, ...]
    versions: tuple[BaselineVersion, ...]
    is_cut: bool = False
