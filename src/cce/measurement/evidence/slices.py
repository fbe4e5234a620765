"""Cases by tag in, figures per slice of a set out; they are descriptive, without a verdict.

A case with two tags is in two slices, a case without tags in the last one. A set without tags has none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from cce.domain.case import Case
from cce.domain.evidence import SliceDifference, SliceEvidence, SliceMeans
from cce.domain.scores import BackendScore, Column, defined
from cce.measurement.evidence.randomisation import sign_test
from cce.measurement.evidence.significance import case_deltas
from cce.measurement.scoring import mean_of_defined
from cce.numerals import mean, ordering_key


def slice_evidence(
    metrics: Sequence[str],
    cases: Sequence[Case],
    backends: Sequence[BackendScore],
    pair: tuple[BackendScore, BackendScore] | None = None,
    compared: Sequence[str] | None = None,
) -> tuple[SliceEvidence, ...]:
    """One entry per tag in byte order, then one for the cases without tags; empty if no case has a tag.

    The scores are of `cases`; with a `pair` (A, B) all slices have the difference B - A, in the metrics
    `compared`, by default all.
    """
    deltas = None if pair is None else _deltas(metrics if compared is None else compared, *pair)
    return tuple(
        SliceEvidence(
            tag=tag,
            n=len(positions),
            backends=tuple(
                SliceMeans(
                    score.backend,
                    {name: mean_of_defined(_at(score.columns[name], positions)) for name in metrics},
                )
                for score in backends
            ),
            compare=None if deltas is None else _differences(deltas, positions),
        )
        for tag, positions in positions_by_tag(cases)
    )


def positions_by_tag(cases: Sequence[Case]) -> list[tuple[str | None, list[int]]]:
    """Tags in byte order with the 0-based positions of their cases; last None, for cases without tags."""
    tagged: defaultdict[str, list[int]] = defaultdict(list)
    untagged: list[int] = []
    for position, case in enumerate(cases):
        for tag in dict.fromkeys(case.tags):
            tagged[tag].append(position)
        if not case.tags:
            untagged.append(position)
    if not tagged:
        return []
    # Code points sort as their UTF-8 bytes do.
    by_tag: list[tuple[str | None, list[int]]] = [*sorted(tagged.items())]
    return [*by_tag, (None, untagged)] if untagged else by_tag


def _at(figures: Column, positions: Sequence[int]) -> Column:
    return [figures[position] for position in positions]


def _deltas(metrics: Sequence[str], a: BackendScore, b: BackendScore) -> dict[str, Column]:
    return {name: case_deltas(a.columns[name], b.columns[name]) for name in metrics}


def _differences(deltas: Mapping[str, Column], positions: Sequence[int]) -> dict[str, SliceDifference]:
    return {name: _difference(defined(_at(per_case, positions))) for name, per_case in deltas.items()}


def _difference(deltas: Sequence[float]) -> SliceDifference:
    # Counted on integers of 1e-6, as for the whole set: a delta that prints as 0 is a tie.
    micro = [*map(ordering_key, deltas)]
    better = sum(1 for delta in micro if delta > 0)
    worse = sum(1 for delta in micro if delta < 0)
    return SliceDifference(
        mean_delta=mean(deltas) if deltas else None,
        better=better,
        worse=worse,
        tied=len(deltas) - better - worse,
        sign_p=sign_test(better, worse),
    )
