"""What hits gain where some are no chunks of the index: each relevant unit is gained once.

A ranking and its matches enter; one grade per hit leaves. A result may be a line, a window or a whole file,
and however many of them lie in one chunk, they gain it together once, so that no graded metric exceeds 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from cce.domain.ranking import Chunk, Location, Ranking
from cce.measurement.matching.anchor_table import AnchorTable, ChunkLookup, best_grade, lines_of

Matched = Sequence[tuple[int, ...]]
"""Per hit the positions of the anchors that it matches."""


def located_gains(
    hits: Ranking, matches: Matched, table: AnchorTable, grades: Sequence[int], chunks: ChunkLookup | None
) -> tuple[int, ...]:
    """The grade that each hit gains, 0 if none; without an index the units are the anchors themselves."""
    if chunks is None:
        return _gained_anchors(matches, table, grades)
    gained: set[int] = set()
    return tuple(
        _gained_chunk(hit.chunk, table, grades, chunks, gained) if matched else 0
        for hit, matched in zip(hits, matches, strict=True)
    )


def _gained_chunk(
    found: Chunk | Location,
    table: AnchorTable,
    grades: Sequence[int],
    chunks: ChunkLookup,
    gained: set[int],
) -> int:
    """The highest grade among the chunks that `found` is or touches and that are not gained yet."""
    first, last = (found.start_line, found.end_line) if isinstance(found, Chunk) else lines_of(found)
    best, best_at = 0, -1
    for position, chunk in chunks.sharing_a_line(found.file_path, first, last):
        if position in gained or (isinstance(found, Chunk) and chunk != found):
            continue
        grade = best_grade(grades, table.matched_by(chunk))
        if grade > best:  # ties stay with the first in index order
            best, best_at = grade, position
    gained.add(best_at)
    return best


def _gained_anchors(matches: Matched, table: AnchorTable, grades: Sequence[int]) -> tuple[int, ...]:
    """Each hit gains the best anchor that it matches and that is not gained yet."""
    gained: set[tuple[object, ...]] = set()
    gains: list[int] = []
    for matched in matches:
        left = [at for at in matched if table.anchors[at].named not in gained]
        best = max(left, key=grades.__getitem__, default=None)  # ties: the first
        gains.append(0 if best is None else grades[best])
        if best is not None:
            gained.add(table.anchors[best].named)
    return tuple(gains)
