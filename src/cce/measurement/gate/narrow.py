"""Limits that are finer than a set can measure: a policy and its pairs in, one notice for each out."""

from __future__ import annotations

from collections.abc import Iterator

from cce.domain.case import FixtureSet
from cce.domain.gate import GatePolicy
from cce.measurement.gate.baseline import BaselinePair
from cce.numerals import MICRO, format_score, ordering_key
from cce.quoting import counted, on_one_line


def narrow_drops(policy: GatePolicy, fixtures: FixtureSet, pair: BaselinePair) -> Iterator[str]:
    """Drops under 1 / (2 n): a single case that loses half of its figure breaks them."""
    paired = set(pair.candidate.ids)
    tags = {case.id: case.tags for case in fixtures.cases}
    for tag, limits in ((None, policy.limits), *policy.slices.items()):
        n = sum(1 for name in paired if tag is None or tag in tags[name])
        place = "drop" if tag is None else f"slices.{on_one_line(tag)}.drop"
        for metric, limit in limits.drop.items():
            if n and 2 * n * ordering_key(limit) < MICRO:
                least = f"1 / (2 n) = {format_score(1 / (2 * n))} for {counted(n, 'case')}"
                yield (
                    f"{on_one_line(policy.path)}: {place}.{metric}: {format_score(limit)} is under {least}: "
                    "one that loses half breaks it"
                )
