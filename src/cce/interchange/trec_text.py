"""TREC columns as text: runs and judgments, written so that every reader of such files reads the same."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from cce.domain.outside import OutsideResult
from cce.domain.place_ids import DocumentPlace, docid, encoded_id


class JudgedPlace(NamedTuple):
    """A place and its grade: 0 for one that does not answer."""

    place: DocumentPlace
    grade: int


def render_trec_run(answers: Iterable[tuple[str, Sequence[OutsideResult]]], tag: str) -> Iterator[bytes]:
    """The lines of (query id, results best first), with their ends; a query without results has no line."""
    for query, results in answers:
        names = _docids(DocumentPlace(each.path, each.start, each.end, each.kind) for each in results)
        scores = _falling_scores([each.score for each in results])
        for rank, (name, score) in enumerate(zip(names, scores, strict=True), start=1):
            yield f"{encoded_id(query)} Q0 {name} {rank} {score!r} {encoded_id(tag)}\n".encode()


def render_qrels(judgments: Iterable[tuple[str, Sequence[JudgedPlace]]]) -> Iterator[bytes]:
    """The lines of (query id, places), with their ends."""
    for query, judged in judgments:
        for name, (_, grade) in zip(_docids(each.place for each in judged), judged, strict=True):
            yield f"{encoded_id(query)} 0 {name} {grade}\n".encode()


def _docids(places: Iterable[DocumentPlace]) -> Iterator[str]:
    """An id for each place; a place that comes again is numbered, since a document counts once."""
    n_seen: Counter[DocumentPlace] = Counter()
    for place in places:
        n_seen[place] += 1
        yield docid(place, n_seen[place])


def _falling_scores(scores: Sequence[float | None]) -> Sequence[float]:
    """The scores, if they sort into the order of the results for everybody; else falling ranks.

    Readers sort by score, some of them as 32-bit floats, and each breaks ties in its own way.
    """
    known = [score for score in scores if score is not None]
    single = array("f", known)
    if len(known) == len(scores) and all(a > b for a, b in pairwise(single)):
        return known
    return [float(len(scores) - position) for position in range(len(scores))]
