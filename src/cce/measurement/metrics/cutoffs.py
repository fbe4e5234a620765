"""The names of metrics with a cut-off: `NAME@K` is NAME over the first K results, as in `recall@5`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cce.quoting import quoted
from cce.registry import nearest_name

MAX_CUTOFF = 10_000
"""Ten times the depth of the runs that trec_eval is usually given; each result more costs time."""

CUT_NAMES = {"precision": "precision_at_k"}
"""How a metric is called before `@K`, where its own name would say its cut-off twice."""

_CUTOFF = re.compile(r"[1-9][0-9]{0,4}")  # one spelling a number, so that a name prints as it was read


def cutoff_of(name: str) -> int | None:
    """The K of `NAME@K`; None for a name without one."""
    digits = name.partition("@")[2]
    return int(digits) if _CUTOFF.fullmatch(digits) else None


def parse_cutoff(name: str) -> tuple[str, int]:
    """The NAME and K of `NAME@K`; K is 0 where `cutoff_fault` has a fault."""
    return name.partition("@")[0], cutoff_of(name) or 0


def cutoff_fault(name: str) -> str | None:
    """What is wrong with `NAME@K`, whose NAME is known, as a message; None if nothing is."""
    base, cutoff = parse_cutoff(name)
    for spelled, called in CUT_NAMES.items():
        if base == called:
            return (
                f"metric {quoted(name)}: with a cut-off it is called {spelled}, write {spelled}@{cutoff or 5}"
            )
    if not 1 <= cutoff <= MAX_CUTOFF:
        return f"metric {quoted(name)}: the cut-off must be an integer from 1 to {MAX_CUTOFF}, write {base}@5"
    return None


def unknown_metric(name: str, names: Sequence[str], cut_only: Sequence[str]) -> str:
    """A message with the nearest known name: `names` stand alone, with `@K` those of `cut_only` stand too."""
    base, at_sign, digits = name.partition("@")
    cut = [next((spelled for spelled, called in CUT_NAMES.items() if called == each), each) for each in names]
    nearest = nearest_name(base, [*cut, *cut_only] if at_sign else names)
    hint = "" if nearest is None else f"; did you mean {quoted(nearest + at_sign + digits)}?"
    known = ", ".join([*names, *(f"{each}@K" for each in cut_only)])
    return f"unknown metric {quoted(name)}{hint} (known: {known})"
