"""Evidence in, the value of the report's key `evidence` out. Every field is spelled out."""

from __future__ import annotations

from cce.domain.evidence import (
    BackendEvidence,
    ComparisonEvidence,
    DifferenceEvidence,
    Evidence,
    Interval,
    SliceDifference,
    SliceEvidence,
)
from cce.numerals import format_score
from cce.report.json.fields import Json, score_or_null, signed_or_null


def evidence_record(evidence: Evidence) -> Json:
    """Figures as six-decimal strings, counts as integers, undefined ones null."""
    fields: Json = {
        "alpha": format_score(evidence.options.alpha),
        "min_effect": format_score(evidence.options.min_effect),
        "resamples": evidence.options.resamples,
        "seed": evidence.options.seed,
        "metrics": list(evidence.options.metrics),
        "backends": [_backend(each) for each in evidence.backends],
    }
    if evidence.compare is not None:
        fields["compare"] = _comparison(evidence.compare)
    if evidence.slices:
        fields["slices"] = [_slice(each) for each in evidence.slices]
    return fields


def _backend(each: BackendEvidence) -> Json:
    return {
        "backend": each.backend,
        "metrics": {name: _interval(interval) for name, interval in each.metrics.items()},
    }


def _interval(interval: Interval) -> Json:
    return {
        "n": interval.n,
        "mean": score_or_null(interval.mean),
        "ci95_low": score_or_null(interval.ci95_low),
        "ci95_high": score_or_null(interval.ci95_high),
    }


def _comparison(compare: ComparisonEvidence) -> Json:
    return {
        "a": compare.a,
        "b": compare.b,
        "metrics": {name: difference_record(each) for name, each in compare.metrics.items()},
    }


def difference_record(each: DifferenceEvidence) -> Json:
    """One difference, ids of the cases that moved included."""
    return {
        "n": each.n,
        "better": list(each.better),
        "worse": list(each.worse),
        "tied": each.tied,
        "sign_p": format_score(each.sign_p),
        "flip_p": format_score(each.flip_p),
        "flip_method": each.flip_method.value,
        "adjusted_p": format_score(each.adjusted_p),
        "mean_delta": signed_or_null(each.mean_delta),
        "ci95_low": signed_or_null(each.ci95_low),
        "ci95_high": signed_or_null(each.ci95_high),
        "effect_size": signed_or_null(each.effect_size),
        "mde": score_or_null(each.mde),
        "n_needed": each.n_needed,
        "attainable_p": format_score(each.attainable_p),
        "verdict": each.verdict.value,
    }


def _slice(each: SliceEvidence) -> Json:
    fields: Json = {
        "tag": each.name,
        "n": each.n,
        "backends": [
            {
                "backend": backend.backend,
                "metrics": {name: score_or_null(figure) for name, figure in backend.metrics.items()},
            }
            for backend in each.backends
        ],
    }
    if each.compare is not None:
        fields["compare"] = {name: _slice_difference(found) for name, found in each.compare.items()}
    return fields


def _slice_difference(each: SliceDifference) -> Json:
    return {
        "mean_delta": signed_or_null(each.mean_delta),
        "better": each.better,
        "worse": each.worse,
        "tied": each.tied,
        "sign_p": format_score(each.sign_p),
    }
