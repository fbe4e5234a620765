"""The door: what an outside system answers goes in, a ranking that keeps the laws of rankings comes out.

A result that is the place of a chunk becomes that chunk; any other is a Location. What is wrong with a result
ends in one line with system and case; what is merely odd is counted by the tally, which ends in notices.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from copy import copy
from typing import NamedTuple

from cce.domain.outside import OutsideResult, Question
from cce.domain.ranking import Chunk, Hit, Location, Ranking
from cce.errors import OutsideSystemError
from cce.quoting import on_one_line, quoted
from cce.retrieval.external.locating import BadResultError, Locator
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
        self._rules = rules
        self._locator = Locator(index, rules.root, rules.folder, labelled)
        # A system that returns whole files has no more to give than there are files.
        self._most_asked = None if index is None else len(index.positions_by_file)

    def another(self) -> Door:
        """A door that reads alike and counts on its own."""
        door = copy(self)
        door.tally = Tally(self.tally.system, self._rules.is_run)
        return door

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
        entry = _Entry(self._locator, tally, allowed, collapses=self._rules.collapse)
        for rank, result in enumerate(results, start=1):
            if len(entry.hits) == k:
                tally.n_surplus += len(results) - rank + 1
                break
            try:
                entry.add(result)
            except BadResultError as fault:
                place = f"system {quoted(self.tally.system)}: case {on_one_line(question.id)}"
                raise OutsideSystemError(f"{place}: rank {rank}: {fault}") from None
        self._count(tally, len(results), k)
        return tuple(entry.hits)

    def _count(self, tally: Tally, n_returned: int, k: int) -> None:
        if n_returned and (self._most_asked is None or k <= self._most_asked):
            tally.n_answers += 1
            tally.n_short_answers += n_returned < k


class _Entry:
    """One ranking on its way in."""

    def __init__(
        self, locator: Locator, tally: Tally, allowed: Collection[int] | None, *, collapses: bool
    ) -> None:
        self.hits: list[Hit] = []
        self._locator = locator
        self._tally = tally
        self._allowed = allowed
        self._collapses = collapses
        self._taken: set[int] = set()
        self._seen: set[tuple[object, ...]] = set()
        self._functions: set[int] = set()

    def add(self, result: OutsideResult) -> None:
        """Let `result` in, or count why not; raises BadResultError."""
        score = _checked_score(result.score)
        location = self._locator.locate(result)
        file = self._locator.file_of(location)
        if file is None:
            self._add_unknown(location, score)
            return
        if self._allowed is not None and not any(at in self._allowed for at in file.positions):
            self._tally.n_out_of_scope += 1
            return
        first, last = location.start_line, location.end_line
        if first is None or last is None:
            self._add_unknown(location, score)
            return
        found = file.standing_at(first, last, location.kind)
        free = [at for at in found if at not in self._taken]
        if free:
            self._add_chunk(file, free[0], score)
        elif found:
            self._tally.n_named_again += 1
        elif self._is_new(location) and not self._is_dropped(file.function_holding(first, last)):
            self._tally.n_whole_files += file.is_all(first, last)
            self._enter(location, score)

    def _add_chunk(self, file: FilePlaces, position: int, score: float | None) -> None:
        self._taken.add(position)
        if not self._is_dropped(position if file.is_code(position) else None):
            chunk = self._locator.chunk(position)
            self._tally.n_chunks += 1
            self._tally.n_whole_files += file.is_all(chunk.start_line, chunk.end_line)
            self._enter(chunk, score)

    def _add_unknown(self, location: Location, score: float | None) -> None:
        """A result in no file that the index knows, or in one of which it knows no line."""
        if not self._is_new(location):
            return
        if location.is_outside:
            self._tally.add_outside(location.file_path)
        self._enter(location, score)

    def _is_new(self, location: Location) -> bool:
        """Whether no result had this place; one that has it again is counted and left out."""
        # With a corpus the lines alone say what is meant; without one the kind is part of the place.
        kind = None if self._locator.has_corpus else location.kind
        place = location.file_path, location.start_line, location.end_line, kind
        if place in self._seen:
            self._tally.n_named_again += 1
            return False
        self._seen.add(place)
        return True

    def _is_dropped(self, function: int | None) -> bool:
        """Whether it repeats a function and is dropped; counted where it stays."""
        if function is None:
            return False
        if function not in self._functions:
            self._functions.add(function)
            return False
        if self._collapses:
            return True
        self._tally.n_repeats += 1
        return False

    def _enter(self, found: Chunk | Location, score: float | None) -> None:
        self._tally.n_results += 1
        self.hits.append(Hit(found, score))


def _checked_score(score: float | None) -> float | None:
    if score is None:
        return None
    try:
        number = float(score)
    except OverflowError:  # an integer of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise BadResultError(f"the score is {number}: scores are finite, or left out")
    return number
