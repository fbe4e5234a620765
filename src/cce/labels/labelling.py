"""Labelling: the candidates of drafts one by one; each judgment is written to the set at once.

A session knows neither screen nor keyboard: it gives the current candidate, takes the judgment and
writes the set. A crash loses at most the current answer. Each candidate keeps its judgment under
`judged`, so a later session continues with the open ones. An answer also goes to `expected`, a "no" to
`irrelevant`: somebody looked there.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cce.domain.anchor import LineRange, parse_anchor
from cce.errors import AnchorError, FixtureError, JsonError, UsageError
from cce.labels.edits import encode, object_values, update_array, update_object
from cce.labels.judgments import with_answer, with_irrelevant
from cce.labels.pinning import require_ids
from cce.labels.revision import Revision
from cce.quoting import on_one_line, quoted
from cce.strict_json import parse_json

Judgment = bool | int
"""True or a grade from 1 to 3: relevant; False: not relevant."""

_WHOLE_FILE = "module"  # the kind of a chunk that is a whole file
_MAX_LINE = 2**53  # a JSON reader that uses floats holds every integer up to here


@dataclass(frozen=True, slots=True)
class Candidate:
    """One result to judge: its place in the corpus, the backends that found it, and its case."""

    line: int
    position: int
    case_id: str
    query: str
    path: str
    kind: str
    span: LineRange
    backends: tuple[str, ...]

    @property
    def anchor(self) -> str | None:
        """The anchor that names it: the file if that is one chunk, else its lines; None if no anchor can."""
        is_file = self.kind == _WHOLE_FILE and self.span.first == 1
        text = self.path if is_file else f"{self.path}@{self.span.first}-{self.span.last}"
        try:
            parsed = parse_anchor(text)
        except AnchorError:
            return None
        is_same = (parsed.path, parsed.kind, parsed.lines) == (
            self.path,
            None,
            None if is_file else self.span,
        )
        return text if is_same else None


class CandidateLine(NamedTuple):
    """A line with candidates, each with its judgment, None if it is open."""

    number: int
    case_id: str
    is_labelled: bool
    candidates: tuple[tuple[Candidate, Judgment | None], ...]


class _Step(NamedTuple):
    """What can be undone: the line before it, None for a skip, and for how many candidates it was."""

    before: bytes | None
    n_candidates: int


class LabelSession:
    """Walks through the open candidates of a set and saves each judgment before the next candidate."""

    def __init__(self, revision: Revision, only_ids: Collection[str] = ()) -> None:
        """`only_ids` are the cases to label, all if empty; raises FixtureError for a set it cannot read."""
        self._revision = revision
        if only_ids:
            require_ids(revision.path, (case_id for _, case_id, _ in _drafts(revision)), only_ids)
        self._open = [
            candidate
            for line in candidate_lines(revision)
            for candidate, judged in line.candidates
            if judged is None and _is_wanted(candidate, only_ids)
        ]
        self._next = 0
        self._past: list[_Step] = []
        self.n_answers = 0

    @property
    def n_open(self) -> int:
        """The number of candidates that were open when the session began."""
        return len(self._open)

    @property
    def n_passed(self) -> int:
        """The number of candidates that were judged or skipped."""
        return self._next

    @property
    def current(self) -> Candidate | None:
        """The candidate to judge now, None at the end."""
        return self._open[self._next] if self._next < len(self._open) else None

    def answer(self, judgment: Judgment) -> None:
        """Save the judgment of the current candidate; after a UsageError the candidate stays current."""
        self._judge(self._open[self._next : self._next + 1], judgment)

    def reject_rest(self) -> int:
        """Judge the current candidate and all that follow in its case irrelevant; how many these were."""
        line = self._open[self._next].line
        rest = [candidate for candidate in self._open[self._next :] if candidate.line == line]
        self._judge(rest, judgment=False)
        return len(rest)

    def skip(self) -> None:
        """Leave the current candidate open for a later session."""
        self._past.append(_Step(None, 1))
        self._next += 1

    def undo(self) -> bool:
        """Take back the last answer or skip, whatever number of candidates it was for; False without one."""
        if not self._past:
            return False
        before, n_candidates = self._past[-1]
        if before is not None:
            self._write(self._open[self._next - 1].line, before)
            self.n_answers -= n_candidates
        self._past.pop()
        self._next -= n_candidates
        return True

    def _judge(self, candidates: Sequence[Candidate], judgment: Judgment) -> None:
        line = candidates[0].line
        before = self._revision.line(line)
        self._write(line, _judged(before, candidates, judgment))
        self._past.append(_Step(before, len(candidates)))
        self._next += len(candidates)
        self.n_answers += len(candidates)

    def _write(self, number: int, line: bytes) -> None:
        kept = self._revision.line(number)
        self._revision.replace(number, line)
        try:
            self._revision.write()
        except UsageError:
            self._revision.replace(number, kept)
            raise


def unlabelled_ids(revision: Revision) -> list[str]:
    """The ids of the drafts without a label; they are skipped when the set is scored."""
    return [case_id for _, case_id, entry in _drafts(revision) if not entry.get("expected")]


def candidate_lines(revision: Revision) -> Iterator[CandidateLine]:
    """Every line with the key `candidates`; raises FixtureError for one that is broken."""
    for number, case_id, entry in _drafts(revision):
        place = f"{on_one_line(revision.path)}:{number}"
        candidates = tuple(
            (_parse_candidate(fields, place, number, position, case_id, entry["query"]), _judgment(fields))
            for position, fields in enumerate(entry["candidates"])
        )
        yield CandidateLine(number, case_id, bool(entry.get("expected")), candidates)


def _judgment(fields: Mapping[str, Any]) -> Judgment | None:
    """What somebody said of a candidate; any value but false was meant as a yes."""
    if "judged" not in fields:
        return None
    judged = fields["judged"]
    return judged if type(judged) in (bool, int) else True


def corpus_in_header(revision: Revision) -> str | None:
    """The corpus that the header of the set names, None without one."""
    for _, entry in entries_of(revision):
        corpus = entry.get("corpus") if "query" not in entry else None
        return corpus if isinstance(corpus, str) else None
    return None


def _drafts(revision: Revision) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(line number, id, object) of every line with candidates."""
    for number, entry in entries_of(revision):
        if "candidates" not in entry:
            continue
        fault = _draft_fault(entry)
        if fault is not None:
            raise FixtureError(f"{on_one_line(revision.path)}:{number}: {fault}")
        case_id = entry.get("id")
        yield number, case_id if isinstance(case_id, str) else f"q{number}", entry


