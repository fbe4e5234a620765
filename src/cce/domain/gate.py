"""A gate: a policy's rules, what broke them, and the one outcome that text, JSON and exit code follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from cce.domain.case import FixtureSet
from cce.domain.evidence import EvidenceOptions
from cce.domain.report import Report
from cce.domain.scores import BackendScore

_NO_LIMITS: Mapping[str, float] = MappingProxyType({})


class Level(StrEnum):
    """What a reason leads to."""

    BLOCK = "block"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the means by metric: the least, the largest, and the largest fall against the baseline."""

    floor: Mapping[str, float] = field(default_factory=lambda: _NO_LIMITS)
    drop: Mapping[str, float] = field(default_factory=lambda: _NO_LIMITS)
    ceiling: Mapping[str, float] = field(default_factory=lambda: _NO_LIMITS)


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """What a policy file asks for; paths as written there, relative to the folder of `path`.

    `directory` or `store` stands in for the corpus that the set names; `baseline_backend` is the one
    of the baseline that `backend` is held against. `systems` is a file of further systems. `slices` maps tags
    to limits on their cases alone.
    `review_p` is the largest p of a sign test at which more worse than better cases are to review, `labels`
    what changed, removed, stale and unmatched labels lead to.
    """

    path: str
    fixtures: str
    backend: str
    baseline: str
    baseline_backend: str
    directory: str | None = None
    store: str | None = None
    systems: str | None = None
    critical: tuple[str, ...] = ()
    limits: Limits = Limits()
    evidence: EvidenceOptions | None = None
    slices: Mapping[str, Limits] = field(default_factory=lambda: MappingProxyType({}))
    review_p: float = 1.0
    labels: Level = Level.REVIEW


class GateOutcome(StrEnum):
    """What a gate says, worst first."""

    BLOCK = "BLOCK"
    REVIEW = "REVIEW"
    GO = "GO"


class Rule(StrEnum):
    """Why a reason was given. Reasons of one level are reported in this order."""

    CRITICAL_MISSED = "critical-missed"
    CRITICAL_RECALL = "critical-recall"
    FLOOR = "floor"
    CEILING = "ceiling"
    DROP = "drop"
    REGRESSED = "regressed"
    MORE_WORSE = "more-worse"
    CRITICAL_RANK = "critical-rank"
    NO_BASELINE = "no-baseline"
    RENAMED = "renamed"
    LABELS_CHANGED = "labels-changed"
    CASES_REMOVED = "cases-removed"
    LABELS_STALE = "labels-stale"
    LABELS_UNMATCHED = "labels-unmatched"
    TAGS_CHANGED = "tags-changed"
    NOT_CRITICAL = "not-critical"
    FAILED_CASES = "failed-cases"
    OTHER_CORPUS = "other-corpus"
    CANNOT_TELL = "cannot-tell"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a gate does not simply say GO.

    text      one plain sentence with the numbers and, where they are few, all of `case_ids`
    seen      what was found, in the unit of `limit`: a float is a score, an int a count or a rank
    limit     the last value that would have passed, or for `cannot-tell` the alpha that was not reached
    tag       the slice that the reason is about, None for the whole set
    """

    level: Level
    rule: Rule
    text: str
    metric: str | None = None
    seen: float | int | None = None
    limit: float | int | None = None
    case_ids: tuple[str, ...] = ()
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """One mean before and after a new baseline was accepted; `before` is None for the first one."""

    metric: str
    before: float | None
    after: float


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A baseline that was written: the ids of the cases that rose or fell in some metric, came or went.

    Those in `relabelled` have other labels now, so that nothing can be said of their figures.
    """

    baseline: str
    means: tuple[Move, ...]
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    relabelled: tuple[str, ...] = ()

    @property
    def is_first(self) -> bool:
        """Whether there was no baseline before."""
        return all(move.before is None for move in self.means)


@dataclass(frozen=True, slots=True)
class DoubtfulLabels:
    """Ids of cases whose figures say less than they seem to: they stay in all figures.

    stale      a pin does not hold: the text that the label was made for is another one now
    unmatched  an anchor matches nothing in the corpus
    """

    stale: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()

    @property
    def ids(self) -> frozenset[str]:
        """All of them."""
        return frozenset((*self.stale, *self.unmatched))


NO_DOUBT = DoubtfulLabels()


@dataclass(frozen=True, slots=True)
class GateReport:
    """A gate's answer, with nothing left to compute.

    fixtures   the set, its path as reached from the working directory; each case knows its line
    digest     SHA-256 of the set's bytes, in hex
    candidate  what was measured now, on every case of the set
    report     baseline (A) against candidate (B) on the cases that both have, with the evidence asked for;
               the candidate alone if there are none
    baseline_ref  the commit that the baseline was read from, None for the file itself
    reasons    those that block first, then those to review, each in the order of Rule
    """

    policy: GatePolicy
    fixtures: FixtureSet
    digest: str
    candidate: BackendScore
    report: Report
    reasons: tuple[Reason, ...]
    is_strict: bool = False
    acceptance: Acceptance | None = None
    baseline_ref: str | None = None

    @property
    def outcome(self) -> GateOutcome:
        """The worst that any reason leads to."""
        levels = {reason.level for reason in self.reasons}
        if Level.BLOCK in levels:
            return GateOutcome.BLOCK
        return GateOutcome.REVIEW if levels else GateOutcome.GO

    @property
    def is_refused(self) -> bool:
        """Whether the change may not pass; the exit code says the same."""
        return self.outcome is GateOutcome.BLOCK or (self.is_strict and self.outcome is GateOutcome.REVIEW)
