"""The door: what an outside system answers goes in, a ranking that keeps the laws of rankings comes out.

A result that is the place of a chunk becomes that chunk; any other is a Location. What is wrong with a result
ends in one line with system and case; what is merely odd is counted by the tally, which ends in notices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, NoReturn

from cce.domain.outside import OutsideResult, Question
from cce.domain.ranking import Chunk, Hit, Location, Ranking
from cce.errors import OutsideSystemError
from cce.quoting import on_one_line, quoted, shown_integer
from cce.retrieval.external.paths import PathReader
from cce.retrieval.external.places import FilePlaces
from cce.retrieval.external.tally import Tally
from cce.retrieval.indexing.index import Index


class DoorRules(NamedTuple):
    """How the results of a system are read; see the systems file.

    root, folder  what its paths may start with, and the folder of the systems file
    collapse      whether results that repeat an earlier one are dropped
    final         the most results that it returns, None for as many as are asked
    is_run        whether it is a saved run, which may hold more than anyone asks
    """

    root: str | None = None
    folder: str | None = None
    collapse: bool = False
    final: int | None = None
    is_run: bool = False


PLAIN_RULES = DoorRules()


class Door:
    """The door of one system over one index; `index` is None where there is no corpus."""

    def __init__(
        self, index: Index | None, system: str, rules: DoorRules = PLAIN_RULES, labelled: Collection[str] = ()
    ) -> None:
        """`labelled` are the paths that anchors name: without a corpus the only files that are known."""
        self.tally = Tally(system, rules.is_run)
        self._index = index
        self._rules = rules
        is_file: Callable[[str], bool] = {*labelled}.__contains__ if index is None else index.has_file
        root = None if index is None else index.root
        self._paths = PathReader(is_file, root, rules.root, rules.folder)
        self._files: dict[str, FilePlaces] = {}

    def ranking(
        self,
        question: Question,
        results: Sequence[OutsideResult],
        allowed: Collection[int] | None = None,
        *,
        is_counted: bool = True,
    ) -> Ranking:
        """At most k hits, best first; `allowed` has the positions of the chunks that a scope leaves.

        Without `is_counted` the tally stays as it is: for a question that was asked before with another k.
        Raises OutsideSystemError, with system and case, for lines or a score that cannot be.
        """
        k = question.k if self._rules.final is None else min(question.k, self._rules.final)
        tally = self.tally if is_counted else Tally(self.tally.system)
        entry = _Entry(self, tally, allowed)
        for rank, result in enumerate(results, start=1):
            if len(entry.hits) == k:
                tally.n_surplus += len(results) - rank + 1
                break
            try:
                entry.add(result)
            except _BadResultError as fault:
                place = f"system {quoted(self.tally.system)}: case {on_one_line(question.id)}"
                raise OutsideSystemError(f"{place}: rank {rank}: {fault}") from None
        self._count(tally, len(results), k)
        return tuple(entry.hits)

    def _count(self, tally: Tally, n_returned: int, k: int) -> None:
        # A system that returns whole files has no more to give than there are files.
        if n_returned and (self._index is None or k <= len(self._index.positions_by_file)):
            tally.n_answers += 1
            tally.n_short_answers += n_returned < k

    def locate(self, result: OutsideResult) -> Location:
        """Where `result` is, as far as the corpus or the labels tell; raises _BadResultError."""
        reading = self._paths.read(result.path)
        first, last = _lines(result, reading.lines)
        if self._index is None:
            return Location(reading.path, first, last, result.kind, result.text)
        outside = Location(result.path, first, last, result.kind, result.text, is_outside=True)
        return self._in_file(reading.path, outside) if reading.is_known else outside

    def _in_file(self, path: str, said: Location) -> Location:
        file = self.file(path)
        first, last = said.start_line, said.end_line
        if first is None or last is None:
            first, last = 1, file.last_line
        elif file.n_lines is not None:
            last = min(last, file.n_lines)
        if last < first:
            # It begins behind the end of the file, as in a stale index; or the file has no known line.
            return said if said.start_line is not None else said._replace(file_path=path, is_outside=False)
        text = None if file.has_text(first, last) else said.text  # the corpus has the text of its chunks
        return Location(path, first, last, said.kind, text, likeness=file.likeness(first, last))

    def file(self, path: str) -> FilePlaces:
        """The places of one file of the corpus."""
        file = self._files.get(path)
        if file is None:
            if self._index is None:
                raise ValueError("without a corpus there are no files")
            file = self._files[path] = FilePlaces(self._index, path)
        return file

    def chunk(self, position: int) -> Chunk:
        """The chunk at a position of the index."""
        if self._index is None:
            raise ValueError("without a corpus there are no chunks")
        return self._index.chunks[position]

    @property
    def has_corpus(self) -> bool:
        """Whether there is an index to look places up in."""
        return self._index is not None

    @property
    def collapses(self) -> bool:
        """Whether results that repeat an earlier one are dropped."""
        return self._rules.collapse


def with_corpus_text(ranking: Ranking, index: Index) -> Ranking:
    """`ranking` with the text of the corpus in every location that has any there, to be shown."""
    return tuple(
        hit if isinstance(hit.chunk, Chunk) else hit._replace(chunk=_with_text(hit.chunk, index))
        for hit in ranking
    )


def _with_text(location: Location, index: Index) -> Location:
    if location.start_line is None or location.end_line is None:
        return location
    text = index.text(location.file_path, location.start_line, location.end_line)
    return location._replace(text=text.decode("utf-8", "replace")) if text else location


class _BadResultError(Exception):
    """What is wrong with one result, in words."""


class _Entry:
    """One ranking on its way in."""

    def __init__(self, door: Door, tally: Tally, allowed: Collection[int] | None) -> None:
        self.hits: list[Hit] = []
        self._door = door
        self._tally = tally
        self._allowed = allowed
        self._taken: set[int] = set()
        self._seen: set[tuple[object, ...]] = set()
        self._functions: set[int] = set()

    def add(self, result: OutsideResult) -> None:
        """Let `result` in, or count why not; raises _BadResultError."""
        score = _checked_score(result.score)
        location = self._door.locate(result)
        if not self._door.has_corpus or location.is_outside:
            self._add_unknown(location, result.path, score)
            return
        file = self._door.file(location.file_path)
        if self._allowed is not None and not any(at in self._allowed for at in file.positions):
            self._tally.n_out_of_scope += 1
            return
        first, last = location.start_line, location.end_line
        if first is None or last is None:
            self._add_unknown(location, result.path, score)
            return
        found = file.standing_at(first, last, location.kind)
        position = next((at for at in found if at not in self._taken), None)
        if position is None and (found or not self._is_new(location)):
            self._tally.n_named_again += 1
            return
        function = file.function_holding(first, last)
        if position is not None:
            self._taken.add(position)
            function = position if file.is_code(position) else None
        if self._is_repeat(function):
            return
        if position is None:
            self._tally.n_whole_files += (first, last) == (1, file.last_line)
            self._enter(location, score)
        else:
            self._tally.n_chunks += 1
            self._enter(self._door.chunk(position), score)

    def _add_unknown(self, location: Location, path: str, score: float | None) -> None:
        """A result in no file that the index knows, or in one of which it knows no line."""
        if not self._is_new(location):
            self._tally.n_named_again += 1
            return
        if location.is_outside:
            self._tally.add_outside(path)
        self._enter(location, score)

    def _is_new(self, location: Location) -> bool:
        # With a corpus the lines alone say what is meant; without one the kind is part of the place.
        kind = None if self._door.has_corpus else location.kind
        place = location.file_path, location.start_line, location.end_line, kind
        if place in self._seen:
            return False
        self._seen.add(place)
        return True

    def _is_repeat(self, function: int | None) -> bool:
        """Whether it repeats a function and is dropped; counted where it stays."""
        if function is None:
            return False
        if function not in self._functions:
            self._functions.add(function)
            return False
        if self._door.collapses:
            return True
        self._tally.n_repeats += 1
        return False

    def _enter(self, found: Chunk | Location, score: float | None) -> None:
        self._tally.n_results += 1
        self.hits.append(Hit(found, score))


def _lines(result: OutsideResult, of_path: tuple[int, int] | None) -> tuple[int | None, int | None]:
    """First and last line that a result names, or that the tail of its path names; raises _BadResultError."""
    first, last = result.start, result.end
    if first is None and last is None and of_path is not None:
        first, last = of_path
    if first is None and last is None:
        return None, None
    if first is None or last is None:
        _fail(result, "has only one end of its lines: give start and end, or neither")
    if first < 1:
        _fail(result, f"starts at line {shown_integer(first)}: lines count from 1")
    if last < first:
        _fail(
            result,
            f"ends at line {shown_integer(last)}, before its start at {shown_integer(first)}: "
            "lines are inclusive, start first",
        )
    return first, last


def _checked_score(score: float | None) -> float | None:
    if score is None:
        return None
    try:
        number = float(score)
    except OverflowError:  # an integer of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise _BadResultError(f"the score is {number}: scores are finite, or left out")
    return number


def _fail(result: OutsideResult, fault: str) -> NoReturn:
    raise _BadResultError(f"{quoted(result.path)} {fault}")
