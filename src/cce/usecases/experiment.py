"""Tables of systems: an experiment compares them, an ablation changes one key at a time, a sweep tries all.

fixture set, systems ──> rows ──> rankings and scores ──> differences, costs ──> table
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from cce.domain.case import Case, FixtureSet
from cce.domain.evidence import EvidenceOptions
from cce.domain.experiment import Experiment, ExperimentRow, HeldOut
from cce.domain.gate import GatePolicy
from cce.errors import UsageError
from cce.measurement.experiments import choose, experiment_rows
from cce.measurement.fixtures.reading import read_fixture_set
from cce.measurement.metrics.catalog import has_means_only
from cce.quoting import on_one_line, quoted
from cce.registry import unknown_name
from cce.retrieval.indexing.directory import IndexedCorpus, ProgressCallback
from cce.retrieval.systems.catalogue import Catalogue
from cce.usecases.corpora import CorpusChoice, corpus_of, open_corpus
from cce.usecases.evaluate import Measurement, Plan, all_notices, costs_of_systems, measure_systems
from cce.usecases.gate_rows import RowGate
from cce.usecases.systems import BUILT_IN_SYSTEMS, SystemsChoice

# 2^64: a case tunes if the first eight bytes of its digest are under the share of it.
_DIGEST_RANGE = 1 << 64


class ExperimentPlan(NamedTuple):
    """What to compare.

    verb      experiment, ablate or sweep, for the heading
    names     rows: systems of `catalogue`, in the order of the table
    baseline  one of them
    by        the main metric, one of `evidence.metrics`
    tune      a tag, or a share between 0 and 1: choose on these cases, show the choice on the others
    gate      a policy that judges each row
    """

    verb: str
    fixtures: str
    names: tuple[str, ...]
    baseline: str
    by: str
    evidence: EvidenceOptions
    corpus: CorpusChoice
    systems: SystemsChoice = BUILT_IN_SYSTEMS
    catalogue: Catalogue = Catalogue()
    tune: str | None = None
    gate: GatePolicy | None = None


def run_experiment(plan: ExperimentPlan, progress: ProgressCallback) -> Experiment:
    """Carry out `plan`; raises CceError. Every warning of the run is among the notes of the table."""
    _require_comparable(plan)
    fixtures = read_fixture_set(plan.fixtures)
    tuned, held_out = (fixtures, None) if plan.tune is None else split_cases(fixtures, plan.tune)
    gate = None if plan.gate is None else RowGate(plan.gate, plan.fixtures)
    corpus = corpus_of(plan.corpus, fixtures)
    indexed = open_corpus(plan.corpus, corpus, progress)
    evidence = plan.evidence if gate is None else gate.with_own_metrics(plan.evidence)
    measurement = _measure(plan._replace(evidence=evidence), plan.names, tuned, indexed, progress)
    costs = measurement.costs
    rows = experiment_rows(plan.evidence, measurement.scores, costs, plan.by, plan.baseline)
    if gate is not None:
        outcomes = gate.outcomes(measurement, indexed)
        rows = tuple(row._replace(outcome=outcomes[row.name].value) for row in rows)
    choice = choose(plan.evidence, measurement.scores, costs, plan.by)
    experiment = Experiment(
        plan.verb,
        plan.fixtures,
        corpus,
        indexed.index.embedder.name,
        len(tuned.cases),
        plan.evidence.metrics,
        plan.by,
        plan.baseline,
        plan.evidence,
        rows,
        choice,
        notes=(*all_notices(fixtures, indexed), *measurement.notices),
    )
    if held_out is not None:
        chosen = plan.baseline if choice is None else choice.row
        row = _held_out_row(plan, chosen, held_out, indexed, progress)
        experiment = experiment._replace(
            held_out=HeldOut(plan.tune or "", len(tuned.cases), len(held_out.cases), row)
        )
    return experiment


def _require_comparable(plan: ExperimentPlan) -> None:
    if plan.by not in plan.evidence.metrics:
        fault = unknown_name("metric", plan.by, plan.evidence.metrics)
        raise UsageError(f"--by {on_one_line(plan.by)}: {fault}: name it in --metrics, too")
    if has_means_only(plan.by):
        raise UsageError(f"--by {plan.by}: it has a mean only: name one to compare by")
    if plan.baseline not in plan.names:
        fault = unknown_name("row", plan.baseline, plan.names)
        raise UsageError(f"--baseline {on_one_line(plan.baseline)}: {fault}")
    if plan.tune is not None and not plan.evidence.min_effect:
        raise UsageError("--tune chooses a row, which needs a limit: add --min-effect, as in 0.02")


def split_cases(fixtures: FixtureSet, tune: str) -> tuple[FixtureSet, FixtureSet]:
    """The cases to choose on, and the others; raises UsageError if either has none.

    tune  a share between 0 and 1, which each case falls under by its id alone, or else a tag
    """
    share = _share(tune)
    if share is not None and not 0 < share < 1:
        raise UsageError(f"--tune takes a tag, or a share between 0 and 1 such as 0.5; got {quoted(tune)}")
    is_tuned = {
        case.id: (tune in case.tags) if share is None else _falls_under(case, share)
        for case in fixtures.cases
    }
    tuned, rest = (
        fixtures._replace(cases=tuple(case for case in fixtures.cases if is_tuned[case.id] is wanted))
        for wanted in (True, False)
    )
    if not tuned.cases or not rest.cases:
        which = "no case is" if not tuned.cases else "every case is"
        raise UsageError(f"--tune {on_one_line(tune)}: {which} among those to choose on, name another part")
    return tuned, rest


def _share(tune: str) -> float | None:
    try:
        return float(tune)
    except ValueError:
        return None


def _falls_under(case: Case, share: float) -> bool:
    digest = hashlib.sha256(case.id.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") < share * _DIGEST_RANGE


def _measure(
    plan: ExperimentPlan,
    names: Sequence[str],
    fixtures: FixtureSet,
    indexed: IndexedCorpus,
    progress: ProgressCallback,
) -> Measurement:
    measuring = Plan(
        plan.fixtures,
        tuple(names),
        is_comparison=False,
        corpus=plan.corpus,
        evidence=plan.evidence,
        systems=plan.systems,
        catalogue=plan.catalogue,
    )
    measurement = measure_systems(measuring, fixtures, indexed.index, progress)
    return measurement._replace(costs=costs_of_systems(measuring, indexed.index, measurement))


def _held_out_row(
    plan: ExperimentPlan,
    name: str,
    fixtures: FixtureSet,
    indexed: IndexedCorpus,
    progress: ProgressCallback,
) -> ExperimentRow:
    """The row on the cases that it was not chosen on, against the baseline there."""
    names = tuple(dict.fromkeys((plan.baseline, name)))
    measured = _measure(plan, names, fixtures, indexed, progress)
    options = replace(plan.evidence, min_effect=0.0)
    rows = experiment_rows(options, measured.scores, measured.costs, plan.by, plan.baseline)
    return next(row for row in rows if row.name == name)
