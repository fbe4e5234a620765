"""A set in, its judgments changed: a place added as an answer, or candidates cleared away."""

from __future__ import annotations

import difflib
from codecs import BOM_UTF8
from collections.abc import Mapping
from typing import Any, NamedTuple

from cce.domain.anchor import Anchor, parse_anchor
from cce.domain.case import FixtureSet
from cce.errors import CceError, FixtureError, UsageError
from cce.labels.cleaning import Cleaning, clean_set
from cce.labels.judgments import with_answer
from cce.labels.labelling import corpus_in_header, entries_of
from cce.labels.pinning import require_ids
from cce.labels.revision import Revision
from cce.measurement.fixtures.line import case_id, parse_entry
from cce.quoting import counted, on_one_line, quoted
from cce.usecases.corpora import CorpusChoice, labelled_texts


class AddPlan(NamedTuple):
    """Which case of which set gets which place as an answer; `grade` is 1, 2, 3 or None."""

    fixtures: str
    case_id: str
    place: str
    grade: int | None
    corpus: CorpusChoice


class AddRun(NamedTuple):
    """Whether the set was changed, and notices: one line each."""

    is_changed: bool
    notices: tuple[str, ...]


def run_add(plan: AddPlan) -> AddRun:
    """Carry out `plan` and write the set, unless it says so already; raises CceError."""
    anchor = parse_anchor(plan.place)
    revision = Revision(plan.fixtures)
    number, entry = _entry_of(revision, plan.case_id)
    notices = _require_text(plan, anchor, corpus_in_header(revision))
    before = revision.line(number)
    place = f"{on_one_line(plan.fixtures)}:{number}"
    _require_editable(entry, place)
    line = with_answer(before, plan.place, plan.grade)
    try:
        parse_entry(line.removeprefix(BOM_UTF8), number, None)
    except CceError as exc:
        raise FixtureError(f"{place}: {exc}") from exc
    revision.replace(number, line)
    if line != before:
        revision.write()
    return AddRun(line != before, notices)


def _entry_of(revision: Revision, wanted: str) -> tuple[int, Mapping[str, Any]]:
    """The line number of the case or draft with this id, and its object."""
    entries = [(case_id(entry, number), number, entry) for number, entry in entries_of(revision)]
    entries = [each for each in entries if "query" in each[2]]
    require_ids(revision.path, (known for known, _, _ in entries), [wanted])
    found = [(number, entry) for known, number, entry in entries if known == wanted]
    if len(found) > 1:
        place = f"{on_one_line(revision.path)}: {counted(len(found), 'case')} have the id {quoted(wanted)}"
        lines = ", ".join(str(number) for number, _ in found)
        raise UsageError(f"{place} (lines {lines}), give each its own")
    return found[0]


def _require_editable(entry: Mapping[str, Any], place: str) -> None:
    """Raise FixtureError for an object in which an edit would not find what it edits."""
    for key in ("expected", "irrelevant"):
        anchors = entry.get(key, [])
        if not (isinstance(anchors, list) and all(isinstance(anchor, str) for anchor in anchors)):
            raise FixtureError(f"{place}: {key} must be an array of anchor strings, mend or remove it")
    if not isinstance(entry.get("grades", {}), dict):
        raise FixtureError(f"{place}: grades must be an object of anchors, mend or remove it")


def _require_text(plan: AddPlan, anchor: Anchor, corpus: str | None) -> tuple[str, ...]:
    """Raise UsageError for a place that the corpus, if one is known, does not have."""
    if anchor.path is None or (plan.corpus.directory is None and corpus is None):
        return ()
    texts, notices = labelled_texts(plan.corpus, FixtureSet(plan.fixtures, corpus, ()))
    lines = texts.lines(anchor.path)
    if lines is None:
        near = difflib.get_close_matches(anchor.path, texts.paths, n=1)
        hint = f"did you mean {quoted(near[0])}?" if near else "name a file relative to the corpus"
        raise UsageError(f"{quoted(plan.place)}: the corpus has no such file; {hint}")
    if anchor.lines is not None and anchor.lines.first > len(lines):
        raise UsageError(
            f"{quoted(plan.place)}: the file has {counted(len(lines), 'line')}, name some of them"
        )
    return notices


class CleanRun(NamedTuple):
    """What was cleared away, and the diff of the set; empty if the set was written."""

    cleaning: Cleaning
    diff: str


def run_clean(fixtures: str, *, is_writing: bool) -> CleanRun:
    """Drop the candidates of the labelled cases of a set, and keep what they say; raises CceError."""
    revision = Revision(fixtures)
    cleaning = clean_set(revision)
    if is_writing and cleaning.n_cases:
        revision.write()
    return CleanRun(cleaning, revision.diff())