def _draft_fault(entry: Mapping[str, Any]) -> str | None:
    """What is wrong with a line of candidates; checks the values that a judgment is written into."""
    if not isinstance(entry.get("query"), str) or not isinstance(entry["candidates"], list):
        return "a draft needs a query and an array of candidates, draft it again"
    expected = entry.get("expected", [])
    if not (isinstance(expected, list) and all(isinstance(anchor, str) for anchor in expected)):
        return 'expected must be an array of anchor strings such as ["a.py"], or not there: mend or remove it'
    irrelevant = entry.get("irrelevant", [])
    if not (isinstance(irrelevant, list) and all(isinstance(anchor, str) for anchor in irrelevant)):
        return 'irrelevant must be an array of anchor strings such as ["b.py"], or not there'
    if not isinstance(entry.get("grades", {}), dict):
        return "grades must be an object of anchors, or not there: mend or remove it"
    return None


def entries_of(revision: Revision) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a set with their line numbers; the fixture reader would refuse cases without labels."""
    for number in range(1, revision.n_lines + 1):
        line = revision.line(number).removeprefix(BOM_UTF8).strip()
        if not line:
            continue
        try:
            entry = parse_json(line)
        except JsonError as exc:
            raise FixtureError(f"{on_one_line(revision.path)}:{number}: {exc}") from exc
        if isinstance(entry, dict):
            yield number, entry


def _parse_candidate(
    fields: Any, place: str, line: int, position: int, case_id: str, query: str
) -> Candidate:
    match fields:
        # bool is a subclass of int.
        case {"path": str(path), "kind": str(kind), "lines": [int(first), int(last)]} if (
            bool not in (type(first), type(last)) and 1 <= first <= last <= _MAX_LINE
        ):
            found_by = fields.get("backends")
            backends = tuple(map(str, found_by)) if isinstance(found_by, list) else ()
            return Candidate(line, position, case_id, query, path, kind, LineRange(first, last), backends)
    raise FixtureError(
        f"{place}: candidate {position + 1} needs path, kind and lines [a, b], draft the case again"
    )


def _is_wanted(candidate: Candidate, only_ids: Collection[str]) -> bool:
    return not only_ids or candidate.case_id in only_ids


def _judged(line: bytes, candidates: Sequence[Candidate], judgment: Judgment) -> bytes:
    """The line of the candidates' case with the same judgment of each in it."""
    raw_judgment = encode(judgment)
    positions = {candidate.position for candidate in candidates}

    def judge(position: int, item: bytes) -> bytes:
        return update_object(item, {"judged": raw_judgment}, like=line) if position in positions else item

    judged = update_object(line, {"candidates": update_array(object_values(line)["candidates"], judge)})
    if judgment is False:
        # A place that no anchor can name is judged all the same, and only the candidate says so.
        return with_irrelevant(judged, [each.anchor for each in candidates if each.anchor is not None])
    for candidate in candidates:
        if candidate.anchor is None:
            place = quoted(candidate.path)
            raise UsageError(f"{place}: no anchor can name this path, so it cannot be a label")
        judged = with_answer(judged, candidate.anchor, None if judgment is True else judgment)
    return judged
