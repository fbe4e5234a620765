"""Candidates in the line of a case or draft: those that are new are added, known ones get their finder noted.

The bytes of a line enter and leave; only what must change does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cce.labels.draft import PooledChunk, candidate_of
from cce.labels.edits import encode, object_values, update_array, update_object

_Place = tuple[str, int | None, int | None]


class ExtendedLine(NamedTuple):
    """A line with its candidates, and how many of them are new."""

    line: bytes
    n_added: int


def with_candidates(line: bytes, found: Sequence[PooledChunk]) -> ExtendedLine:
    """`line` with `found` among its candidates; one that is there gets the systems that it lacks.

    The line must be one whose candidates are sound, or none.
    """
    pool = {_place(each): each for each in found}
    known = object_values(line).get("candidates", b"[]")
    places: set[_Place] = set()

    def noted(_: int, item: bytes) -> bytes:
        fields: Mapping[str, Any] = json.loads(item)
        place = fields["path"], *fields["lines"]
        places.add(place)
        finders = list(fields.get("backends", ()))
        missing = [name for name in pool[place].backends if name not in finders] if place in pool else []
        return update_object(item, {"backends": encode([*finders, *missing], line)}) if missing else item

    noted_candidates = update_array(known, noted)
    added = [encode(candidate_of(each), line) for place, each in pool.items() if place not in places]
    extended = update_array(noted_candidates, lambda _, item: item, added, like=line)
    if extended == known:
        return ExtendedLine(line, 0)
    return ExtendedLine(update_object(line, {"candidates": extended}), len(added))


def _place(pooled: PooledChunk) -> _Place:
    return pooled.chunk.file_path, pooled.chunk.start_line, pooled.chunk.end_line
