"""Cases by tag in, what each slice of a set shows out: it describes and never decides.

A case with two tags is in two slices, a case without one in the last; a set without any tag has none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from cce.domain.case import Case
from cce.domain.evidence import SliceDifference, SliceEvidence, SliceMeans
from cce.measurement.evidence.gathering import BackendFigures, Figures, case_deltas
from cce.measurement.evidence.randomisation import sign_test
from cce.numerals import mean, ordering_key


def slice_evidence(
    cases: Sequence[Case],
    backends: Sequence[BackendFigures],
    pair: tuple[BackendFigures, BackendFigures] | None = None,
) -> tuple[SliceEvidence, ...]:
    """One entry per tag, in byte order, then one for the cases without; empty if no case has a tag.

    The figures have one entry per case; with a `pair` (A, B) each slice has the difference B - A too.
    """
    deltas = None if pair is None else _deltas(*pair)
    return tuple(
        SliceEvidence(
            tag=tag,
            n=len(positions),
            backends=tuple(SliceMeans(each.backend, _means(each.metrics, positions)) for each in backends),
            compare=None if deltas is None else _differences(deltas, positions),
        )
        for tag, positions in positions_by_tag(cases)
    )


def positions_by_tag(cases: Sequence[Case]) -> list[tuple[str | None, list[int]]]:
    """Tags in byte order with the 0-based positions of their cases; None, for no tag, comes last."""
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


def _means(metrics: Mapping[str, Figures], positions: Sequence[int]) -> dict[str, float | None]:
    return {name: _mean_of_defined(figures, positions) for name, figures in metrics.items()}


def _mean_of_defined(figures: Figures, positions: Sequence[int]) -> float | None:
    defined = _defined(figures, positions)
    return mean(defined) if defined else None


def _defined(figures: Figures, positions: Sequence[int]) -> list[float]:
    return [figure for position in positions if (figure := figures[position]) is not None]


def _deltas(a: BackendFigures, b: BackendFigures) -> dict[str, Figures]:
    return {name: case_deltas(figures, b.metrics[name]) for name, figures in a.metrics.items()}


def _differences(deltas: Mapping[str, Figures], positions: Sequence[int]) -> dict[str, SliceDifference]:
    return {name: _difference(_defined(of_case, positions)) for name, of_case in deltas.items()}


def _difference(deltas: Sequence[float]) -> SliceDifference:
    # Counted on integers of 1e-6, as the whole set is: what prints as 0 is a tie.
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
