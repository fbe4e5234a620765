"""A baseline in, what each of its versions in git's log holds out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cce.domain.history import BaselineHistory, BaselineVersion, LabelChanges
from cce.domain.labels import Labels
from cce.domain.scores import METRICS, BackendScore
from cce.errors import ReportError, UsageError
from cce.measurement.reports.exams import Digested, pair_by_labels
from cce.measurement.reports.reading import SavedReport, parse_saved_report
from cce.quoting import listed, on_one_line
from cce.registry import unknown_name
from cce.usecases.git_log import Version, is_shallow, versions_of

_N_SHOWN = 5


class _Exam(NamedTuple):
    """What a version asked: case id -> k, and the labels where it says."""

    ks: Mapping[str, int]
    labels: Labels | None


class _Readable(NamedTuple):
    """A version of git's log and the report in it; `saved` is a fault where there is none."""

    version: Version
    saved: SavedReport | str


def read_history(path: str, backend: str | None = None) -> BaselineHistory:
    """Every version of the baseline `path`; raises UsageError without git, history or backend.

    backend  the one to follow; not needed where the newest version holds only one
    """
    found = [_read(version, path) for version in versions_of(path) if version.content is not None]
    name = _chosen(path, found, backend)
    versions, before = [], None
    for each in found:
        version, exam = _measured(each, name, before)
        versions.append(version)
        before = exam or before
    return BaselineHistory(path, name, METRICS, tuple(versions), is_shallow(path))


def _read(version: Version, path: str) -> _Readable:
    place = f"{version.commit[:10]}:{path}"
    try:
        return _Readable(version, parse_saved_report(version.content or b"", place))
    except ReportError as exc:
        return _Readable(version, str(exc))


def _chosen(path: str, found: list[_Readable], typed: str | None) -> str:
    """The backend to follow."""
    reports = [each.saved for each in found if isinstance(each.saved, SavedReport)]
    if not reports:
        raise UsageError(f"{on_one_line(path)}: no version of it is a saved report: name a baseline")
    names = list(dict.fromkeys(score.backend for saved in reversed(reports) for score in saved.backends))
    if typed is not None:
        if typed not in names:
            raise UsageError(f"{on_one_line(path)}: {unknown_name('backend', typed, names)}")
        return typed
    newest = [score.backend for score in reports[-1].backends]
    if len(newest) > 1:
        shown = listed(map(on_one_line, newest), len(newest), _N_SHOWN)
        raise UsageError(f"{on_one_line(path)}: holds {shown}: choose one with --backend")
    return newest[0]


def _measured(each: _Readable, backend: str, before: _Exam | None) -> tuple[BaselineVersion, _Exam | None]:
    """What one version holds, and what it asked."""
    commit, date, subject, _ = each.version
    if isinstance(each.saved, str):
        return BaselineVersion(commit, date, subject, 0, {}, None, each.saved), None
    score = next((score for score in each.saved.backends if score.backend == backend), None)
    if score is None:
        names = ", ".join(on_one_line(score.backend) for score in each.saved.backends)
        return BaselineVersion(commit, date, subject, 0, {}, None, f"holds {names} only"), None
    exam = _Exam(dict(zip(score.ids, score.ks, strict=True)), each.saved.labels)
    labels = None if before is None else _changes(before, exam)
    return BaselineVersion(commit, date, subject, score.n_cases, _means(score), labels), exam


def _means(score: BackendScore) -> dict[str, float]:
    return {metric: score.mean(metric) for metric in METRICS}


def _changes(before: _Exam, after: _Exam) -> LabelChanges:
    if before.labels is not None and after.labels is not None:
        then, now = [*before.ks], [*after.ks]
        digests = Digested(
            [before.labels[name].digest for name in then], [[after.labels[name].digest] for name in now]
        )
        pairing = pair_by_labels(then, now, digests)
        return LabelChanges(len(pairing.changed), len(pairing.added), len(pairing.removed))
    shared = before.ks.keys() & after.ks.keys()
    n_other_k = sum(before.ks[name] != after.ks[name] for name in shared)
    return LabelChanges(n_other_k or None, len(after.ks) - len(shared), len(before.ks) - len(shared))
