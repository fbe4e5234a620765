"""Recognition: which of several places of a text is the one that was labelled.

The places and the trace of the text enter; the labelled place leaves, or None in doubt.

A place is recognised if it still has a neighbouring line of the text, and if more evidence supports the
text than any twin (another place with the same text when it was pinned). Evidence is the lines before,
the lines after, and the file. Otherwise a place is recognised by elimination: all twins are found again
and exactly one place is left. If a twin is missing, the place left may be that twin.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from cce.labels.tracking.places import LineTable, TextPlace
from cce.labels.tracking.surroundings import File, Sides, Twin, is_beside, sides_of, stands_between
from cce.labels.tracking.texts import line_prints, name_print
from cce.labels.tracking.traces import Trace

_MAX_TWINS_TO_ELIMINATE = 12
"""With more twins, elimination is not trusted: the place left may be a copy made since."""

_MAX_LINES_BY_CHANCE = 2
"""One or two common lines may meet by chance; more lines in a row do not."""


def recognised(
    table: LineTable, places: Sequence[TextPlace], own_path: str, trace: Trace
) -> TextPlace | None:
    """The labelled place; None if there is none, or in doubt."""
    if trace.twins is None and len(places) == 1:
        is_it = is_beside(trace.near, sides_of(table, places[0])) or _has_own_line(table, places[0])
        return places[0] if is_it else None
    if trace.is_between:
        places = [place for place in places if stands_between(table, place, trace.near)]
    around = {place: sides_of(table, place) for place in places}
    if not trace.twins:
        return _among_copies(around, own_path, trace)
    views = [_View(table, place, sides, own_path, trace) for place, sides in around.items()]
    most = max((view.certainty for view in views), default=0)
    likeliest = [view for view in views if view.certainty == most]
    if len(likeliest) == 1 and most > 0 and likeliest[0].is_beside:
        return likeliest[0].place
    return _left_over(views, len(trace.twins))


def _has_own_line(table: LineTable, place: TextPlace) -> bool:
    """Whether the text is too long to occur by chance, or has a line that occurs nowhere else."""
    lines = [line for line in table.lines_at(place) if line]
    return len(lines) > _MAX_LINES_BY_CHANCE or any(_is_only(table, line) for line in lines)


def _is_only(table: LineTable, line: bytes) -> bool:
    places = table.places(line_prints([line]), lambda lines: lines == (line,))
    return len(list(islice(places, 2))) == 1


def _among_copies(around: dict[TextPlace, Sides], own_path: str, trace: Trace) -> TextPlace | None:
    """The labelled place of a text that had no twin: copies made since have other neighbours."""
    beside = [place for place, sides in around.items() if is_beside(trace.near, sides)]
    return only([place for place in beside if place.path == own_path] or beside)


class _View:
    """One place, and which text its surroundings support: the labelled one or a twin."""

    def __init__(self, table: LineTable, place: TextPlace, sides: Sides, own_path: str, trace: Trace) -> None:
        """`sides` are the lines around the place, `own_path` and `trace` belong to the labelled text."""
        self.place = place
        self._table = table
        self._sides = sides
        self._near = trace.near
        self._own_file = File(name_print(own_path), trace.n_lines_of_file)
        twins = trace.twins or ()
        self._names = {self._own_file.name, *(twin.file.name for twin in twins)}
        balances = [self._balance(twin) for twin in twins]
        self.certainty = min(balances)
        self.is_beside = is_beside(trace.near, sides)
        self.twins = [n for n, twin in enumerate(twins) if balances[n] < 0 and self._touches(twin)]

    def _balance(self, twin: Twin) -> int:
        """Votes for the text minus votes for its twin, of three: the file and both sides."""
        votes = [self._file_votes(twin.file)]
        for parting, kept, now in zip(twin.partings, self._near, self._sides, strict=True):
            votes.append(parting.votes(kept, now))
        return sum(own - other for own, other in votes)

    def _file_votes(self, other: File) -> tuple[bool, bool]:
        """(whether the file votes for the text, whether it votes for the twin).

        A file with either name votes for that one. A file with a third name may have been renamed: it
        votes for the one whose name is gone, if only one is and the length is about the same.
        """
        own, path = self._own_file, self.place.path
        here = name_print(path)
        if own.name == other.name:
            return False, False
        if here in self._names:
            return here == own.name, here == other.name
        is_own_gone, is_other_gone = (file.name not in self._table.names for file in (own, other))
        return (
            is_own_gone and not is_other_gone and own.is_as_long(self._table, path),
            is_other_gone and not is_own_gone and other.is_as_long(self._table, path),
        )

    def _touches(self, twin: Twin) -> bool:
        sides = zip(twin.partings, self._near, self._sides, strict=True)
        return any(parting.touches(kept, now) for parting, kept, now in sides)


def _left_over(views: Sequence[_View], n_twins: int) -> TextPlace | None:
    """The place that is left when every twin is assigned to a place; None if that is not unique."""
    strangers = [view for view in views if not view.twins]
    if n_twins > _MAX_TWINS_TO_ELIMINATE or len(views) != n_twins + 1 or len(strangers) != 1:
        return None
    is_shared_out = _can_be_shared_out([view.twins for view in views if view.twins])
    return strangers[0].place if is_shared_out and strangers[0].certainty >= 0 else None


def _can_be_shared_out(choices: Sequence[Sequence[int]]) -> bool:
    """Whether every view can get a twin of its own; greedy, those with the fewest choices first.

    Greedy may miss an assignment that a full bipartite matching would find; then nothing is recognised.
    """
    taken: set[int] = set()
    for choice in sorted(choices, key=len):
        free = next((each for each in choice if each not in taken), None)
        if free is None:
            return False
        taken.add(free)
    return True


def only(places: Sequence[TextPlace]) -> TextPlace | None:
    """The only place of `places`; None if there are none or several."""
    return places[0] if len(places) == 1 else None
