"""Two saved reports in, one report that compares them case by case out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cce.domain.evidence import EvidenceOptions
from cce.domain.redaction import Redaction
from cce.domain.report import Report, SavedPair
from cce.measurement.evidence.comparison import compare
from cce.measurement.evidence.gathering import gather_evidence
from cce.measurement.reports.pairing import backend_called, choose_backends, pair_cases
from cce.measurement.reports.reading import SavedReport, edited_means, read_saved_report
from cce.quoting import on_one_line


class PairingPlan(NamedTuple):
    """What to compare: `backends` has one name for both reports, a name for each, or is None."""

    old: str
    new: str
    backends: tuple[str, ...] | None = None
    only_shared: bool = False
    evidence: EvidenceOptions | None = None


def compare_saved(plan: PairingPlan) -> Report:
    """Carry out `plan`; raises CceError if the reports cannot be read or paired."""
    old, new = read_saved_report(plan.old), read_saved_report(plan.new)
    names = choose_backends(old, new, plan.backends)
    a, b, n_left_out = pair_cases(
        backend_called(old, names[0]), backend_called(new, names[1]), only_shared=plan.only_shared
    )
    # Once cases are left out the means are made anew, and those in the files no longer matter.
    notices = (*edited_means(plan.old, a), *edited_means(plan.new, b), *_other_redaction(old, new))
    a, b = a._replace(backend=f"old:{a.backend}"), b._replace(backend=f"new:{b.backend}")
    return Report(
        corpus=_either(old.corpus, new.corpus),
        embedder=_either(old.embedder, new.embedder),
        n_queries=a.n_cases,
        backends=(a, b),
        comparison=compare(a, b, are_saved=True),
        evidence=None if plan.evidence is None else gather_evidence(plan.evidence, (a, b), (a, b)),
        saved=SavedPair(plan.old, plan.new, n_left_out, notices),
        redaction=new.redaction if new.redaction is old.redaction else Redaction.STANDARD,
    )


def _other_redaction(old: SavedReport, new: SavedReport) -> Iterator[str]:
    if old.redaction is not new.redaction:
        yield (
            f"{on_one_line(old.path)}: was measured with --redact {old.redaction.value}, "
            f"{on_one_line(new.path)} with {new.redaction.value}: a difference may come from that"
        )


def _either(old: str, new: str) -> str:
    return old if old == new else f"{old} → {new}"
