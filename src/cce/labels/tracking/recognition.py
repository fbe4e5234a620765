"""Recognition: which of several places of a text is the one that was labelled.

The places and the text's trace enter; the one place that must be meant leaves, or none.

A place is taken for the text if it still stands beside a line that the text stood beside, and more
speaks for the text than for any twin of it: the lines before, the lines after, the file. Failing that
it is the one place left over when every twin is known again; a place left of fewer may be a twin's.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from cce.labels.tracking.places import LineTable, TextPlace
from cce.labels.tracking.surroundings import File, Sides, Twin, is_beside, sides_of, stands_between
from cce.labels.tracking.texts import line_prints, name_print
from cce.labels.tracking.traces import Trace

_MOST_LEFT_OVER = 12
"""Of more twins than that one more or less says nothing: it may be a copy that was made since."""

_MOST_BY_CHANCE = 2
"""More lines than that do not come together by chance."""


def recognised(
    table: LineTable, places: Sequence[TextPlace], own_path: str, trace: Trace
) -> TextPlace | None:
    """The one place that must be meant, None if there is none or any doubt."""
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
    """Whether a line stands nowhere else; without any, two other lines may have come together by chance."""
    lines = [line for line in table.lines_at(place) if line]
    return len(lines) > _MOST_BY_CHANCE or any(_is_only(table, line) for line in lines)


def _is_only(table: LineTable, line: bytes) -> bool:
    places = table.places(line_prints([line]), lambda lines: lines == (line,))
    return len(list(islice(places, 2))) == 1


def _among_copies(around: dict[TextPlace, Sides], own_path: str, trace: Trace) -> TextPlace | None:
    """Of a text that had no twin: copies that were made since do not stand where it stood."""
    beside = [place for place, sides in around.items() if is_beside(trace.near, sides)]
    return only([place for place in beside if place.path == own_path] or beside)


class _View:
    """One place, and for whom its surroundings speak."""

    def __init__(self, table: LineTable, place: TextPlace, sides: Sides, own_path: str, trace: Trace) -> None:
        """`sides` is what stands around the place, `own_path` and `trace` are those of the text."""
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
        """How many things more speak for the text than for its twin."""
        votes = [self._file_votes(twin.file)]
        for parting, kept, now in zip(twin.partings, self._near, self._sides, strict=True):
            votes.append(parting.speaks(kept, now))
        return sum(own - other for own, other in votes)

    def _file_votes(self, other: File) -> tuple[bool, bool]:
        """Whether the place's file is the text's file rather than the twin's, and the other way round.

        A file keeps its name; one of a third name may be the one of the two whose name is gone.
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
    """The only place that is no twin's, if all twins are accounted for."""
    strangers = [view for view in views if not view.twins]
    if n_twins > _MOST_LEFT_OVER or len(views) != n_twins + 1 or len(strangers) != 1:
        return None
    is_shared_out = _can_be_shared_out([view.twins for view in views if view.twins])
    return strangers[0].place if is_shared_out and strangers[0].certainty >= 0 else None


def _can_be_shared_out(choices: Sequence[Sequence[int]]) -> bool:
    """Whether each can have one of its choices to itself; those with the fewest choose first."""
    taken: set[int] = set()
    for choice in sorted(choices, key=len):
        free = next((each for each in choice if each not in taken), None)
        if free is None:
            return False
        taken.add(free)
    return True


def only(places: Sequence[TextPlace]) -> TextPlace | None:
    """The place if it is a single one."""
    return places[0] if len(places) == 1 else None
