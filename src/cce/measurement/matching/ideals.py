"""The grades of an ideal ranking of the whole index, by which graded metrics are normalised.

The chunks enter once and are counted by file and kind. The cost of a case depends on its anchors and the
chunks that their ranges overlap, not on the size of the index. An anchor that no chunk matches stays in the
ideal, so that an answer that disappears raises no figure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice, repeat

from cce.domain.case import Case
from cce.domain.ranking import Chunk
from cce.line_spans import Spans
from cce.measurement.matching.anchor_table import AnchorTable, best_grade
from cce.measurement.matching.matches import anchor_grades
from cce.measurement.matching.spans import Span, expected_spans

_NO_FILE = ""  # no anchor names this path, so only anchors without a path match there


class IndexedChunks:
    """Chunks of an index, counted by file and kind."""

    def __init__(self, chunks: Iterable[tuple[int, Chunk]]) -> None:
        """`chunks` in index order, each with its position there."""
        by_file: defaultdict[str, list[tuple[int, Chunk]]] = defaultdict(list)
        for position, chunk in chunks:
            by_file[chunk.file_path].append((position, chunk))
        self._files = {path: _CountedFile(path, own) for path, own in by_file.items()}
        self._n_by_kind: Counter[str] = Counter()
        for file in self._files.values():
            self._n_by_kind.update(file.n_by_kind)

    def within(self, allowed: Container[int]) -> IndexedChunks:
        """The chunks at the `allowed` positions only: what a scope leaves of the index."""
        return IndexedChunks(
            (position, chunk)
            for file in self._files.values()
            for position, chunk in file.chunks
            if position in allowed
        )

    def sharing_a_line(self, path: str, first: int, last: int) -> Sequence[tuple[int, Chunk]]:
        """The chunks of a file that share a line with `first..last`, with their positions, in index order."""
        file = self._files.get(path)
        return () if file is None else file.sharing_a_line(first, last)

    def ideal(self, case: Case) -> tuple[int, ...]:
        """The grades of all that is relevant for `case`, best first, at most k.

        These are the chunks that match an anchor, and the anchors that no chunk matches: one unit each, which
        no ranking can gain.
        """
        table, grades = AnchorTable(case.anchors), anchor_grades(case)
        n_by_grade: Counter[int] = Counter()
        found: set[int] = set()
        for matched, n_chunks in self._matched(case, table):
            if n_chunks:
                n_by_grade[best_grade(grades, matched)] += n_chunks
                found.update(matched)
        del n_by_grade[0]
        n_by_grade.update(_grades_of_units(case, [at for at in range(len(grades)) if at not in found]))
        best_first = sorted(n_by_grade.items(), reverse=True)
        expanded = chain.from_iterable(repeat(grade, n_chunks) for grade, n_chunks in best_first)
        return tuple(islice(expanded, min(case.k, n_by_grade.total())))

    def whole_files(self, case: Case) -> tuple[int, ...]:
        """The most that whole files can gain, best first, at most k: a file gains one of its chunks."""
        table, grades = AnchorTable(case.anchors), anchor_grades(case)
        best = (
            max((best_grade(grades, table.matched_by(chunk)) for _, chunk in file.chunks), default=0)
            for file in self._files.values()
            if table.may_match_in(file.path)
        )
        return tuple(sorted((grade for grade in best if grade), reverse=True)[: case.k])

    def unmatched(self, case: Case) -> tuple[int, ...]:
        """0-based positions of the anchors of `case` that no chunk matches."""
        found: set[int] = set()
        for matched, n_chunks in self._matched(case, AnchorTable(case.anchors)):
            if n_chunks:
                found.update(matched)
        return tuple(position for position in range(len(case.anchors)) if position not in found)

    def _matched(self, case: Case, table: AnchorTable) -> Iterator[tuple[tuple[int, ...], int]]:
        """(positions of anchors, the number of chunks that match exactly these anchors)."""
        ranges = expected_spans(case)
        kinds = {anchor.kind for anchor in case.anchors if anchor.path is None}
        elsewhere = {kind: n_chunks for kind, n_chunks in self._n_by_kind.items() if kind in kinds}
        for path in {anchor.path for anchor in case.anchors if anchor.path is not None}:
            file = self._files.get(path)
            if file is None:
                continue
            yield from file.matched(table, ranges.get(path, ()))
            for kind in elsewhere:
                elsewhere[kind] -= file.n_by_kind[kind]
        for kind, n_chunks in elsewhere.items():
            yield table.matched_on_any_line(_NO_FILE, kind), n_chunks


def ideal_of_anchors(case: Case) -> tuple[int, ...]:
    """As `IndexedChunks.ideal` where there is no corpus: each anchor is one unit."""
    return tuple(sorted(_grades_of_units(case, range(len(case.anchors))), reverse=True)[: case.k])


def _grades_of_units(case: Case, positions: Iterable[int]) -> list[int]:
    """The grades of what the anchors at these positions name; anchors that name the same are one unit."""
    grades = anchor_grades(case)
    best: dict[tuple[object, ...], int] = {}
    for position in positions:
        unit = case.anchors[position].named
        best[unit] = max(grades[position], best.get(unit, 0))
    return list(best.values())


class _CountedFile:
    def __init__(self, path: str, chunks: Sequence[tuple[int, Chunk]]) -> None:
        self.path = path
        self.chunks = chunks
        self.n_by_kind = Counter(chunk.kind for _, chunk in chunks)

    @cached_property
    def _spans(self) -> Spans:
        return Spans((chunk.start_line, chunk.end_line, n) for n, (_, chunk) in enumerate(self.chunks))

    def sharing_a_line(self, first: int, last: int) -> list[tuple[int, Chunk]]:
        """As `IndexedChunks.sharing_a_line`."""
        return [self.chunks[n] for n in sorted(self._spans.overlapping(first, last))]

    def matched(self, table: AnchorTable, ranges: Iterable[Span]) -> Iterator[tuple[tuple[int, ...], int]]:
        """As `IndexedChunks._matched`; only chunks that overlap `ranges` are matched one by one."""
        positions = {n for first, last in ranges for n in self._spans.overlapping(first, last)}
        touched = [self.chunks[n][1] for n in positions]
        for chunk in touched:
            yield table.matched_by(chunk), 1
        for kind, n_chunks in (self.n_by_kind - Counter(chunk.kind for chunk in touched)).items():
            yield table.matched_on_any_line(self.path, kind), n_chunks
