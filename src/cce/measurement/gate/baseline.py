"""A saved baseline and what was measured now, paired case by case: the same figures, equally exact.

A baseline has six decimals; what was measured is rounded alike, so that no difference is made of rounding.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from cce.domain.case import FixtureSet
from cce.domain.gate import Acceptance, Move
from cce.domain.scores import METRICS, BackendScore, CaseScore, TokenScore
from cce.errors import UnknownNameError, UsageError
from cce.measurement.reports.pairing import pair_cases, same_ids_with_other_k
from cce.measurement.reports.reading import SavedReport
from cce.numerals import MICRO, ordering_key
from cce.quoting import on_one_line, quoted
from cce.registry import unknown_name

BASELINE = "baseline"


@dataclass(frozen=True, slots=True)
class BaselinePair:
    """Both scores over the cases they share, in the order of the set, as exact as a saved report.

    unpaired  ids of the set's cases that the baseline lacks, or has with another k
    removed   ids of the baseline's cases that the set has no more
    """

    baseline: BackendScore
    candidate: BackendScore
    unpaired: tuple[str, ...]
    removed: tuple[str, ...]


def score_in(saved: SavedReport, backend: str) -> BackendScore:
    """The score of `backend` in a saved report; raises UnknownNameError."""
    for score in saved.backends:
        if score.backend == backend:
            return score
    names = [on_one_line(score.backend) for score in saved.backends]
    raise UnknownNameError(
        f"{on_one_line(saved.path)}: {unknown_name('backend', backend, names)}; "
        "name the one to hold against as baseline_backend, or accept a new baseline with --accept"
    )


def pair_with_baseline(candidate: BackendScore, baseline: BackendScore, place: str) -> BaselinePair:
    """Pair the cases by their ids; `place` is where the baseline was read.

    The ids of the set are unique. Raises UsageError if nothing can be paired: it is of another set.
    """
    ks = {case.id: case.k for case in baseline.cases}
    ids = {case.id for case in candidate.cases}
    if not any(ks.get(case.id) == case.k for case in candidate.cases):
        raise UsageError(
            f"{on_one_line(place)}: the baseline shares no case with the set"
            f"{same_ids_with_other_k(baseline.cases, {case.id: case for case in candidate.cases})}: "
            "name the baseline of this set, or accept a new one with --accept"
        )
    now, then, _ = pair_cases(as_saved(candidate), baseline, only_shared=True)
    return BaselinePair(
        baseline=then._replace(backend=_name_beside(now.backend, then.backend)),
        candidate=now,
        unpaired=tuple(case.id for case in candidate.cases if ks.get(case.id) != case.k),
        removed=tuple(case.id for case in baseline.cases if case.id not in ids),
    )


def require_unique(fixtures: FixtureSet) -> None:
    """Raise UsageError if an id names two cases: a baseline could not tell them apart."""
    for name, times in Counter(case.id for case in fixtures.cases).items():
        if times > 1:
            raise UsageError(
                f"{on_one_line(fixtures.path)}: {times} cases are called {quoted(name)}: "
                "a gate tells cases by their ids, make them unique"
            )


def accept(place: str, then: BackendScore | None, now: BackendScore) -> Acceptance:
    """What moves when `now` takes the place of `then`, which is None for a first baseline."""
    before = {case.id: case for case in then.cases} if then else {}
    after = {case.id: case for case in now.cases}
    kept = [
        (before[name], case) for name, case in after.items() if name in before and before[name].k == case.k
    ]
    same = {case.id for _, case in kept}
    return Acceptance(
        baseline=place,
        means=tuple(
            Move(metric, None if then is None else getattr(then, metric), getattr(now, metric))
            for metric in METRICS
        ),
        better=tuple(case.id for old, case in kept if _rose(old, case)),
        worse=tuple(case.id for old, case in kept if _rose(case, old)),
        added=tuple(name for name in after if name not in same),
        removed=tuple(name for name in before if name not in same),
    )


def as_saved(score: BackendScore) -> BackendScore:
    """The score as a saved report would give it back: every figure rounded to six decimals."""
    return BackendScore(
        backend=score.backend,
        precision_at_k=_rounded(score.precision_at_k),
        recall=_rounded(score.recall),
        mrr=_rounded(score.mrr),
        f1=_rounded(score.f1),
        tokens=_saved_tokens(score.tokens),
        n_ranged=score.n_ranged,
        cases=tuple(map(_saved_case, score.cases)),
    )


def _rose(old: CaseScore, new: CaseScore) -> bool:
    """Whether any figure is higher; each is compared as it prints."""
    pairs = zip(old.figures, new.figures, strict=True)
    return any(ordering_key(before) < ordering_key(after) for before, after in pairs)


def _name_beside(candidate: str, baseline: str) -> str:
    return BASELINE if baseline == candidate else f"{BASELINE}:{baseline}"


def _saved_case(case: CaseScore) -> CaseScore:
    return case._replace(
        precision_at_k=_rounded(case.precision_at_k),
        recall=_rounded(case.recall),
        mrr=_rounded(case.mrr),
        f1=_rounded(case.f1),
        tokens=_saved_tokens(case.tokens),
    )


def _saved_tokens(tokens: TokenScore | None) -> TokenScore | None:
    if tokens is None:
        return None
    return TokenScore(_rounded(tokens.precision), _rounded(tokens.recall), _rounded(tokens.iou))


def _rounded(value: float) -> float:
    return ordering_key(value) / MICRO
