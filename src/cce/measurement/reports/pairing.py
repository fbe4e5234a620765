"""Saved reports in, the scores to compare out; cases are paired by id."""

from __future__ import annotations

from collections.abc import Sequence

from cce.domain.scores import BackendScore
from cce.errors import UnknownNameError, UsageError
from cce.measurement.reports.reading import SavedReport
from cce.measurement.scoring import select_cases
from cce.quoting import listed, on_one_line, quoted
from cce.registry import unknown_name

_N_SHOWN = 5


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


def pair_all(
    old: BackendScore, news: Sequence[BackendScore], *, only_shared: bool
) -> tuple[BackendScore, list[BackendScore], list[int]]:
    """`pair_cases` of `old` with each of `news`, all over the cases that every one of them has."""
    shared = old
    for new in news:
        shared, _, _ = pair_cases(shared, new, only_shared=only_shared)
    others, n_left_out = [], []
    for new in news:
        _, other, _ = pair_cases(shared, new, only_shared=only_shared)
        n = len({*old.ids, *new.ids}) - shared.n_cases
        others.append(other if n == 0 else select_cases(other, range(other.n_cases)))  # its means made anew
        n_left_out.append(n)
    return shared, others, n_left_out


def select_paired(score: BackendScore, positions: Sequence[int]) -> BackendScore:
    """The score of the cases at these positions; if it has no others, the means stay those of its file."""
    selected = select_cases(score, positions)
    return selected._replace(means=score.means) if len(positions) == score.n_cases else selected


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


def backend_called(report: SavedReport, name: str) -> BackendScore:
    """The score of that backend; raises UnknownNameError."""
    for score in report.backends:
        if score.backend == name:
            return score
    raise UnknownNameError(f"{on_one_line(report.path)}: {unknown_name('backend', name, _names(report))}")


def _names(report: SavedReport) -> list[str]:
    return [score.backend for score in report.backends]


def _first_few(texts: Sequence[str]) -> str:
    return listed(texts, len(texts), _N_SHOWN)
