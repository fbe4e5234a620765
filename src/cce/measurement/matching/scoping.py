"""A case as a scope leaves it: the anchors whose path lies outside leave with their files.

What lies outside is said by the patterns of the scope, whether or not there is such a file: an answer that
is deleted must not leave the ideal, one that the scope excludes must. An anchor without a path never leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cce.domain.case import Case
from cce.quoting import counted, listed, on_one_line

_N_SHOWN = 5


class ScopedCase(NamedTuple):
    """A case without the anchors outside of its scope, maybe without any.

    allowed  positions of the chunks in the scope; None where all are, and without a corpus
    """

    case: Case
    allowed: frozenset[int] | None = None


def scope_case(case: Case, holds: Callable[[str], bool], allowed: frozenset[int] | None) -> ScopedCase:
    """`case` in a scope that holds the paths for which `holds` is true."""
    anchors = tuple(anchor for anchor in case.anchors if anchor.path is None or holds(anchor.path))
    return ScopedCase(case if len(anchors) == len(case.anchors) else case._replace(anchors=anchors), allowed)


def scope_notice(system: str, scoped: Sequence[ScopedCase]) -> str | None:
    """What to say of the cases that have no anchor left; None if there is none."""
    empty = [each.case.id for each in scoped if not each.case.anchors]
    if not empty:
        return None
    have, score, are = ("has", "scores", "is") if len(empty) == 1 else ("have", "score", "are")
    few = listed(map(on_one_line, empty), len(empty), _N_SHOWN)
    return (
        f"{on_one_line(system)}: {counted(len(empty), 'case')} {have} no anchor in the scope: {few}; "
        f"{score} 0 in P@k, recall, MRR and F1, and {are} left out of all other metrics"
    )
