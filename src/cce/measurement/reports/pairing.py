"""Two saved reports in, one report that compares them out: the cases are paired by their ids.

Saved figures are integers of 1e-6, and so are their differences: no rounding comes in on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cce.domain.comparison import Comparison, Difference, PairedTest
from cce.domain.evidence import Evidence, EvidenceOptions
from cce.domain.redaction import Redaction
from cce.domain.report import Report, SavedPair
from cce.domain.scores import METRICS, BackendScore, CaseScore
from cce.errors import UnknownNameError, UsageError
from cce.measurement.evidence.gathering import gather_evidence
from cce.measurement.evidence.significance import paired_t_test
from cce.measurement.figures import reported_figures
from cce.measurement.reports.reading import SavedReport, edited_means, read_saved_report
from cce.measurement.scoring import summarize
from cce.numerals import MICRO, ordering_key
from cce.quoting import on_one_line, quoted
from cce.registry import unknown_name

_N_SHOWN = 5


@dataclass(frozen=True, slots=True)
class PairingPlan:
    """What to compare: `backends` has one name for both reports, a name for each, or is None."""

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
    # Once cases are left out the means are made anew, and those in the files no longer matter.
    notices = (*edited_means(plan.old, a), *edited_means(plan.new, b))
    notices = (*notices, *_other_redaction(old, new))
    a, b = a._replace(backend=f"old:{a.backend}"), b._replace(backend=f"new:{b.backend}")
    return Report(
        corpus=_either(old.corpus, new.corpus),
        embedder=_either(old.embedder, new.embedder),
        n_queries=len(a.cases),
        backends=(a, b),
        comparison=_compare(a, b),
        evidence=None if plan.evidence is None else _weigh(plan.evidence, a, b),
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
    """The backend of each report: as typed, or the only one that can be meant; raises UsageError."""
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

    Raises UsageError with what differs, or, with `only_shared`, if nothing is shared.
    """
    olds, news = ({case.id: case for case in score.cases} for score in (old, new))
    shared = [case.id for case in old.cases if case.id in news and news[case.id].k == case.k]
    n_left_out = len(olds.keys() | news.keys()) - len(shared)
    if not shared:
        raise UsageError(
            f"the reports share no case{same_ids_with_other_k(old.cases, news)}: "
            "compare reports of one fixture set, made with the same k"
        )
    if n_left_out == 0:
        return old, new._replace(cases=tuple(news[name] for name in shared)), 0
    if not only_shared:
        raise UsageError(
            f"the reports differ in their cases: {'; '.join(_mismatches(olds, news))}; compare reports of "
            f"one fixture set, or give --common for the {len(shared)} shared cases"
        )
    a = summarize(old.backend, [olds[name] for name in shared])
    b = summarize(new.backend, [news[name] for name in shared])
    return a, b, n_left_out


def _mismatches(olds: dict[str, CaseScore], news: dict[str, CaseScore]) -> list[str]:
    other_k = _with_another_k(olds.values(), news)
    groups = (
        ("only in the old one", [quoted(name) for name in olds if name not in news]),
        ("only in the new one", [quoted(name) for name in news if name not in olds]),
        ("with another k", other_k),
    )
    return [f"{len(names)} {what}: {_first_few(names)}" for what, names in groups if names]


def same_ids_with_other_k(olds: Iterable[CaseScore], news: Mapping[str, CaseScore]) -> str:
    """What to say of two scores that have ids in common, all with different ks; empty if they have none."""
    differing = _with_another_k(olds, news)
    if not differing:
        return ""
    ids = "id they share has another k" if len(differing) == 1 else "ids they share have another k each"
    return f", since the {len(differing)} {ids}: {_first_few(differing)}"


def _with_another_k(olds: Iterable[CaseScore], news: Mapping[str, CaseScore]) -> list[str]:
    """Each id that both have, with both ks, where these differ."""
    return [
        f"{quoted(case.id)} ({case.k} and {news[case.id].k})"
        for case in olds
        if case.id in news and case.k != news[case.id].k
    ]


def _compare(a: BackendScore, b: BackendScore) -> Comparison:
    columns = zip(METRICS, _micro_columns(a), _micro_columns(b), a.figures, b.figures, strict=True)
    return Comparison(a, b, tuple(_difference(*column) for column in columns))


def _difference(metric: str, a: Sequence[int], b: Sequence[int], mean_a: float, mean_b: float) -> Difference:
    per_case = tuple((y - x) / MICRO for x, y in zip(a, b, strict=True))
    return Difference(metric, per_case, mean_b - mean_a, _in_units(paired_t_test(a, b)))


def _in_units(test: PairedTest) -> PairedTest:
    """A test on integers of 1e-6 in units of the metric; t and p know no unit."""
    return test._replace(
        mean_delta=test.mean_delta / MICRO,
        ci95_low=None if test.ci95_low is None else test.ci95_low / MICRO,
        ci95_high=None if test.ci95_high is None else test.ci95_high / MICRO,
    )


def _micro_columns(score: BackendScore) -> Sequence[Sequence[int]]:
    return tuple(zip(*(map(ordering_key, case.figures) for case in score.cases), strict=True))


def _weigh(options: EvidenceOptions, a: BackendScore, b: BackendScore) -> Evidence:
    pair = reported_figures(options.metrics, a), reported_figures(options.metrics, b)
    return gather_evidence(options, [case.id for case in a.cases], pair, pair)


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
