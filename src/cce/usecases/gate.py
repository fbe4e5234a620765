"""A gate, from policy to verdict.

policy ──> set ──> candidate measured now ──┐
baseline (saved, or accepted now) ──────────┴──> pairs ──> evidence ──> reasons ──> gate report
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from cce.domain.case import FixtureSet
from cce.domain.evidence import Evidence, EvidenceOptions
from cce.domain.full_report import FullReport
from cce.domain.gate import GatePolicy, GateReport
from cce.domain.redaction import Redaction
from cce.domain.report import Report
from cce.domain.scores import BackendScore
from cce.errors import ReportError
from cce.measurement.evidence.comparison import compare
from cce.measurement.evidence.gathering import gather_evidence
from cce.measurement.fixtures.reading import parse_fixture_set, read_set_file
from cce.measurement.gate.baseline import (
    BaselinePair,
    accept,
    as_saved,
    pair_with_baseline,
    require_figures,
    require_unique,
)
from cce.measurement.gate.policy import require_known
from cce.measurement.gate.policy_tables import PolicyError
from cce.measurement.gate.rules import judge_gate, named_metrics, weighed_metrics
from cce.measurement.matching.drilldown import drill_down
from cce.measurement.reports.reading import SavedReport, edited_means, read_saved_report
from cce.quoting import on_one_line
from cce.registry import unknown_name
from cce.report.json.report_v2 import render_json
from cce.retrieval.backends.catalog import BACKENDS
from cce.retrieval.corpus.membership import notices_of_read
from cce.retrieval.indexing.directory import IndexedCorpus, ProgressCallback
from cce.usecases.corpora import (
    NO_CHOICE,
    CorpusChoice,
    corpus_of,
    likely_secrets,
    open_corpus,
)
from cce.usecases.evaluate import Measurement, Plan, all_notices, measure_systems
from cce.usecases.gate_files import beside, corpus_of_policy, require_direct_baseline
from cce.usecases.locations import location_view
from cce.work_tree import path_in_work_tree

_N_SHOWN = 5


@dataclass(frozen=True, slots=True)
class GatePlan:
    """What to ask: `is_accepting` makes what is measured now the baseline, and judges by it.

    corpus   redaction and cache; the policy alone says where the corpus is
    command  the words of the command line
    """

    policy: GatePolicy
    is_strict: bool = False
    is_accepting: bool = False
    has_drilldown: bool = False
    command: tuple[str, ...] = ()
    corpus: CorpusChoice = NO_CHOICE


@dataclass(frozen=True, slots=True)
class GateRun:
    """The answer, and the bytes of a new baseline; None to leave it as it is.

    `directory` is what was indexed, None for a store.
    """

    full: FullReport
    gate: GateReport
    notices: tuple[str, ...]
    new_baseline: bytes | None
    directory: str | None


@dataclass(frozen=True, slots=True)
class _Sources:
    """What was read; `old` maps the backends of the baseline to their scores, empty without a baseline."""

    fixtures: FixtureSet
    digest: str
    old: Mapping[str, BackendScore]
    old_embedder: str | None
    old_redaction: Redaction = Redaction.STANDARD


def run_gate(plan: GatePlan, progress: ProgressCallback) -> GateRun:
    """Carry out `plan`; raises CceError if it cannot be measured or makes no sense."""
    sources = _read_sources(plan)
    fixtures = sources.fixtures
    measuring = _measuring_plan(plan, sources)
    indexed = open_corpus(measuring.corpus, corpus_of(measuring.corpus, fixtures), progress)
    measurement = measure_systems(measuring, fixtures, indexed.index, progress)
    gate, pair = _judge(plan, sources, measurement, indexed)
    view = location_view(indexed.index)
    cases = drill_down(fixtures.cases, measurement.rankings, view) if plan.has_drilldown else ()
    return GateRun(
        full=FullReport(
            gate.report, fixtures.path, cases, gate, plan.command, path_in_work_tree(fixtures.path)
        ),
        gate=gate,
        notices=(
            *all_notices(fixtures, indexed),
            *notices_of_read(indexed, _own_files(plan)),
            *_notices(plan, sources, pair, indexed),
            *(likely_secrets(indexed) if plan.has_drilldown else ()),
        ),
        new_baseline=_baseline_bytes(gate, sources, measurement) if plan.is_accepting else None,
        directory=indexed.root if indexed.is_directory else None,
    )


def _read_sources(plan: GatePlan) -> _Sources:
    policy = plan.policy
    _require_backend(policy, "backend", policy.backend)
    path = beside(policy, policy.fixtures)
    raw = read_set_file(path)
    fixtures = parse_fixture_set(raw, path)
    require_known(policy, fixtures)
    require_unique(fixtures)
    fixtures = _with_critical(fixtures, policy.critical)
    digest = hashlib.sha256(raw).hexdigest()
    place = beside(policy, policy.baseline)
    if plan.is_accepting:
        require_direct_baseline(policy)
    if plan.is_accepting and _is_nothing(place):
        return _Sources(fixtures, digest, {}, None)
    if not os.path.lexists(place):
        way_out = f"make one with cce gate {on_one_line(policy.path)} --accept"
        raise PolicyError(f"{on_one_line(place)}: there is no baseline, {way_out}")
    saved = _read_baseline(policy, place)
    if not plan.is_accepting:
        # Raises before anything is measured.
        require_figures(saved, policy.baseline_backend, weighed_metrics(policy))
    return _Sources(
        fixtures, digest, {score.backend: score for score in saved.backends}, saved.embedder, saved.redaction
    )


def _is_nothing(path: str) -> bool:
    """Whether there is no file, or an empty one, so that nothing is lost."""
    try:
        return os.path.getsize(path) == 0 and os.path.isfile(path)
    except OSError:
        return not os.path.lexists(path)


def _own_files(plan: GatePlan) -> Mapping[str, str]:
    """The files that a person wrote besides the set, by path; an accepted baseline gets its own notice."""
    policy = plan.policy
    files = {policy.path: "policy"}
    return files if plan.is_accepting else {**files, beside(policy, policy.baseline): "baseline"}


def _read_baseline(policy: GatePolicy, place: str) -> SavedReport:
    try:
        return read_saved_report(place)
    except ReportError as exc:
        way_out = f"or remove it and make a new one with cce gate {on_one_line(policy.path)} --accept"
        raise ReportError(f"{exc}, {way_out}") from exc


def _with_critical(fixtures: FixtureSet, ids: Collection[str]) -> FixtureSet:
    """The set with the cases that the policy names marked as critical."""
    cases = (case._replace(critical=case.critical or case.id in ids) for case in fixtures.cases)
    return fixtures._replace(cases=tuple(cases))


def _measuring_plan(plan: GatePlan, sources: _Sources) -> Plan:
    policy = plan.policy
    metrics = named_metrics(policy)
    return Plan(
        fixtures=sources.fixtures.path,
        backends=_backends(plan, sources),
        is_comparison=False,
        corpus=corpus_of_policy(policy, plan.corpus),
        evidence=EvidenceOptions(metrics) if metrics else None,
    )


def _backends(plan: GatePlan, sources: _Sources) -> tuple[str, ...]:
    """The candidate first; a new baseline keeps every backend of the old one, measured again."""
    policy = plan.policy
    if not plan.is_accepting:
        return (policy.backend,)
    _require_backend(policy, "baseline_backend", policy.baseline_backend)
    for name in sources.old:
        _require_backend(policy, "baseline", name)
    return tuple(dict.fromkeys((policy.backend, policy.baseline_backend, *sources.old)))


def _require_backend(policy: GatePolicy, key: str, name: str) -> None:
    if name not in BACKENDS:
        fault = unknown_name("backend", name, BACKENDS.names())
        raise PolicyError(f"{on_one_line(policy.path)}: {key}: {fault}")


def _judge(
    plan: GatePlan, sources: _Sources, measurement: Measurement, indexed: IndexedCorpus
) -> tuple[GateReport, BaselinePair]:
    policy, fixtures = plan.policy, sources.fixtures
    place = beside(policy, policy.baseline)
    measured = {score.backend: score for score in measurement.scores}
    old = sources.old.get(policy.baseline_backend)
    baseline = as_saved(measured[policy.baseline_backend]) if plan.is_accepting or old is None else old
    candidate = measured[policy.backend]
    pair = pair_with_baseline(candidate, baseline, place)
    evidence = None if policy.evidence is None else _weigh(policy.evidence, fixtures, pair)
    gate = GateReport(
        policy=policy,
        fixtures=fixtures,
        digest=sources.digest,
        candidate=candidate,
        report=_report(policy, fixtures, pair, evidence, indexed),
        reasons=judge_gate(policy, fixtures, candidate, pair, evidence),
        is_strict=plan.is_strict,
        acceptance=accept(policy.baseline, old, baseline) if plan.is_accepting else None,
    )
    return gate, pair


def _report(
    policy: GatePolicy,
    fixtures: FixtureSet,
    pair: BaselinePair,
    evidence: Evidence | None,
    indexed: IndexedCorpus,
) -> Report:
    return Report(
        corpus=_corpus(policy, fixtures),
        embedder=indexed.index.embedder.name,
        n_queries=pair.candidate.n_cases,
        backends=(pair.baseline, pair.candidate),
        comparison=compare(pair.baseline, pair.candidate, are_saved=True),
        evidence=evidence,
        redaction=indexed.redaction,
    )


def _corpus(policy: GatePolicy, fixtures: FixtureSet) -> str:
    """The corpus relative to the policy, so a baseline has the same bytes in every checkout."""
    given = policy.store or policy.directory
    return given or posixpath.join(os.path.dirname(policy.fixtures), fixtures.corpus or "")


def _weigh(options: EvidenceOptions, fixtures: FixtureSet, pair: BaselinePair) -> Evidence:
    by_id = {case.id: case for case in fixtures.cases}
    sides = pair.baseline, pair.candidate
    return gather_evidence(options, sides, sides, [by_id[name] for name in pair.candidate.ids])


def _notices(plan: GatePlan, sources: _Sources, pair: BaselinePair, indexed: IndexedCorpus) -> Iterator[str]:
    embedder = indexed.index.embedder.name
    place = on_one_line(beside(plan.policy, plan.policy.baseline))
    if pair.removed:
        few = ", ".join(map(on_one_line, pair.removed[:_N_SHOWN]))
        more = ", …" if len(pair.removed) > _N_SHOWN else ""
        yield (
            f"{place}: {len(pair.removed)} of its cases left the set ({few}{more}): "
            "put back what is missing, or accept a new baseline with --accept"
        )
    if not plan.is_accepting:
        yield from edited_means(place, pair.baseline._replace(backend=plan.policy.baseline_backend))
    if not plan.is_accepting and sources.old_embedder != embedder:
        yield (
            f"{place}: was measured with the embedder {on_one_line(sources.old_embedder or 'none')}, "
            f"the candidate with {on_one_line(embedder)}: a difference may come from that"
        )
    if not plan.is_accepting and sources.old_redaction is not indexed.redaction:
        yield (
            f"{place}: was measured with --redact {sources.old_redaction.value}, the candidate with "
            f"{indexed.redaction.value}: a difference may come from that"
        )


def _baseline_bytes(gate: GateReport, sources: _Sources, measurement: Measurement) -> bytes:
    """A v2 report of all that was measured; it keeps the order of the old one, so a diff is short."""
    by_name = {score.backend: score for score in measurement.scores}
    scores = tuple(by_name[name] for name in dict.fromkeys((*sources.old, *by_name)))
    report = gate.report
    saved = Report(
        report.corpus,
        report.embedder,
        len(gate.fixtures.cases),
        scores,
        None,
        redaction=report.redaction,
        figures=named_metrics(gate.policy),
    )
    return render_json(saved).encode("utf-8")
