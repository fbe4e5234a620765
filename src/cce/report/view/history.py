"""What every format says alike about a version of a baseline."""

from __future__ import annotations

from cce.domain.history import BaselineVersion
from cce.report.view.cells import UNDEFINED

CUT = "this clone is shallow: older versions may be missing, git fetch --unshallow brings them"
_SHORT = 10  # digits of a commit


def short_commit(version: BaselineVersion) -> str:
    """The first digits of the commit."""
    return version.commit[:_SHORT]


def day(version: BaselineVersion) -> str:
    """The date without its time."""
    return version.date[:10]


def told_subject(version: BaselineVersion) -> str:
    """The subject of the commit, with why its version cannot be read; text from outside."""
    return version.subject if version.fault is None else f"{version.subject} ({version.fault})"


def told_cases(version: BaselineVersion) -> str:
    """The number of cases."""
    return UNDEFINED if version.fault is not None else str(version.n_cases)


def labels_changed(version: BaselineVersion) -> str:
    """`3, 1 new, 2 gone`; empty for the first version, `unknown` where it does not say."""
    if version.fault is not None:
        return UNDEFINED
    labels = version.labels
    if labels is None:
        return ""
    changed = "unknown" if labels.changed is None else str(labels.changed)
    more = [f"{labels.added} new"] * bool(labels.added) + [f"{labels.removed} gone"] * bool(labels.removed)
    return ", ".join([changed, *more])
