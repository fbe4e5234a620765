"""A gate's answer in, `cce.gate.report/v1` out: the verdict with its reasons, for machines.

Every field is spelled out, because a contract changes by decision. Scores are six-decimal strings,
counts and ranks integers, paths as the policy spells them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cce.domain.evidence import EvidenceOptions
from cce.domain.gate import Acceptance, GatePolicy, GateReport, Level, Limits, Reason
from cce.domain.scores import METRICS, BackendScore
from cce.json_text import dump_json
from cce.numerals import format_score
from cce.report.json.fields import Json, redact_field, score_or_null

SCHEMA = "cce.gate.report/v1"


def render_gate_json(gate: GateReport, warnings: Sequence[str] = ()) -> str:
    """The answer as JSON with sorted keys and one final newline, valid UTF-8 once encoded."""
    return dump_json({**_gate(gate), "warnings": list(warnings)})


def _gate(gate: GateReport) -> Json:
    comparison = gate.report.comparison
    fields: Json = {
        "schema": SCHEMA,
        **redact_field(gate.report.redaction),
        "verdict": gate.outcome.value,
        "refused": gate.is_refused,
        "strict": gate.is_strict,
        "reasons": [_reason(reason) for reason in gate.reasons],
        "fixtures": {
            "path": gate.policy.fixtures,
            "sha256": gate.digest,
            "cases": len(gate.fixtures.cases),
        },
        "policy": _policy(gate.policy),
        "baseline": None if comparison is None else _means(comparison.a),
        "candidate": _means(gate.candidate),
        "embedder": gate.report.embedder,
    }
    if gate.baseline_ref is not None:
        fields["baseline_ref"] = gate.baseline_ref
    if gate.acceptance is not None:
        fields["accepted"] = _acceptance(gate.acceptance)
    return fields


def _reason(reason: Reason) -> Json:
    return {
        "level": reason.level.value,
        "rule": reason.rule.value,
        "metric": reason.metric,
        "tag": reason.tag,
        "seen": _figure(reason.seen),
        "limit": _figure(reason.limit),
        "case_ids": list(reason.case_ids),
        "text": reason.text,
    }


def _figure(value: float | int | None) -> str | int | None:
    """A score as text, a count or a rank as it is."""
    return format_score(value) if isinstance(value, float) else value


def _policy(policy: GatePolicy) -> Json:
    return {
        "backend": policy.backend,
        "baseline": policy.baseline,
        "baseline_backend": policy.baseline_backend,
        "critical": list(policy.critical),
        "dir": policy.directory,
        "store": policy.store,
        "evidence": None if policy.evidence is None else _options(policy, policy.evidence),
        "fixtures": policy.fixtures,
        "slices": {tag: _limits(limits) for tag, limits in policy.slices.items()},
        **_limits(policy.limits),
        **({"labels": policy.labels.value} if policy.labels is Level.BLOCK else {}),
    }


def _limits(limits: Limits) -> Json:
    fields: Json = {"floor": _scores(limits.floor), "drop": _scores(limits.drop)}
    # Absent where no policy of version 1 had one, so that their reports keep their bytes.
    return fields | {"ceiling": _scores(limits.ceiling)} if limits.ceiling else fields


def _options(policy: GatePolicy, options: EvidenceOptions) -> Json:
    return {
        "alpha": format_score(options.alpha),
        "metrics": list(options.metrics),
        "min_effect": format_score(options.min_effect),
        "resamples": options.resamples,
        "seed": options.seed,
        # As for a ceiling: absent where it says nothing.
        **({"review_p": format_score(policy.review_p)} if policy.review_p < 1.0 else {}),
    }


def _means(score: BackendScore) -> Json:
    means = {metric: score.mean(metric) for metric in METRICS}
    return {"backend": score.backend, "cases": score.n_cases, **_scores(means)}


def _scores(figures: Mapping[str, float]) -> Json:
    return {name: format_score(figure) for name, figure in figures.items()}


def _acceptance(acceptance: Acceptance) -> Json:
    return {
        "baseline": acceptance.baseline,
        "better": list(acceptance.better),
        "worse": list(acceptance.worse),
        "added": list(acceptance.added),
        "removed": list(acceptance.removed),
        **({"relabelled": list(acceptance.relabelled)} if acceptance.relabelled else {}),
        "means": {
            move.metric: {
                "before": score_or_null(move.before),
                "after": format_score(move.after),
            }
            for move in acceptance.means
        },
    }
