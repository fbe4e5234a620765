"""The rows of an experiment, each judged as the candidate of one policy."""

from __future__ import annotations

import os
from dataclasses import replace

from cce.domain.evidence import EvidenceOptions
from cce.domain.gate import GateOutcome, GatePolicy
from cce.errors import UsageError
from cce.measurement.gate.policy_tables import PolicyError
from cce.measurement.gate.rules import named_metrics
from cce.quoting import on_one_line, quoted
from cce.retrieval.indexing.directory import IndexedCorpus
from cce.usecases.evaluate import Measurement
from cce.usecases.gate import GatePlan, judge_measured, read_sources
from cce.usecases.gate_files import beside


class RowGate:
    """A policy that judges rows in place of its own candidate."""

    def __init__(self, policy: GatePolicy, fixtures: str) -> None:
        """Raises CceError for a policy that cannot be asked, or that is about another set than `fixtures`."""
        own = beside(policy, policy.fixtures)
        if os.path.realpath(own) != os.path.realpath(fixtures):
            place = on_one_line(policy.path)
            raise UsageError(
                f"{place}: is about {on_one_line(own)}, not about {on_one_line(fixtures)}: "
                "name a policy of this set"
            )
        self._plan = GatePlan(policy)
        self._sources = read_sources(self._plan)

    def with_own_metrics(self, evidence: EvidenceOptions) -> EvidenceOptions:
        """`evidence` with the metrics that the policy names besides."""
        return replace(
            evidence, metrics=tuple(dict.fromkeys((*evidence.metrics, *named_metrics(self._plan.policy))))
        )

    def outcomes(self, measurement: Measurement, indexed: IndexedCorpus) -> dict[str, GateOutcome]:
        """What the policy says of each system that was measured."""
        found = {}
        for score in measurement.scores:
            plan = replace(self._plan, policy=replace(self._plan.policy, backend=score.backend))
            try:
                gate, _ = judge_measured(plan, self._sources, _alone(measurement, score.backend), indexed)
            except PolicyError as exc:
                raise PolicyError(f"row {quoted(score.backend)}: {exc}") from exc
            found[score.backend] = gate.outcome
        return found


def _alone(measurement: Measurement, name: str) -> Measurement:
    """What was measured of one system: what others failed is not its affair."""
    failed = {each: why for each, why in measurement.failed.items() if each == name}
    elsewhere = tuple(each for each in measurement.elsewhere if each == name)
    return measurement._replace(failed=failed, elsewhere=elsewhere)
