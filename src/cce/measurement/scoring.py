"""Fixture set and rankings in, the score of one backend out: a row per case, and their means."""

from __future__ import annotations

from collections.abc import Sequence

from cce.domain.case import Case, FixtureSet
from cce.domain.ranking import Ranking
from cce.domain.scores import BackendScore, CaseScore, TokenScore
from cce.measurement import metrics
from cce.measurement.matching.matches import judge
from cce.measurement.matching.spans import LineWeights, token_score
from cce.numerals import mean


def score_backend(
    name: str, fixtures: FixtureSet, rankings: Sequence[Ranking], weights: LineWeights
) -> BackendScore:
    """Score one ranking per case, in case order; an empty ranking scores 0 and stays in the means."""
    pairs = zip(fixtures.cases, rankings, strict=True)
    return summarize(name, [score_case(case, ranking, weights) for case, ranking in pairs])


def score_case(case: Case, ranking: Ranking, weights: LineWeights) -> CaseScore:
    """All figures of one case."""
    judgment = judge(case, ranking)
    return CaseScore(
        id=case.id,
        k=case.k,
        precision_at_k=metrics.precision_at_k(judgment),
        recall=metrics.recall(judgment),
        mrr=metrics.reciprocal_rank(judgment),
        f1=metrics.f1(judgment),
        first_relevant_rank=metrics.first_relevant_rank(judgment),
        tokens=token_score(case, ranking, weights),
    )


def summarize(name: str, cases: Sequence[CaseScore]) -> BackendScore:
    """The plain means over `cases`, at least one; token figures over the ranged ones only."""
    ranged = [case.tokens for case in cases if case.tokens is not None]
    return BackendScore(
        backend=name,
        precision_at_k=mean([case.precision_at_k for case in cases]),
        recall=mean([case.recall for case in cases]),
        mrr=mean([case.mrr for case in cases]),
        f1=mean([case.f1 for case in cases]),
        tokens=_mean_tokens(ranged) if ranged else None,
        n_ranged=len(ranged),
        cases=tuple(cases),
    )


def _mean_tokens(scores: Sequence[TokenScore]) -> TokenScore:
    return TokenScore(
        precision=mean([score.precision for score in scores]),
        recall=mean([score.recall for score in scores]),
        iou=mean([score.iou for score in scores]),
    )
