"""Two saved reports in, one report that compares them out; cases are paired by id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cce.domain.evidence import EvidenceOptions
from cce.domain.redaction import Redaction
from cce.domain.report import Report, SavedPair
from cce.domain.scores import BackendScore
from cce.errors import UnknownNameError, UsageError
from cce.measurement.evidence.comparison import compare
from cce.measurement.evidence.gathering import gather_evidence
from cce.measurement.reports.reading import SavedReport, edited_means, read_saved_report
from cce.measurement.scoring import select_cases
from cce.quoting import on_one_line, quoted
from cce.registry import unknown_name

_N_SHOWN = 5


@dataclass(frozen=True, slots=True)
class PairingPlan:
    """What to compare: `backends` has one name for both reports, one name per report, or is None."""

    old: str
    new: str
    backends: tuple[str, ...] | None
    only_shared: bool
    evidence: EvidenceOptions | None


def compare_saved(plan: PairingPlan) -> Report:
    """Carry out `plan`; raises CceError if the reports cannot be read or paired."""
    old, new = read_saved_report(plan.old), read_saved_report(plan.new)
    names = choose_backends(old, new, plan.backends)
    a, b, n_left_out = pair_cases(
        _backend(old, names[0]), _backend(new, names[1]), only_shared=plan.only_shared
    )
    # If cases are left out, the means are recomputed and those in the files are not used.
    notices = (*edited_means(plan.old, a), *edited_means(plan.new, b))
    notices = (*notices, *_other_redaction(old, new))
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


def choose_backends(old: SavedReport, new: SavedReport, typed: Sequence[str] | None) -> tuple[str, str]:
    """One backend per report: as typed, or the only possible choice; raises UsageError if there is none."""
    if typed is not None:
        return typed[0], typed[-1]
    if len(old.backends) == len(new.backends) == 1:
        return old.backends[0].backend, new.backends[0].backend
    in_new = _names(new)
    shared = [name for name in _names(old) if name in in_new]
    if len(shared) == 1:
        return shared[0], shared[0]
    if shared:
        raise UsageError(
            f"both reports hold {', '.join(map(on_one_line, shared))}: "
            f"choose one with --backend, as in --backend {on_one_line(shared[-1])}"
        )
    raise UsageError(
        f"the reports share no backend: {on_one_line(old.path)} holds {', '.join(_names(old))}, "
        f"{on_one_line(new.path)} {', '.join(in_new)}; name one of each, as in "
        f"--backend {_names(old)[0]},{in_new[0]}"
    )


def pair_cases(
    old: BackendScore, new: BackendScore, *, only_shared: bool
) -> tuple[BackendScore, BackendScore, int]:
    """Both scores over the same cases in the order of `old`, and how many cases were left out.

    Raises UsageError if the cases differ, or with `only_shared` if no case is shared.
    """
    olds, news = ({name: at for at, name in enumerate(score.ids)} for score in (old, new))
    shared = [name for name, at in olds.items() if name in news and new.ks[news[name]] == old.ks[at]]
    n_left_out = len(olds.keys() | news.keys()) - len(shared)
    if not shared:
        raise UsageError(
            f"the reports share no case{same_ids_with_other_k(old, new)}: "
            "compare reports of one fixture set, made with the same k"
        )
    if n_left_out == 0:
        in_order = select_cases(new, [news[name] for name in shared])
        return old, in_order._replace(means=new.means), 0  # the means of the file
    if not only_shared:
        raise UsageError(
            f"the reports differ in their cases: {'; '.join(_mismatches(old, new))}; compare reports of "
            f"one fixture set, or give --common for the {len(shared)} shared cases"
        )
    a = select_cases(old, [olds[name] for name in shared])
    b = select_cases(new, [news[name] for name in shared])
    return a, b, n_left_out


def _mismatches(old: BackendScore, new: BackendScore) -> list[str]:
    olds, news = set(old.ids), set(new.ids)
    other_k = _with_another_k(old, new)
    groups = (
        ("only in the old one", [quoted(name) for name in old.ids if name not in news]),
        ("only in the new one", [quoted(name) for name in new.ids if name not in olds]),
        ("with another k", other_k),
    )
    return [f"{len(names)} {what}: {_first_few(names)}" for what, names in groups if names]


def same_ids_with_other_k(old: BackendScore, new: BackendScore) -> str:
    """A clause for two scores whose shared ids all have different ks; empty if they share no id."""
    differing = _with_another_k(old, new)
    if not differing:
        return ""
    ids = "id they share has another k" if len(differing) == 1 else "ids they share have another k each"
    return f", since the {len(differing)} {ids}: {_first_few(differing)}"


def _with_another_k(old: BackendScore, new: BackendScore) -> list[str]:
    """The shared ids whose ks differ, with both ks."""
    news = dict(zip(new.ids, new.ks, strict=True))
    return [
        f"{quoted(name)} ({k} and {news[name]})"
        for name, k in zip(old.ids, old.ks, strict=True)
        if name in news and k != news[name]
    ]


def _backend(report: SavedReport, name: str) -> BackendScore:
    for score in report.backends:
        if score.backend == name:
            return score
    raise UnknownNameError(f"{on_one_line(report.path)}: {unknown_name('backend', name, _names(report))}")


def _names(report: SavedReport) -> list[str]:
    return [score.backend for score in report.backends]


def _either(old: str, new: str) -> str:
    return old if old == new else f"{old} → {new}"


def _first_few(texts: Sequence[str]) -> str:
    return ", ".join(texts[:_N_SHOWN]) + (", …" if len(texts) > _N_SHOWN else "")
