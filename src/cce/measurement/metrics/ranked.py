"""Metrics that need no ideal ranking, with the four of every report: pure formulas on a match."""

from __future__ import annotations

from cce.measurement.matching.matches import CaseMatch


def precision_at_k(match: CaseMatch) -> float:
    """The number of relevant hits over k."""
    # By k, not by the number of hits: returning fewer than k hits must cost precision.
    return sum(1 for matched in match.matches if matched) / match.k


def recall(match: CaseMatch) -> float:
    """The share of the anchors that at least one hit matches."""
    return len(set().union(*match.matches)) / match.n_anchors


def first_relevant_rank(match: CaseMatch) -> int | None:
    """The 1-based rank of the first hit that matches an anchor, None if no hit does."""
    ranks = (rank for rank, matched in enumerate(match.matches, start=1) if matched)
    return next(ranks, None)


def reciprocal_rank(match: CaseMatch) -> float:
    """1 / rank of the first relevant hit, 0 without one; its mean over cases is the MRR."""
    rank = first_relevant_rank(match)
    return 0.0 if rank is None else 1.0 / rank


def hit(match: CaseMatch) -> float:
    """1 if any hit is relevant, else 0."""
    return 1.0 if any(match.matches) else 0.0


def f1(match: CaseMatch) -> float:
    """The harmonic mean of precision@k and recall."""
    return harmonic_mean(precision_at_k(match), recall(match))


def harmonic_mean(a: float, b: float) -> float:
    """2ab / (a + b), for figures that are not negative; 0 if both are 0."""
    return 2.0 * a * b / (a + b) if a + b > 0.0 else 0.0


def judged(match: CaseMatch) -> float | None:
    """The share of the hits that somebody judged, as relevant or as irrelevant; None without hits."""
    if not match.matches:
        return None
    known = zip(match.matches, match.irrelevant, strict=True)
    return sum(1 for matched, is_irrelevant in known if matched or is_irrelevant) / len(match.matches)


def irrelevant_hits(match: CaseMatch) -> float:
    """The number of hits that match a place judged irrelevant."""
    return float(sum(match.irrelevant))
