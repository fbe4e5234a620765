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
from cce.domain.evidence import Evidence, EvidenceOptions, Verdict
from cce.domain.full_report import FullReport
from cce.domain.gate import Acceptance, DoubtfulLabels, GatePolicy, GateReport, Level, Reason, Rule
from cce.domain.labels import Labels, MadeBy
from cce.domain.report import Report
from cce.domain.scores import BackendScore
from cce.domain.systems import RunFile
from cce.errors import ReportError
from cce.measurement.evidence.comparison import compare
from cce.measurement.evidence.gathering import gather_evidence
from cce.measurement.fixtures.digests import changed_labels, labels_of
from cce.measurement.fixtures.reading import parse_fixture_set, read_set_file
from cce.measurement.gate.baseline import (
    BaselinePair,
    accept,
    as_saved,
    pair_with_baseline,
    require_figures,
    require_unique,
    score_in,
)
from cce.measurement.gate.narrow import narrow_drops
from cce.measurement.gate.policy import require_known
from cce.measurement.gate.policy_tables import PolicyError
from cce.measurement.gate.rules import judge_gate, named_metrics, weighed_metrics
from cce.measurement.reports.reading import SavedReport, edited_means, parse_saved_report, read_saved_report
from cce.measurement.scoring import select_cases
from cce.quoting import counted, on_one_line
from cce.registry import unknown_name
from cce.report.json.report_v2 import render_json
from cce.retrieval.corpus.membership import notices_of_read
from cce.retrieval.indexing.directory import IndexedCorpus, ProgressCallback
from cce.retrieval.systems.catalogue import Catalogue
from cce.usecases.corpora import (
    NO_CHOICE,
    CorpusChoice,
    corpus_of,
    likely_secrets,
    open_corpus,
)
from cce.usecases.doubt import doubtful_labels
from cce.usecases.drilldown import drill_into
from cce.usecases.evaluate import Measurement, Plan, all_notices, measure_systems
from cce.usecases.gate_files import beside, corpus_of_policy, require_direct_baseline, systems_of_policy
from cce.usecases.provenance import differences, made_by
from cce.usecases.system_facts import described
from cce.usecases.systems import BUILT_IN_SYSTEMS, SystemsChoice, open_catalogue
from cce.work_tree import path_in_work_tree


@dataclass(frozen=True, slots=True)
class GatePlan:
    """What to ask: `is_accepting` makes what is measured now the baseline, and judges by it.

    baseline_ref  a commit to read the baseline from, in place of the file; never with `is_accepting`
    corpus   redaction and cache; the policy alone says where the corpus is
    systems  how systems are asked; the policy alone names the systems file
    command  the words of the command line
    has_misses  whether the drill-down has the ranks that missed anchors would have had
    """

    policy: GatePolicy
    is_strict: bool = False
    is_accepting: bool = False
    has_drilldown: bool = False
    baseline_ref: str | None = None
    command: tuple[str, ...] = ()
    corpus: CorpusChoice = NO_CHOICE
    systems: SystemsChoice = BUILT_IN_SYSTEMS
    has_misses: bool = False


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
class GateSources:
    """What was read; `saved` is the baseline, None for one that is accepted for the first time."""

    fixtures: FixtureSet
    digest: str
    saved: SavedReport | None
    catalogue: Catalogue

    @property
    def old(self) -> Mapping[str, BackendScore]:
        """The backends of the baseline with their scores, empty without a baseline."""
        return {} if self.saved is None else {score.backend: score for score in self.saved.backends}

    def is_replayed(self, name: str) -> bool:
        """Whether the system `name` is a saved run."""
        return isinstance(self.catalogue.resolve(name).table.source, RunFile)


def run_gate(plan: GatePlan, progress: ProgressCallback) -> GateRun:
    """Carry out `plan`; raises CceError if it cannot be measured or makes no sense."""
    sources = read_sources(plan)
    fixtures = sources.fixtures
    measuring = _measuring_plan(plan, sources)
    indexed = open_corpus(measuring.corpus, corpus_of(measuring.corpus, fixtures), progress)
    measurement = measure_systems(measuring, fixtures, indexed.index, progress)
    gate, pair = judge_measured(plan, sources, measurement, indexed)
    cases = (
        drill_into(
            fixtures,
            measurement.rankings,
            indexed.index,
            measuring.catalogue if plan.has_misses else None,
        )
        if plan.has_drilldown
        else ()
    )
    notices = (
        *all_notices(fixtures, indexed),
        *measurement.notices,
        *notices_of_read(indexed, _own_files(plan)),
        *_notices(plan, sources, pair, indexed),
        *(likely_secrets(indexed) if plan.has_drilldown else ()),
    )
    place = path_in_work_tree(fixtures.path)
    return GateRun(
        full=FullReport(gate.report, fixtures.path, cases, gate, plan.command, place, notices),
        gate=gate,
        notices=notices,
        new_baseline=_baseline_bytes(gate, sources, measurement, indexed) if plan.is_accepting else None,
        directory=indexed.root if indexed.is_directory else None,
    )


