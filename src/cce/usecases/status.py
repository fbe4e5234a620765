"""A set in, how much of it is labelled and how old its labels are out; nothing is changed or ranked."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cce.domain.anchor import Anchor, parse_anchor
from cce.domain.case import FixtureSet
from cce.domain.status import AGE_LIMITS, FinderStatus, SetStatus
from cce.errors import AnchorError, CceError, UsageError
from cce.labels.labelling import CandidateLine, Judgment, candidate_lines, corpus_in_header, entries_of
from cce.labels.revision import Revision
from cce.quoting import on_one_line
from cce.retrieval.indexing.directory import ProgressCallback
from cce.usecases.corpora import CorpusChoice, corpus_of
from cce.usecases.git_blame import last_commit_time, line_times

_SECONDS_PER_DAY = 86_400


def set_status(path: str, corpus: CorpusChoice, progress: ProgressCallback) -> SetStatus:
    """The status of the set at `path`; raises FixtureError for a set that cannot be read."""
    revision = Revision(path)
    candidates = list(candidate_lines(revision))
    entries = [entry for _, entry in entries_of(revision) if "query" in entry]
    n_labelled = sum(1 for entry in entries if entry.get("expected"))
    answers, refused = (list(_texts(entries, key)) for key in ("expected", "irrelevant"))
    n_open = [sum(1 for _, judged in line.candidates if judged is None) for line in candidates]
    status = SetStatus(
        path,
        n_labelled,
        len(entries) - n_labelled,
        sum(map(bool, n_open)),
        sum(n_open),
        (len(answers), len(refused)),
        _by_system(candidates),
    )
    header = FixtureSet(path, corpus_in_header(revision), ())
    try:
        return _with_ages(status, corpus_of(corpus, header), answers, progress)
    except UsageError as exc:
        return status._replace(why_no_ages=str(exc))


def _texts(entries: Iterable[dict[str, Any]], key: str) -> Iterator[str]:
    for entry in entries:
        found = entry.get(key)
        yield from (text for text in found if isinstance(text, str)) if isinstance(found, list) else ()


def _by_system(lines: Iterable[CandidateLine]) -> dict[str, FinderStatus]:
    found: dict[str, FinderStatus] = {}
    for line in lines:
        for candidate, judged in line.candidates:
            for name in candidate.backends:
                found[name] = _counted(found.get(name, FinderStatus()), judged)
    return found


def _counted(status: FinderStatus, judged: Judgment | None) -> FinderStatus:
    if judged is None:
        return status._replace(n_open=status.n_open + 1)
    if judged is False:
        return status._replace(n_irrelevant=status.n_irrelevant + 1)
    return status._replace(n_relevant=status.n_relevant + 1)


def _with_ages(
    status: SetStatus, directory: str, answers: Sequence[str], progress: ProgressCallback
) -> SetStatus:
    """`status` with the ages of the text below `directory` that the answers name."""
    newest = last_commit_time(directory) if os.path.isdir(directory) else None
    if newest is None:
        place = on_one_line(directory)
        return status._replace(why_no_ages=f"{place}: no commit of git has it, so its text has no age")
    ages = [0] * (len(AGE_LIMITS) + 1)
    n_ageless = 0
    times: dict[str, Sequence[int | None] | None] = {}
    for n_done, anchor in enumerate(map(_parsed, answers)):
        progress("dated", n_done, len(answers), "labels")
        age = None if anchor is None else _age(anchor, directory, newest, times)
        if age is None:
            n_ageless += 1
        else:
            ages[bisect_right(AGE_LIMITS, age)] += 1  # 29 days are in the first group, 30 in the second
    return status._replace(ages=tuple(ages), n_ageless=n_ageless)


def _parsed(text: str) -> Anchor | None:
    try:
        return parse_anchor(text)
    except AnchorError:
        return None


def _age(
    anchor: Anchor, directory: str, newest: int, times: dict[str, Sequence[int | None] | None]
) -> int | None:
    """Whole days from the last change of the anchored lines to the last commit; None if it is not known."""
    if anchor.path is None:
        return None
    if anchor.path not in times:
        times[anchor.path] = _times(directory, anchor.path)
    lines = times[anchor.path] or ()
    if anchor.lines is not None:
        lines = lines[anchor.lines.first - 1 : anchor.lines.last]
    known = [time for time in lines if time is not None]
    return (newest - max(known)) // _SECONDS_PER_DAY if known and len(known) == len(lines) else None


def _times(directory: str, path: str) -> Sequence[int | None] | None:
    try:
        return line_times(directory, path)
    except CceError:
        return None
