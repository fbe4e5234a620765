"""How often the verdicts are wrong: simulated comparisons whose truth is known.

    python eval/benchmarks/false_verdicts.py [COMPARISONS]

First two backends of the same quality, then a better one. Ranks are made up as real ones look: easy and
hard cases, half of them answered alike by both, so deltas of 1/rank with many ties and long tails. Every
comparison has cases, and a seed for its resamples, of its own. With 2,000 comparisons: about a minute.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Sequence

from cce.domain.evidence import EvidenceOptions, Verdict
from cce.measurement.evidence.gathering import gather_evidence
from cce.measurement.evidence.power import POWER, cases_needed, detectable_effect
from cce.measurement.scoring import summarize

ALPHA = 0.05
RESAMPLES = 999
K = 10
SHARE_ALIKE = 0.5
EASE = (0.9, 0.6, 0.3, 0.1)  # chance that the next rank holds the answer, by kind of case
METRICS: dict[str, Callable[[int], float]] = {
    "mrr": lambda rank: 1 / rank if rank <= K else 0.0,
    "hit": lambda rank: float(rank <= K),
    "recall": lambda rank: float(rank == 1),
}
FAMILIES = (("mrr",), tuple(METRICS))
DIRECTIONS = {Verdict.IMPROVED, Verdict.REGRESSED}

Pairs = Sequence[tuple[int, int]]
"""Per case the rank of the answer with A and with B."""


def main() -> None:
    n_comparisons = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    low, high = binomial_bounds(ALPHA, n_comparisons)
    print(f"no difference, {n_comparisons} comparisons: verdicts with a direction")
    print(f"  at alpha = {ALPHA} chance alone gives {low:.4f} to {high:.4f}; fewer is the price of few flips")
    for family in FAMILIES:
        for n in (10, 30, 100):
            print(f"  n = {n:3}  {', '.join(family):16}  {false_share(family, n, n_comparisons):.4f}")
    low, high = binomial_bounds(POWER, n_comparisons)
    print(f"a real difference: verdicts `improved`, {low:.4f} to {high:.4f} expected")
    for n in (10, 30, 100):
        print(f"  n = {n:3}  normal deltas, as large as mde     {found_share_at_mde(n, n_comparisons):.4f}")
    for boost in (1.3, 1.6):
        n, share = found_share_at_n_needed(boost, n_comparisons)
        print(f"  n = {n:3}  made-up ranks, as many as n_needed {share:.4f}")


def binomial_bounds(p: float, n: int) -> tuple[float, float]:
    """What a share of n trials stays within, but for one time in a thousand."""
    margin = 3.29 * math.sqrt(p * (1 - p) / n)
    return p - margin, p + margin


def false_share(family: Sequence[str], n: int, n_comparisons: int) -> float:
    """The share of comparisons without a difference in which any metric got a direction."""
    chance = random.Random(n)
    n_false = sum(
        bool(DIRECTIONS & verdicts(family, ranked(chance, n), trial)) for trial in range(n_comparisons)
    )
    return n_false / n_comparisons


def found_share_at_mde(n: int, n_comparisons: int, sd: float = 0.2) -> float:
    """The share of `improved` where the mean delta is what n cases should find four times in five."""
    chance = random.Random(n)
    mean = (detectable_effect(n, ALPHA) or 0.0) * sd
    n_found = 0
    for trial in range(n_comparisons):
        deltas = [chance.gauss(mean, sd) for _ in range(n)]
        n_found += Verdict.IMPROVED in _verdicts({"mrr": ([0.0] * n, deltas)}, trial)
    return n_found / n_comparisons


def found_share_at_n_needed(boost: float, n_comparisons: int) -> tuple[int, float]:
    """How many cases a better backend needs to be found four times in five, and how often it is."""
    chance = random.Random(0)
    deltas = [METRICS["mrr"](b) - METRICS["mrr"](a) for a, b in ranked(chance, 100_000, boost)]
    mean = sum(deltas) / len(deltas)
    sd = math.sqrt(sum((delta - mean) ** 2 for delta in deltas) / len(deltas))
    n = cases_needed(mean / sd, ALPHA)
    n_found = sum(
        Verdict.IMPROVED in verdicts(("mrr",), ranked(chance, n, boost), trial)
        for trial in range(n_comparisons)
    )
    return n, n_found / n_comparisons


def ranked(chance: random.Random, n: int, boost: float = 1.0) -> Pairs:
    """Ranks of n cases; where B answers anew, its chances per rank are `boost` times those of A."""
    pairs = []
    for _ in range(n):
        ease = chance.choice(EASE)
        a = _rank(chance, ease)
        alike = chance.random() < SHARE_ALIKE
        pairs.append((a, a if alike else _rank(chance, min(0.95, ease * boost))))
    return pairs


def _rank(chance: random.Random, ease: float) -> int:
    rank = 1
    while rank <= K and chance.random() >= ease:
        rank += 1
    return rank


def verdicts(family: Sequence[str], pairs: Pairs, seed: int) -> set[Verdict]:
    """What the metrics of the family say about one comparison."""
    figures = {
        name: tuple([METRICS[name](pair[side]) for pair in pairs] for side in (0, 1)) for name in family
    }
    return _verdicts(figures, seed)


def _verdicts(figures: dict[str, tuple[list[float], ...]], seed: int) -> set[Verdict]:
    n = len(next(iter(figures.values()))[0])
    ids = [str(case) for case in range(n)]
    a, b = (
        summarize("ab"[side], ids, [10] * n, [None] * n, {name: of[side] for name, of in figures.items()})
        for side in (0, 1)
    )
    options = EvidenceOptions(tuple(figures), ALPHA, seed=seed, resamples=RESAMPLES)
    compared = gather_evidence(options, (), (a, b)).compare
    return {each.verdict for each in compared.metrics.values()} if compared else set()


if __name__ == "__main__":
    main()