def read_sources(plan: GatePlan) -> GateSources:
    """The set, the baseline and the systems that a policy names; raises CceError for any that will not do."""
    policy = plan.policy
    catalogue = open_catalogue(systems_of_policy(policy, plan.systems))
    _require_backend(policy, catalogue, "backend", policy.backend)
    path = beside(policy, policy.fixtures)
    raw = read_set_file(path)
    fixtures = parse_fixture_set(raw, path)
    require_known(policy, fixtures, None if plan.is_accepting else [*policy.critical])
    require_unique(fixtures)
    saved = _baseline_to_replace(policy) if plan.is_accepting else _baseline(plan)
    if saved is not None and not plan.is_accepting:
        # Raises before anything is measured.
        require_figures(saved, policy.baseline_backend, weighed_metrics(policy))
        require_known(policy, fixtures, score_in(saved, policy.baseline_backend).ids)
    fixtures = _with_critical(fixtures, policy.critical)
    return GateSources(fixtures, hashlib.sha256(raw).hexdigest(), saved, catalogue)


def _baseline_to_replace(policy: GatePolicy) -> SavedReport | None:
    require_direct_baseline(policy)
    place = beside(policy, policy.baseline)
    return None if _is_nothing(place) else _read_baseline(policy, place)


def _baseline(plan: GatePlan) -> SavedReport:
    policy = plan.policy
    place = beside(policy, policy.baseline)
    if plan.baseline_ref is not None:
        from cce.usecases.git import read_at  # it starts a process

        return parse_saved_report(read_at(plan.baseline_ref, place), f"{plan.baseline_ref}:{policy.baseline}")
    if not os.path.lexists(place):
        way_out = f"make one with cce gate {on_one_line(policy.path)} --accept"
        raise PolicyError(f"{on_one_line(place)}: there is no baseline, {way_out}")
    return _read_baseline(policy, place)


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


def _measuring_plan(plan: GatePlan, sources: GateSources) -> Plan:
    policy = plan.policy
    metrics = named_metrics(policy)
    return Plan(
        fixtures=sources.fixtures.path,
        backends=_backends(plan, sources),
        is_comparison=False,
        corpus=corpus_of_policy(policy, plan.corpus),
        evidence=EvidenceOptions(metrics) if metrics else None,
        systems=systems_of_policy(policy, plan.systems),
        catalogue=sources.catalogue,
    )


def _backends(plan: GatePlan, sources: GateSources) -> tuple[str, ...]:
    """The candidate first; a new baseline keeps every backend of the old one, measured again."""
    policy = plan.policy
    if not plan.is_accepting:
        return (policy.backend,)
    _require_backend(policy, sources.catalogue, "baseline_backend", policy.baseline_backend)
    for name in sources.old:
        _require_backend(policy, sources.catalogue, "baseline", name)
    return tuple(dict.fromkeys((policy.backend, policy.baseline_backend, *sources.old)))


def _require_backend(policy: GatePolicy, catalogue: Catalogue, key: str, name: str) -> None:
    if name not in catalogue:
        fault = unknown_name("backend", name, catalogue.names())
        raise PolicyError(f"{on_one_line(policy.path)}: {key}: {fault}")


def judge_measured(
    plan: GatePlan, sources: GateSources, measurement: Measurement, indexed: IndexedCorpus
) -> tuple[GateReport, BaselinePair]:
    """What the policy says of its candidate, which `measurement` has a score of, and the pair compared."""
    policy, fixtures = plan.policy, sources.fixtures
    place = beside(policy, policy.baseline)
    measured = {score.backend: score for score in measurement.scores}
    old = sources.old.get(policy.baseline_backend)
    baseline = as_saved(measured[policy.baseline_backend]) if plan.is_accepting or old is None else old
    candidate = measured[policy.backend]
    pair = pair_with_baseline(candidate, baseline, place, _labels_then(plan, sources), fixtures.cases)
    doubt = doubtful_labels(fixtures, indexed)
    weighed = None if pair.is_empty else policy.evidence
    evidence = None if weighed is None else _weigh(weighed, fixtures, pair)
    firm = None if evidence is None else _weigh_firm(evidence, pair, doubt)
    gate = GateReport(
        policy=policy,
        fixtures=fixtures,
        digest=sources.digest,
        candidate=candidate,
        report=_report(policy, fixtures, candidate, pair, evidence, indexed),
        reasons=judge_gate(
            policy, fixtures, candidate, pair, evidence, doubt, firm, _of_systems(measurement)
        ),
        is_strict=plan.is_strict,
        acceptance=_acceptance(sources, policy, old, baseline) if plan.is_accepting else None,
        baseline_ref=plan.baseline_ref,
    )
    return gate, pair


