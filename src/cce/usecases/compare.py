"""Saved reports in, reports that compare each of them with the first, case by case, out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cce.domain.case import Case
from cce.domain.evidence import Evidence, EvidenceOptions
from cce.domain.redaction import Redaction
from cce.domain.report import Report, SavedPair
from cce.domain.scores import BackendScore
from cce.errors import UsageError
from cce.measurement.evidence.comparison import compare
from cce.measurement.evidence.gathering import gather_against
from cce.measurement.fixtures.reading import read_fixture_set
from cce.measurement.reports.pairing import backend_called, choose_backends, pair_all
from cce.measurement.reports.reading import SavedReport, edited_means, read_saved_report
from cce.measurement.reports.relabelling import under_old_ids
from cce.quoting import counted, listed, on_one_line, quoted

_N_SHOWN = 5


class PairingPlan(NamedTuple):
    """What to compare with the report `old`: `new`, and `more` reports after it.

    backends  one name for all reports, one for `old` and one for the others, or one for each; or None
    fixtures  the set of the reports, for slices by tag
    """

    old: str
    new: str
    backends: tuple[str, ...] | None = None
    only_shared: bool = False
    evidence: EvidenceOptions | None = None
    more: tuple[str, ...] = ()
    fixtures: str | None = None


def compare_saved(plan: PairingPlan) -> tuple[Report, ...]:
    """Carry out `plan`: one report for each but the first, in their order.

    p values are adjusted over all of them. Raises CceError if the reports cannot be read or paired.
    """
    old, *news = (read_saved_report(path) for path in (plan.old, plan.new, *plan.more))
    chosen, named = _chosen(plan, old, news)
    aligned = [
        under_old_ids((old, new), (chosen, score), only_shared=plan.only_shared)
        for new, score in zip(news, named, strict=True)
    ]
    others = [score for score, _ in aligned]
    a, bs, n_left_out = pair_all(chosen, others, only_shared=plan.only_shared)
    # Once cases are left out the means are made anew, and those in the files no longer matter.
    notices = [
        (*edited_means(plan.old, a), *edited_means(new.path, b), *_other_redaction(old, new), *said)
        for new, b, (_, said) in zip(news, bs, aligned, strict=True)
    ]
    a = a._replace(backend=f"old:{a.backend}")
    sides = [f"new{number}" for number in range(1, len(bs) + 1)] if len(bs) > 1 else ["new"]
    bs = [b._replace(backend=f"{side}:{b.backend}") for side, b in zip(sides, bs, strict=True)]
    weighed = _weigh(plan, a, bs)
    return tuple(
        Report(
            corpus=_either(old.corpus, new.corpus),
            embedder=_either(old.embedder, new.embedder),
            n_queries=a.n_cases,
            backends=(a, b),
            comparison=compare(a, b, are_saved=True),
            evidence=evidence,
            saved=SavedPair(plan.old, new.path, n, said),
            redaction=new.redaction if new.redaction is old.redaction else Redaction.STANDARD,
        )
        for new, b, evidence, n, said in zip(news, bs, weighed, n_left_out, notices, strict=True)
    )


def _chosen(
    plan: PairingPlan, old: SavedReport, news: Sequence[SavedReport]
) -> tuple[BackendScore, list[BackendScore]]:
    """The backend of each report that is compared."""
    names = [choose_backends(old, new, typed) for new, typed in zip(news, _typed(plan), strict=True)]
    firsts = list(dict.fromkeys(first for first, _ in names))
    if len(firsts) > 1:
        raise UsageError(
            f"{on_one_line(old.path)} is compared with several reports, and could be compared by "
            f"{', '.join(map(on_one_line, firsts))}: choose one with --backend"
        )
    others = [backend_called(new, name) for new, (_, name) in zip(news, names, strict=True)]
    return backend_called(old, firsts[0]), others


def _typed(plan: PairingPlan) -> list[tuple[str, ...] | None]:
    """Per report but the first: the names typed for the first and for it."""
    n_others, typed = 1 + len(plan.more), plan.backends
    if typed is None:
        return [None] * n_others
    others = typed[1:] if len(typed) == 1 + n_others else typed[-1:] * n_others
    return [(typed[0], other) for other in others]


def _weigh(plan: PairingPlan, a: BackendScore, bs: Sequence[BackendScore]) -> Sequence[Evidence | None]:
    if plan.evidence is None:
        return [None] * len(bs)
    return gather_against(plan.evidence, a, bs, () if plan.fixtures is None else _cases(plan.fixtures, a))


def _cases(fixtures: str, score: BackendScore) -> list[Case]:
    """The cases of the set in the order of the reports; raises UsageError for one that the set lacks."""
    by_id = {case.id: case for case in read_fixture_set(fixtures).cases}
    missing = [quoted(name) for name in score.ids if name not in by_id]
    if missing:
        raise UsageError(
            f"{on_one_line(fixtures)}: lacks {counted(len(missing), 'case')} of the reports "
            f"({listed(missing, len(missing), _N_SHOWN)}): give the set that they were made from"
        )
    return [by_id[name] for name in score.ids]


def _other_redaction(old: SavedReport, new: SavedReport) -> Iterator[str]:
    if old.redaction is not new.redaction:
        yield (
            f"{on_one_line(old.path)}: was measured with --redact {old.redaction.value}, "
            f"{on_one_line(new.path)} with {new.redaction.value}: a difference may come from that"
        )


def _either(old: str, new: str) -> str:
    return old if old == new else f"{old} → {new}"
