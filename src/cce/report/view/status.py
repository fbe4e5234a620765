"""The status of a set in, the words of its age groups out."""

from __future__ import annotations

from collections.abc import Iterator

from cce.domain.status import AGE_LIMITS, SetStatus


def age_groups(status: SetStatus) -> Iterator[tuple[str, int]]:
    """Each age group in words with its count, the youngest first; those without an age come last."""
    for limit, n_labels in zip(AGE_LIMITS, status.ages or (), strict=False):
        yield f"under {limit} days", n_labels
    yield f"{AGE_LIMITS[-1]} days and more", (status.ages or (0,))[-1]
    yield "in no commit, or of an unknown file", status.n_ageless
