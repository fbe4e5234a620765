"""How often the verdicts are wrong: simulated comparisons whose truth is known.

    python eval/benchmarks/false_verdicts.py [--comparisons N] [REPORT.json ...]

Cases are drawn from real differences: every pair of backends on this project's own sets and in the saved
reports named. So deltas have the ties, the long tails and the dependence between metrics that rankings have.
Seeds come from the settings of each row and are printed. With 1,000 comparisons a row: five minutes.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import cce
from cce.domain.evidence import DifferenceEvidence, EvidenceOptions, Verdict
from cce.domain.scores import METRICS, TOKEN_METRICS, BackendScore, defined
from cce.measurement.evidence.gathering import gather_evidence
from cce.measurement.evidence.power import cases_needed, detectable_effect
from cce.measurement.evidence.significance import case_deltas
from cce.measurement.reports.reading import read_saved_report
from cce.measurement.scoring import summarize

ROOT = Path(__file__).resolve().parents[2]
SETS = ("eval/code.jsonl", "eval/docs.jsonl")
BACKENDS = ("bm25", "vector", "hybrid")
ALPHA = 0.05
RESAMPLES = 999
SIZES = (5, 7, 10, 24, 60, 200)
# The one that decides comes first.
NAMES = ("mrr", *(name for name in METRICS if name != "mrr"), "hit", *TOKEN_METRICS)
FAMILIES = (NAMES[:1], NAMES[:4], NAMES)
DIRECTIONS = (Verdict.IMPROVED, Verdict.REGRESSED)
RARE = 0.05  # share of the cases that lose all
LIMITS = (0.02, 0.05, 0.1, 0.2)  # --min-effect at which a false `equivalent` is counted

Case = tuple[float | None, ...]
"""One delta per metric of NAMES; None where it is undefined."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("reports", nargs="*", metavar="REPORT.json")
    parser.add_argument("--comparisons", type=int, default=1000, metavar="N")
    arguments = parser.parse_args()
    populations = real_differences(arguments.reports)
    n_comparisons = arguments.comparisons
    n_cases, shares = len(populations[0]), [_tied_share(cases) for cases in populations]
    print(
        f"{len(populations)} pairs of backends, {n_cases} cases each, "
        f"{min(shares):.0%} to {max(shares):.0%} of them tied in mrr; {n_comparisons} comparisons a row"
    )
    _, most = binomial_bounds(ALPHA, n_comparisons)
    print(f"alpha {ALPHA}: chance alone gives at most {most:.4f} false verdicts in 999 of 1,000 rows\n")
    print(
        "| n | metrics | seed | false | coverage | power at mde | false equivalent | rare: false | coverage |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for n in SIZES:
        for family in FAMILIES:
            print(f"| {' | '.join(_row(populations, family, n, n_comparisons))} |", flush=True)
    print()
    for n in SIZES[1:4]:
        print(f"normal deltas at mde, n = {n}: found in {found_share_of_normal_deltas(n, n_comparisons):.4f}")
    for mean in (0.05, 0.1, 0.2):
        n, share = found_share_at_n_needed(populations[0], mean, n_comparisons)
        print(f"a true change of {mean} in mrr needs {n} cases; found in {share:.4f} of as many")


def _row(
    populations: Sequence[Sequence[Case]], family: Sequence[str], n: int, n_comparisons: int
) -> list[str]:
    is_single = len(family) == 1  # interval and bounds are of one metric alone
    seed = seed_of(family, n)
    cells = [f"{false_share(populations, family, n, n_comparisons):.4f}"]
    cells.append(f"{coverage(populations, n, n_comparisons):.4f}" if is_single else "")
    cells.append(f"{found_share_at_mde(populations, family, n, n_comparisons):.4f}")
    cells.append(f"{max(false_equivalent_share(n, limit) for limit in LIMITS):.4f}" if is_single else "")
    rare = [rare_losses(len(populations[0]))]
    cells.append(f"{false_share(rare, family, n, n_comparisons, is_symmetric=False):.4f}")
    cells.append(f"{coverage(rare, n, n_comparisons):.4f}" if is_single else "")
    return [str(n), str(len(family)), str(seed), *cells]


def real_differences(reports: Sequence[str] = ()) -> list[list[Case]]:
    """One population of cases per pair of BACKENDS, from the project's own sets and from saved reports."""
    measured = [cce.evaluate(ROOT / path, backends=BACKENDS).report.backends for path in SETS]
    measured += [read_saved_report(path).backends for path in reports]
    populations = []
    for a, b in combinations(BACKENDS, 2):
        cases: list[Case] = []
        for scores in measured:
            named = {score.backend: score for score in scores}
            if a in named and b in named:
                cases += _cases(named[a], named[b])
        populations.append(cases)
    return populations


def _cases(a: BackendScore, b: BackendScore) -> Iterator[Case]:
    return zip(*(case_deltas(_column(a, name), _column(b, name)) for name in NAMES), strict=True)


def _column(score: BackendScore, name: str) -> Sequence[float | None]:
    if name == "hit":
        return [float(rank is not None) for rank in score.first_relevant_ranks]
    return score.columns.get(name, (None,) * score.n_cases)


def rare_losses(n: int) -> list[Case]:
    """A population without a true change: RARE of the cases lose all, the others gain a little."""
    n_lost = round(RARE * n)
    gain = n_lost / (n - n_lost)
    lost: Case = (-1.0,) * len(NAMES)
    gained: Case = (gain,) * len(NAMES)
    return [lost] * n_lost + [gained] * (n - n_lost)


def _tied_share(cases: Sequence[Case]) -> float:
    return sum(case[0] == 0.0 for case in cases) / len(cases)


def binomial_bounds(p: float, n: int) -> tuple[float, float]:
    """What a share of n trials stays within, but for one time in a thousand."""
    margin = 3.29 * math.sqrt(p * (1 - p) / n)
    return p - margin, p + margin


def seed_of(family: Sequence[str], n: int) -> int:
    """Every row has cases of its own, the same in every run."""
    return 1000 * len(family) + n


def false_share(
    populations: Sequence[Sequence[Case]],
    family: Sequence[str],
    n: int,
    n_comparisons: int,
    *,
    is_symmetric: bool = True,
) -> float:
    """The share of comparisons without a true change in which any metric got a direction.

    is_symmetric  turn each case with probability 1/2; else the population has no true change as it is
    """
    chance = random.Random(seed_of(family, n))
    n_false = 0
    for trial in range(n_comparisons):
        cases = chance.choices(populations[trial % len(populations)], k=n)
        signs = [chance.choice((1, -1)) if is_symmetric else 1 for _ in cases]
        found = weigh([_turned(case, sign) for case, sign in zip(cases, signs, strict=True)], family, trial)
        n_false += any(each.verdict in DIRECTIONS for each in found.values())
    return n_false / n_comparisons


def _turned(case: Case, sign: int) -> Case:
    return tuple(None if delta is None else sign * delta for delta in case)


def coverage(populations: Sequence[Sequence[Case]], n: int, n_comparisons: int) -> float:
    """How often the interval of the mean change in mrr holds the true one: the lowest of all populations."""
    shares = []
    for number, population in enumerate(populations):
        chance = random.Random(seed_of(NAMES[:1], n) + number)
        true = _mean([case[0] or 0.0 for case in population])
        n_held = 0
        for trial in range(n_comparisons):
            found = weigh(chance.choices(population, k=n), NAMES[:1], trial)["mrr"]
            assert found.ci95_low is not None
            assert found.ci95_high is not None
            n_held += found.ci95_low <= true <= found.ci95_high
        shares.append(n_held / n_comparisons)
    return min(shares)


def found_share_at_mde(
    populations: Sequence[Sequence[Case]], family: Sequence[str], n: int, n_comparisons: int
) -> float:
    """The share of `improved` in mrr where every metric truly rose by what n cases should detect.

    Cases are turned by chance, as where there is no change; then each metric rises by its minimum detectable
    effect at the spread of its whole population.
    """
    chance = random.Random(seed_of(family, n))
    effect = detectable_effect(n, ALPHA / len(family)) or 0.0
    n_found = 0
    for trial in range(n_comparisons):
        population = populations[trial % len(populations)]
        shifts = [effect * _spread(tuple(population), at) for at in range(len(family))]
        cases = [_turned(case, chance.choice((1, -1))) for case in chance.choices(population, k=n)]
        risen = [
            tuple(None if d is None else d + shift for d, shift in zip(case, shifts, strict=False))
            for case in cases
        ]
        n_found += weigh(risen, family, trial)["mrr"].verdict is Verdict.IMPROVED
    return n_found / n_comparisons


@lru_cache(maxsize=64)
def _spread(population: tuple[Case, ...], at: int) -> float:
    """The sd around 0 of one metric, whose sign is random."""
    deltas = defined([case[at] for case in population])
    return math.sqrt(_mean([delta * delta for delta in deltas]))


def found_share_at_n_needed(population: Sequence[Case], mean: float, n_comparisons: int) -> tuple[int, float]:
    """How many cases a true change of mrr by `mean` needs, and how often it is found with as many."""
    chance = random.Random(seed_of(NAMES[:1], 0))
    n = cases_needed(mean / _spread(tuple(population), 0), ALPHA)
    n_found = 0
    for trial in range(n_comparisons):
        cases = [_turned(case, chance.choice((1, -1))) for case in chance.choices(population, k=n)]
        risen: list[Case] = [((case[0] or 0.0) + mean,) for case in cases]
        n_found += weigh(risen, NAMES[:1], trial)["mrr"].verdict is Verdict.IMPROVED
    return n, n_found / n_comparisons


def false_equivalent_share(n: int, limit: float) -> float:
    """The probability of `equivalent` within `limit` where the mean truly falls by as much.

    That share of the cases loses all, and the others tie: the hardest case, since a small set may draw none
    of the losses. Computed from the binomial distribution of the losses.
    """
    share = 0.0
    for n_lost in range(n + 1):
        cases: list[Case] = [(-1.0 if at < n_lost else 0.0,) for at in range(n)]
        if weigh(cases, NAMES[:1], 0, limit)["mrr"].verdict is not Verdict.EQUIVALENT:
            break
        share += math.comb(n, n_lost) * limit**n_lost * (1 - limit) ** (n - n_lost)
    return share


def weigh(
    cases: Sequence[Case], family: Sequence[str], seed: int, min_effect: float = 0.0
) -> Mapping[str, DifferenceEvidence]:
    """The evidence on these differences."""
    n = len(cases)
    ids = [str(case) for case in range(n)]
    columns = {name: tuple(case[at] for case in cases) for at, name in enumerate(family)}
    nothing = dict.fromkeys(family, (0.0,) * n)
    a, b = (
        summarize(name, ids, [10] * n, [None] * n, figures)
        for name, figures in (("a", nothing), ("b", columns))
    )
    options = EvidenceOptions(tuple(family), ALPHA, min_effect, seed, RESAMPLES)
    compared = gather_evidence(options, (), (a, b)).compare
    assert compared is not None
    return compared.metrics


def found_share_of_normal_deltas(n: int, n_comparisons: int, sd: float = 0.2) -> float:
    """The share of `improved` where deltas are normal and their mean is the minimum detectable effect."""
    chance = random.Random(n)
    mean = (detectable_effect(n, ALPHA) or 0.0) * sd
    n_found = 0
    for trial in range(n_comparisons):
        cases: list[Case] = [(chance.gauss(mean, sd),) for _ in range(n)]
        n_found += weigh(cases, NAMES[:1], trial)["mrr"].verdict is Verdict.IMPROVED
    return n_found / n_comparisons


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


if __name__ == "__main__":
    main()
