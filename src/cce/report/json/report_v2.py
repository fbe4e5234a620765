"""Report in, `cce.relevance.report/v2` out: the bytes that are compared, stored and read by machines.

Every field is spelled out, because a contract changes by decision. Scores are six-decimal strings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cce.domain.full_report import FullReport
from cce.domain.report import Report, SavedPair
from cce.domain.scores import BackendScore, CaseScore
from cce.json_text import dump_json
from cce.numerals import format_score, format_signed
from cce.report.json.fields import Json, redact_field, score_or_null, signed_or_null

if TYPE_CHECKING:
    from cce.domain.comparison import Comparison, PairedTest
    from cce.domain.costs import Costs
    from cce.domain.labels import Label, MadeBy

SCHEMA = "cce.relevance.report/v2"


def render_json_report(full: FullReport) -> str:
    """The report for machines; where a gate was asked its answer, which has a schema of its own."""
    if full.others:
        return dump_json(_several((full.report, *full.others)))
    if full.gate is None:
        return render_json(full.report)
    from cce.report.json.gate import render_gate_json  # most reports have no gate

    return render_gate_json(full.gate, full.warnings)


def render_json(report: Report) -> str:
    """The report as JSON with sorted keys and one final newline, valid UTF-8 once encoded."""
    return dump_json(_report(report))


def _report(report: Report) -> Json:
    fields: Json = {
        "schema": SCHEMA,
        **redact_field(report.redaction),
        "corpus": report.corpus,
        "embedder": report.embedder,
        "queries": report.n_queries,
        "backends": [_backend(score) for score in report.backends],
    }
    fields |= _differences(report)
    if report.saved is not None:
        fields["saved"] = _saved(report.saved)
    if report.notes:
        fields["notes"] = list(report.notes)
    if report.costs:
        fields["costs"] = {name: _costs(costs) for name, costs in report.costs.items()}
    if report.systems:
        fields["systems"] = report.systems
    if report.figures:
        fields["figures"] = {score.backend: _more_figures(score, report.figures) for score in report.backends}
    if report.labels is not None:
        fields["labels"] = {name: _label(label) for name, label in report.labels.items()}
    if report.made_by is not None:
        fields["made_by"] = _made_by(report.made_by)
    return fields


def _several(reports: Sequence[Report]) -> Json:
    """Saved reports against one baseline: each has its backend, and its comparison in the order given."""
    first = reports[0]
    fields = _report(first._replace(comparison=None, evidence=None, saved=None))
    pairs = [report.saved for report in reports if report.saved is not None]
    return {
        **fields,
        "backends": [
            _backend(score) for score in (first.backends[0], *(each.backends[1] for each in reports))
        ],
        "comparisons": [
            {"report": pair.new, **_differences(report)} for pair, report in zip(pairs, reports, strict=True)
        ],
        "saved": {
            "old": pairs[0].old,
            "new": [pair.new for pair in pairs],
            "left_out": max(pair.n_left_out for pair in pairs),
        },
    }


def _differences(report: Report) -> Json:
    fields: Json = {}
    if report.comparison is not None:
        fields["compare"] = _comparison(report.comparison)
    if report.evidence is not None:
        from cce.report.json.evidence import evidence_record  # most reports have none

        fields["evidence"] = evidence_record(report.evidence)
    return fields


def _label(label: Label) -> Json:
    return {"critical": label.critical, "digest": label.digest, "tags": list(label.tags)}


def _made_by(made_by: MadeBy) -> Json:
    return {
        "cce": made_by.version,
        "grammars": dict(made_by.grammars),
        "redact": made_by.redaction,
        "system": dict(made_by.system),
    }


def _more_figures(score: BackendScore, metrics: Sequence[str]) -> Json:
    """Metric -> case id -> figure, of ids that are unique."""
    return {
        metric: dict(zip(score.ids, map(score_or_null, score.columns[metric]), strict=True))
        for metric in metrics
    }


def _costs(costs: Costs) -> Json:
    return {
        "estimate": score_or_null(costs.estimate),
        "pairs": format_score(costs.pairs),
        "tokens": format_score(costs.tokens),
        "unit": costs.unit,
    }


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
        "precision_at_k": score_or_null(figures["precision_at_k"]),
        "recall": score_or_null(figures["recall"]),
        "mrr": score_or_null(figures["mrr"]),
        "f1": score_or_null(figures["f1"]),
    }


def _tokens(figures: Mapping[str, float | None]) -> Json:
    return {
        "precision": score_or_null(figures["token_precision"]),
        "recall": score_or_null(figures["token_recall"]),
        "iou": score_or_null(figures["token_iou"]),
    }


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
        "t": signed_or_null(test.t),
        "p": score_or_null(test.p),
        "ci95_low": signed_or_null(test.ci95_low),
        "ci95_high": signed_or_null(test.ci95_high),
    }
