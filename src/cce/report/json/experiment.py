"""An experiment in, JSON for programs out. Every field is spelled out, figures are texts of six decimals."""

from __future__ import annotations

from cce.domain.costs import Costs
from cce.domain.evidence import Interval
from cce.domain.experiment import Choice, Experiment, ExperimentRow, HeldOut
from cce.json_text import dump_json
from cce.numerals import format_score
from cce.report.json.evidence import difference_record
from cce.report.json.fields import Json, score_or_null, signed_or_null

SCHEMA = "cce.experiment/v1"


def render_experiment_json(experiment: Experiment) -> str:
    """One object, keys sorted."""
    record: Json = {
        "schema": SCHEMA,
        "verb": experiment.verb,
        "fixtures": experiment.fixtures,
        "corpus": experiment.corpus,
        "embedder": experiment.embedder,
        "queries": experiment.n_cases,
        "metrics": list(experiment.metrics),
        "by": experiment.by,
        "baseline": experiment.baseline,
        "alpha": format_score(experiment.options.alpha),
        "min_effect": format_score(experiment.options.min_effect),
        "seed": experiment.options.seed,
        "resamples": experiment.options.resamples,
        "rows": [_row(row) for row in experiment.rows],
        "choice": None if experiment.choice is None else _choice(experiment.choice),
        "held_out": None if experiment.held_out is None else _held_out(experiment.held_out),
        "notes": list(experiment.notes),
    }
    return dump_json(record)


def _row(row: ExperimentRow) -> Json:
    return {
        "system": row.name,
        "means": {metric: score_or_null(mean) for metric, mean in row.means.items()},
        "interval": _interval(row.interval),
        "compare": {metric: difference_record(found) for metric, found in row.differences.items()},
        "costs": _costs(row.costs),
        **({} if row.outcome is None else {"gate": row.outcome}),
    }


def _interval(interval: Interval) -> Json:
    return {
        "n": interval.n,
        "ci95_low": score_or_null(interval.ci95_low),
        "ci95_high": score_or_null(interval.ci95_high),
    }


def _costs(costs: Costs) -> Json:
    return {
        "pairs": format_score(costs.pairs),
        "tokens": format_score(costs.tokens),
        "estimate": score_or_null(costs.estimate),
        "unit": costs.unit,
    }


def _choice(choice: Choice) -> Json:
    return {
        "system": choice.row,
        "best": choice.best,
        "limit": format_score(choice.limit),
        "bounds": {name: signed_or_null(bound) for name, bound in choice.bounds.items()},
        "n_needed": choice.n_needed,
    }


def _held_out(held: HeldOut) -> Json:
    return {
        "tuned_on": held.tuned_on,
        "tuned_queries": held.n_tuned,
        "queries": held.n_cases,
        "row": _row(held.row),
    }