def _of_systems(measurement: Measurement) -> Iterator[Reason]:
    """Reasons to look at what systems did."""
    for name, failed in measurement.failed.items():
        first, why = next(iter(failed.items()))
        yield Reason(
            Level.REVIEW,
            Rule.FAILED_CASES,
            f"system {on_one_line(name)} failed for {counted(len(failed), 'case')}, which score as empty; "
            f"{on_one_line(first)}: {on_one_line(why)}",
            seen=len(failed),
            limit=0,
            case_ids=tuple(failed),
        )
    for name in measurement.elsewhere:
        text = f"system {on_one_line(name)} is a run that was recorded over another corpus than this one"
        yield Reason(Level.REVIEW, Rule.OTHER_CORPUS, text)


def _labels_then(plan: GatePlan, sources: GateSources) -> Labels | None:
    """What the baseline's cases were labelled with; one that is accepted now has the labels of now."""
    if plan.is_accepting:
        return labels_of(sources.fixtures)
    return None if sources.saved is None else sources.saved.labels


def _acceptance(
    sources: GateSources, policy: GatePolicy, old: BackendScore | None, new: BackendScore
) -> Acceptance:
    labels = None if sources.saved is None else sources.saved.labels
    changed = () if labels is None else changed_labels(sources.fixtures, labels)
    return accept(policy.baseline, old, new, changed)


def _report(
    policy: GatePolicy,
    fixtures: FixtureSet,
    candidate: BackendScore,
    pair: BaselinePair,
    evidence: Evidence | None,
    indexed: IndexedCorpus,
) -> Report:
    sides = (candidate,) if pair.is_empty else (pair.baseline, pair.candidate)
    return Report(
        corpus=_corpus(policy, fixtures),
        embedder=indexed.index.embedder.name,
        n_queries=sides[-1].n_cases,
        backends=sides,
        comparison=None if pair.is_empty else compare(pair.baseline, pair.candidate, are_saved=True),
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


def _weigh_firm(evidence: Evidence, pair: BaselinePair, doubt: DoubtfulLabels) -> Evidence | None:
    """The evidence without the cases whose labels are in doubt, where something regressed with them."""
    firm = [at for at, name in enumerate(pair.candidate.ids) if name not in doubt.ids]
    compared = {} if evidence.compare is None else evidence.compare.metrics
    has_regressed = any(each.verdict is Verdict.REGRESSED for each in compared.values())
    if not has_regressed or not firm or len(firm) == pair.candidate.n_cases:
        return None
    sides = (select_cases(pair.baseline, firm), select_cases(pair.candidate, firm))
    return gather_evidence(evidence.options, sides, sides)


def _notices(
    plan: GatePlan, sources: GateSources, pair: BaselinePair, indexed: IndexedCorpus
) -> Iterator[str]:
    yield from narrow_drops(plan.policy, sources.fixtures, pair)
    if plan.is_accepting or sources.saved is None:
        return
    saved, embedder = sources.saved, indexed.index.embedder.name
    place = on_one_line(saved.path)
    if saved.labels is None:
        yield (
            f"{place}: has no digests of its labels, so that changed labels go unseen: "
            f"renew it with cce gate {on_one_line(plan.policy.path)} --accept"
        )
    if not pair.is_empty:
        yield from edited_means(place, pair.baseline._replace(backend=plan.policy.baseline_backend))
    if saved.embedder != embedder:
        yield (
            f"{place}: was measured with the embedder {on_one_line(saved.embedder)}, "
            f"the candidate with {on_one_line(embedder)}: a difference may come from that"
        )
    if saved.redaction is not indexed.redaction:
        yield (
            f"{place}: was measured with --redact {saved.redaction.value}, the candidate with "
            f"{indexed.redaction.value}: a difference may come from that"
        )
    now = _made_by(plan.policy, sources, indexed)
    if saved.made_by is not None and sources.is_replayed(plan.policy.backend):
        now = now._replace(system=saved.made_by.system)  # what a run was recorded of stands in its own header
    others = [] if saved.made_by is None else [*differences(saved.made_by, now)]
    if others:
        yield f"{place}: was measured with {', '.join(others)}: a difference may come from that"


def _made_by(policy: GatePolicy, sources: GateSources, indexed: IndexedCorpus) -> MadeBy:
    catalogue, name = sources.catalogue, policy.backend
    # A backend by its name alone has no table.
    table = described(catalogue.resolve(name).table) if catalogue.is_described(name) else {}
    return made_by(indexed.redaction, table)


def _baseline_bytes(
    gate: GateReport, sources: GateSources, measurement: Measurement, indexed: IndexedCorpus
) -> bytes:
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
        labels=labels_of(gate.fixtures),
        made_by=_made_by(gate.policy, sources, indexed),
    )
    return render_json(saved).encode("utf-8")
