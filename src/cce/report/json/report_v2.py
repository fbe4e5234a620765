"""Report in, `cce.relevance.report/v2` out: the bytes that are compared, stored and read by machines.

Every field is spelled out, because a contract changes by decision. Scores are six-decimal strings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cce.domain.redaction import Redaction
from cce.domain.report import Report, SavedPair
from cce.domain.scores import BackendScore, CaseScore
from cce.numerals import format_score, format_signed

if TYPE_CHECKING:
    from cce.domain.comparison import Comparison, PairedTest

SCHEMA = "cce.relevance.report/v2"

Json = dict[str, object]


def render_json(report: Report) -> str:
    """The report as JSON with sorted keys and one final newline, valid UTF-8 once encoded."""
    text = json.dumps(_report(report), ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False)
    # A path that is not UTF-8 arrives with lone surrogates, which Python spells as JSON does: \udcff.
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def _report(report: Report) -> Json:
    fields: Json = {
        "schema": SCHEMA,
        "corpus": report.corpus,
        "embedder": report.embedder,
        "queries": report.n_queries,
        "backends": [_backend(score) for score in report.backends],
    }
    if report.comparison is not None:
        fields["compare"] = _comparison(report.comparison)
    if report.evidence is not None:
        from cce.report.json.evidence import evidence_record  # most reports have none

        fields["evidence"] = evidence_record(report.evidence)
    if report.redaction is Redaction.STRICT:
        fields["redact"] = report.redaction.value
    if report.saved is not None:
        fields["saved"] = _saved(report.saved)
    return fields


def _saved(saved: SavedPair) -> Json:
    return {"old": saved.old, "new": saved.new, "left_out": saved.n_left_out}


def _backend(score: BackendScore) -> Json:
    fields: Json = {
        "backend": score.backend,
        **_figures(score.means),
        "per_query": [_case(score.case(at)) for at in range(score.n_cases)],
    }
    if score.n_ranged:
        fields["tokens"] = {**_tokens(score.means), "queries": score.n_ranged}
    return fields


def _case(case: CaseScore) -> Json:
    fields: Json = {
        "id": case.id,
        "k": case.k,
        **_figures(case.figures),
        "first_relevant_rank": case.first_relevant_rank,
    }
    if case.figures.get("token_iou") is not None:
        fields["tokens"] = _tokens(case.figures)
    return fields


def _figures(figures: Mapping[str, float | None]) -> Json:
    return {
        "precision_at_k": _score(figures["precision_at_k"]),
        "recall": _score(figures["recall"]),
        "mrr": _score(figures["mrr"]),
        "f1": _score(figures["f1"]),
    }


def _tokens(figures: Mapping[str, float | None]) -> Json:
    return {
        "precision": _score(figures["token_precision"]),
        "recall": _score(figures["token_recall"]),
        "iou": _score(figures["token_iou"]),
    }


def _score(figure: float | None) -> str | None:
    return None if figure is None else format_score(figure)


def _comparison(comparison: Comparison) -> Json:
    return {
        "a": comparison.a.backend,
        "b": comparison.b.backend,
        "metrics": {each.metric: _test(each.test) for each in comparison.differences},
    }


def _test(test: PairedTest) -> Json:
    return {
        "n": test.n,
        "mean_delta": format_signed(test.mean_delta),
        "t": _signed_or_null(test.t),
        "p": _score(test.p),
        "ci95_low": _signed_or_null(test.ci95_low),
        "ci95_high": _signed_or_null(test.ci95_high),
    }


def _signed_or_null(value: float | None) -> str | None:
    return None if value is None else format_signed(value)
