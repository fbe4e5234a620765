"""The laws of rankings, checked where rankings enter; the error names the backend that breaks one.

A wrong ranking would become a wrong figure: a plug-in that returns its first hit k times would have
a precision of 1. So every ranking passes `check_ranking` before anything is computed from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NoReturn

from cce.domain.query import Query
from cce.domain.ranking import Chunk, Hit, Ranking
from cce.errors import RankingError
from cce.quoting import quoted
from cce.retrieval.indexing.index import Index


def check_ranking(ranking: object, query: Query, k: int, index: Index, ranker: str) -> Ranking:
    """`ranking` as it is, if it keeps the laws of `Backend.rank`; else RankingError naming `ranker`.

    Scores need not fall: the order returned is the ranking, and hybrid's graph results come last
    whatever their score.
    """
    try:
        return _checked(ranking, query, k, index)
    except _BrokenLawError as law:
        raise RankingError(f"{ranker}: query {quoted(query.text)}: {law}") from None


class _BrokenLawError(Exception):
    """A law that a ranking breaks, in words."""


def _checked(ranking: object, query: Query, k: int, index: Index) -> Ranking:
    if not isinstance(ranking, tuple | list):
        _break(f"a ranking is a tuple of hits, got {_type(ranking)}")
    if len(ranking) > k:
        _break(f"{len(ranking)} results for k = {k}; a ranking has at most k")
    if _is_plainly_sound(ranking, query, index):
        return tuple(ranking)
    taken: set[int] = set()
    for rank, hit in enumerate(ranking, start=1):
        if not isinstance(hit, Hit):
            _break(f"rank {rank} must be a Hit, got {_type(hit)}")
        if not isinstance(hit.chunk, Chunk):
            _break(f"rank {rank} must be a Hit with a Chunk, got one with {_type(hit.chunk)}")
        _check_score(hit.score, rank)
        position = next((n for n in _positions(hit.chunk, index) if n not in taken), None)
        if position is None:
            _break(f"rank {rank} repeats {_place(hit.chunk)}; a ranking has no chunk twice")
        if not query.allows(position):
            _break(f"rank {rank} is {_place(hit.chunk)}, which the query does not allow")
        taken.add(position)
    return tuple(ranking)


def _is_plainly_sound(ranking: Sequence[object], query: Query, index: Index) -> bool:
    """Whether all hits have finite floats and different chunk objects of the index, as nearly always.

    Few steps, since every ranking is asked. Anything else, such as copies of chunks, is checked hit by hit.
    """
    for hit in ranking:
        if type(hit) is not Hit or type(hit.score) is not float or not -math.inf < hit.score < math.inf:
            return False
    positions = index.chunks.positions_of([hit.chunk for hit in ranking if isinstance(hit, Hit)])
    is_complete = None not in positions and len(set(positions)) == len(positions)
    return is_complete and (query.allowed is None or query.allowed.issuperset(positions))


def _check_score(score: object, rank: int) -> None:
    # numpy's float64 is a float; its other numbers are not, and print otherwise.
    if isinstance(score, bool) or not isinstance(score, int | float):
        _break(f"the score at rank {rank} must be a float, got {_type(score)}")
    if not math.isfinite(score):
        _break(f"the score at rank {rank} is {score}; scores are finite")


def _positions(chunk: Chunk, index: Index) -> Iterator[int]:
    """Where `chunk` stands in the index, in index order; equal chunks of one line share place and id."""
    position = index.chunks.position_of(chunk)
    if position is not None:  # the object that the index itself gave: nearly always
        yield position
        return
    found = False
    for position in index.positions_by_file.get(chunk.file_path, ()):
        if index.chunks[position] == chunk:
            found = True
            yield position
    if not found:
        _break(f"{_place(chunk)} is no chunk of the index; return the chunks that the index gave")


def _place(chunk: Chunk) -> str:
    return f"{quoted(chunk.file_path)} lines {chunk.start_line}-{chunk.end_line}"


def _type(value: object) -> str:
    return type(value).__name__


def _break(law: str) -> NoReturn:
    raise _BrokenLawError(law)
