"""No printed sentence contradicts another: random comparisons, read back from their own sentences."""

from __future__ import annotations

import random
import re
from typing import NamedTuple

import pytest

from cce.domain.evidence import EvidenceOptions
from cce.measurement.evidence.gathering import gather_evidence
from cce.report.view.sentences import sentences
from score_rows import score_of_columns

FAMILY = ("mrr", "recall", "precision_at_k", "f1")
N_REPORTS = 1000  # for each alpha
FIGURES = (0.0, 1.0, 0.5, 1 / 3, 0.25, 0.2, 0.1)
NUDGES = (1e-6, -1e-6, 4e-7, 0.01, -0.01, 0.05)

_NUMBER = r"[+-]?\d+\.\d{6}"
_SENTENCE = re.compile(
    rf"\S+ (?P<move>rose|fell|kept its mean)(?: by (?P<mean>{_NUMBER}) on average)? from a to b "
    rf"\((?:95% CI(?P<alone> of this metric alone)? \[(?P<low>{_NUMBER}), (?P<high>{_NUMBER})\]; )?"
    r"(?P<n>\d+) cases?: (?P<better>\d+) better, (?P<worse>\d+) worse, (?P<tied>\d+) tied\)\. "
    r"Verdict: (?P<verdict>[a-z ]+)(?P<rest>.*)"
)


class Said(NamedTuple):
    """One sentence taken apart; numbers as printed, in units of 1e-6."""

    mean: int
    interval: tuple[int, int] | None
    n: int
    better: int
    worse: int
    tied: int
    verdict: str
    rest: str

    def number(self, before: str, after: str = "") -> int | None:
        found = re.search(rf"{before}({_NUMBER}){after}", self.rest)
        return None if found is None else micro(found[1])

    def number_of(self, before: str, after: str) -> int | None:
        found = re.search(rf"{before}(\d+){after}", self.rest)
        return None if found is None else int(found[1])


def micro(text: str) -> int:
    return round(float(text) * 1e6)


def read(sentence: str) -> Said:
    found = _SENTENCE.fullmatch(sentence)
    assert found is not None, sentence
    sign = {"rose": 1, "fell": -1, "kept its mean": 0}[found["move"]]
    mean = sign * micro(found["mean"] or "0")
    interval = None if found["low"] is None else (micro(found["low"]), micro(found["high"]))
    n, better, worse, tied = (int(found[name]) for name in ("n", "better", "worse", "tied"))
    return Said(mean, interval, n, better, worse, tied, found["verdict"], found["rest"])


def random_sentences(chance: random.Random, options: EvidenceOptions) -> list[tuple[str, float]]:
    """What is said of each metric of a random comparison, and its p alone.

    There are few or many cases, ties, rare losses, and metrics that move alike.
    """
    n = chance.choice((1, 2, 4, 5, 6, 7, 8, 10, 15, 24, 40, 60))
    share, bias = chance.choice((0.0, 0.1, 0.4, 0.9)), chance.choice((0.1, 0.5, 0.9))
    lead = [_step(chance, share, bias) for _ in range(n)]
    columns_a, columns_b = {}, {}
    for metric in options.metrics:
        steps = lead if chance.random() < 0.5 else [_step(chance, share, bias) for _ in range(n)]
        before = [0.5 if step else chance.choice(FIGURES) for step in steps]
        columns_a[metric] = tuple(before)
        columns_b[metric] = tuple(x + step for x, step in zip(before, steps, strict=True))
    pair = score_of_columns("a", columns_a), score_of_columns("b", columns_b)
    compare = gather_evidence(options, (), pair).compare
    assert compare is not None
    alone = [each.flip_p for each in compare.metrics.values()]
    return list(zip(sentences(compare, options), alone, strict=True))


def _step(chance: random.Random, share: float, bias: float) -> float:
    if chance.random() >= share:
        return 0.0
    if chance.random() < 0.2:
        return chance.choice(NUDGES)
    return (chance.choice(FIGURES) / 2) * (1 if chance.random() < bias else -1)


