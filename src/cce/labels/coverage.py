"""Which chunks the anchors of a case match, and the best figures that any ranking can reach with them.

Chunks enter in index order; the positions of the chunks that an anchor matches leave. The chunks of a
file are held as arrays, so the cost of an anchor depends neither on their number nor on its range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cce.domain.anchor import Anchor
from cce.domain.case import Case
from cce.domain.ranking import Chunk
from cce.measurement.metrics.ranked import harmonic_mean

IntVector = NDArray[np.int64]

_LAST_LINE = 2**62  # fits int64, and no file has as many lines


@dataclass(frozen=True, slots=True)
class _FileChunks:
    """The chunks of one file; they stand at `first..first + n` in the index."""

    first: int
    starts: IntVector
    ends: IntVector
    kinds: IntVector


class AnchoredChunks:
    """Which chunks an anchor matches."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        """`chunks` in index order, in which the chunks of a file are neighbours."""
        self.chunks = chunks
        self.positions_by_file: dict[str, list[int]] = {}
        self._kind_numbers: dict[str, int] = {}
        kinds = [self._kind_numbers.setdefault(chunk.kind, len(self._kind_numbers)) for chunk in chunks]
        self._kinds = np.array(kinds, np.int64)
        for position, chunk in enumerate(chunks):
            self.positions_by_file.setdefault(chunk.file_path, []).append(position)
        self._file = lru_cache(4096)(self._gather)
        self._of_kind = lru_cache(None)(self._find_kind)

    def matched(self, anchor: Anchor) -> IntVector:
        """Positions of the chunks that `anchor` matches, ascending."""
        kind = None if anchor.kind is None else self._kind_numbers.get(anchor.kind, -1)
        if anchor.path is None:
            return self._of_kind(-1 if kind is None else kind)
        if anchor.path not in self.positions_by_file:
            return np.empty(0, np.int64)
        file = self._file(anchor.path)
        is_matched = np.ones(len(file.starts), bool)
        if anchor.lines is not None:
            # Lines may have hundreds of digits; no chunk does.
            is_matched &= file.starts <= min(anchor.lines.last, _LAST_LINE)
            is_matched &= file.ends >= min(anchor.lines.first, _LAST_LINE)
        if kind is not None:
            is_matched &= file.kinds == kind
        return np.flatnonzero(is_matched) + file.first

    def _find_kind(self, kind: int) -> IntVector:
        return np.flatnonzero(self._kinds == kind)

    def _gather(self, path: str) -> _FileChunks:
        positions = self.positions_by_file[path]
        chunks = [self.chunks[position] for position in positions]
        return _FileChunks(
            positions[0],
            np.array([chunk.start_line for chunk in chunks], np.int64),
            np.array([chunk.end_line for chunk in chunks], np.int64),
            self._kinds[positions],
        )


class Ceiling(NamedTuple):
    """The upper bounds of the figures of one case, over all rankings."""

    precision: float
    recall: float
    f1: float


def ceiling(case: Case, matched: Sequence[IntVector]) -> Ceiling:
    """The ceiling of `case`; `matched` has the positions of the matched chunks, per anchor.

    Recall is exact unless there are more anchors than k and chunks that match several of them: the best k
    chunks are then a maximum coverage problem (NP-hard), and this is an upper bound of its answer.
    """
    precision = min(_count_distinct(matched, case.k), case.k) / case.k
    recall = _most_matched(matched, case.k) / len(matched)
    return Ceiling(precision, recall, harmonic_mean(precision, recall))


def _count_distinct(matched: Sequence[IntVector], enough: int) -> int:
    """The number of distinct chunks, or of those of a single anchor if that is `enough`."""
    most = max(map(len, matched))
    return most if most >= enough or len(matched) == 1 else len(np.unique(np.concatenate(matched)))


def _most_matched(matched: Sequence[IntVector], k: int) -> int:
    """An upper bound on how many anchors k chunks match: the k chunks with the most anchors, summed."""
    matchable = [positions for positions in matched if len(positions)]
    if len(matchable) <= k:
        return len(matchable)
    n_anchors = np.unique(np.concatenate(matchable), return_counts=True)[1]
    return min(len(matchable), int(np.sort(n_anchors)[::-1][:k].sum()))
