"""Cleaning: the candidates of labelled cases go, what people said of them stays.

A set under edit enters and is revised; counts leave. A draft keeps its candidates: without them its line
would be no draft and no case.
"""

from __future__ import annotations

from typing import NamedTuple

from cce.labels.edits import update_object
from cce.labels.judgments import with_irrelevant
from cce.labels.labelling import candidate_lines
from cce.labels.revision import Revision
from cce.quoting import on_one_line, quoted


class Cleaning(NamedTuple):
    """How many candidates of how many cases went, how many were open, and a line for each draft left."""

    n_candidates: int
    n_open: int
    n_cases: int
    left: tuple[str, ...]


def clean_set(revision: Revision) -> Cleaning:
    """Drop the candidates of every case with a label; raises FixtureError for a set it cannot read."""
    n_candidates = n_open = n_cases = 0
    left: list[str] = []
    for each in candidate_lines(revision):
        if not each.is_labelled:
            place = f"{on_one_line(revision.path)}:{each.number}: {quoted(each.case_id)}"
            left.append(f"{place} has no label and keeps its candidates: label it, or remove the line")
            continue
        anchors = [candidate.anchor for candidate, judged in each.candidates if judged is False]
        line = revision.line(each.number)
        kept = with_irrelevant(line, [anchor for anchor in anchors if anchor is not None])
        revision.replace(each.number, update_object(kept, {"candidates": None}))
        n_candidates += len(each.candidates)
        n_open += sum(1 for _, judged in each.candidates if judged is None)
        n_cases += 1
    return Cleaning(n_candidates, n_open, n_cases, tuple(left))