def require_consistent(said: Said, alone: float, options: EvidenceOptions) -> None:
    alpha, limit = micro(str(options.alpha)), micro(str(options.min_effect))
    p = said.number(", p = ")
    assert said.better + said.worse + said.tied == said.n
    assert (said.verdict == "no case moved") <= (said.better + said.worse == 0 == said.mean)
    if said.interval is not None:
        low, high = said.interval
        assert low <= said.mean <= high
    if said.verdict in ("improved", "regressed"):
        assert (said.verdict == "improved") == (said.mean > 0)
        assert p is not None
        assert p < alpha
        assert abs(said.mean) >= max(1, limit)
        assert "Only " not in said.rest
        assert "smaller than what counts" not in said.rest
    elif said.verdict == "inconclusive":
        assert p is not None
        is_explained = "smaller than what counts" in said.rest or "prints as 0" in said.rest
        assert is_explained == (p < alpha)
        n_moved = said.number_of("Only ", " cases? moved")
        assert n_moved in (None, said.better + said.worse)
        assert (n_moved is not None) == (alpha * 2 ** (said.better + said.worse) <= 2_000_000)
    else:
        assert p is None
        assert "Alone" not in said.rest
    if said.verdict == "cannot tell":
        assert "power" not in said.rest
        assert (said.number("no p below ") or 0) >= alpha
    if said.verdict == "equivalent":
        assert said.interval is None
        low, high = (micro(each) for each in re.findall(_NUMBER, said.rest)[:2])
        assert -limit < low <= said.mean <= high < limit
    assert ("would undo this" in said.rest) <= (said.verdict in ("improved", "regressed"))
    _require_interval_agrees(said, p, round(alone * 1e6), alpha)
    _require_forecast_agrees(said)


def _require_interval_agrees(said: Said, p: int | None, alone: int, alpha: int) -> None:
    """Where the interval leaves 0 out and p is not below alpha, or the reverse, the sentence says why."""
    if p is None or said.interval is None or said.mean == 0:
        return
    low, high = said.interval
    leaves_zero = low > 0 or high < 0
    assert leaves_zero == (alone < 50_000)
    assert ("Alone" in said.rest) == (leaves_zero and p >= alpha)
    assert ("Alone it would" in said.rest) == (leaves_zero and alone < alpha <= p)
    assert said.number("Alone, its p of ") in (None, alone)
    assert ("holds 0; at" in said.rest) == (not leaves_zero and p < alpha)


def _require_forecast_agrees(said: Said) -> None:
    """A change that the set detects needs no more cases than it has, and a smaller one needs more."""
    mde, wanted = said.number("detect a true change of "), said.number("to tell a true change of ")
    needed = said.number_of("from none takes ", " cases?")
    if mde is None or wanted is None or needed is None:
        return
    if wanted > mde:
        assert needed <= said.n
    if wanted < mde:
        assert needed > said.n


@pytest.mark.process
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_no_sentence_of_a_thousand_random_comparisons_contradicts_itself(alpha: float) -> None:
    chance = random.Random(f"laws {alpha}")
    verdicts: set[str] = set()
    for number in range(N_REPORTS):
        options = EvidenceOptions(
            metrics=FAMILY[: chance.choice((1, 2, 4))],
            alpha=alpha,
            min_effect=chance.choice((0.0, 0.0, 0.01, 0.2)),
            seed=number,
            resamples=chance.choice((99, 400)),
        )
        for sentence, alone in random_sentences(chance, options):
            said = read(sentence)
            try:
                require_consistent(said, alone, options)
            except AssertionError as exc:
                raise AssertionError(f"{options}: {sentence}") from exc
            verdicts.add(said.verdict)
    # Each was there to be checked; `identical` needs rankings.
    assert verdicts == {
        *("improved", "regressed", "equivalent", "cannot tell", "no case moved", "inconclusive")
    }
