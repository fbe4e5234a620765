"""The grades of an ideal ranking of the whole index, by which graded metrics are normalised.

The chunks enter once and are counted by file and kind. The cost of a case depends on its anchors and the
chunks that their ranges overlap, not on the size of the index.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
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
    """The chunks of an index, counted by file and kind; `chunks` in index order."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        by_file: defaultdict[str, list[tuple[int, Chunk]]] = defaultdict(list)
        for position, chunk in enumerate(chunks):
            by_file[chunk.file_path].append((position, chunk))
        self._files = {path: _CountedFile(path, own) for path, own in by_file.items()}
        self._n_by_kind: Counter[str] = Counter()
        for file in self._files.values():
            self._n_by_kind.update(file.n_by_kind)

    def sharing_a_line(self, path: str, first: int, last: int) -> Sequence[tuple[int, Chunk]]:
        """The chunks of a file that share a line with `first..last`, with their positions, in index order."""
        file = self._files.get(path)
        return () if file is None else file.sharing_a_line(first, last)

    def ideal(self, case: Case) -> tuple[int, ...]:
        """The grades of the chunks that are relevant for `case`, best first, at most k."""
        table, grades = AnchorTable(case.anchors), anchor_grades(case)
        n_by_grade: Counter[int] = Counter()
        for matched, n_chunks in self._matched(case, table):
            n_by_grade[best_grade(grades, matched)] += n_chunks
        del n_by_grade[0]
        best_first = sorted(n_by_grade.items(), reverse=True)
        expanded = chain.from_iterable(repeat(grade, n_chunks) for grade, n_chunks in best_first)
        return tuple(islice(expanded, min(case.k, n_by_grade.total())))

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


class _CountedFile:
    def __init__(self, path: str, chunks: Sequence[tuple[int, Chunk]]) -> None:
        self._path = path
        self._chunks = chunks
        self.n_by_kind = Counter(chunk.kind for _, chunk in chunks)

    @cached_property
    def _spans(self) -> Spans:
        return Spans((chunk.start_line, chunk.end_line, n) for n, (_, chunk) in enumerate(self._chunks))

    def sharing_a_line(self, first: int, last: int) -> list[tuple[int, Chunk]]:
        """As `IndexedChunks.sharing_a_line`."""
        return [self._chunks[n] for n in sorted(self._spans.overlapping(first, last))]

    def matched(self, table: AnchorTable, ranges: Iterable[Span]) -> Iterator[tuple[tuple[int, ...], int]]:
        """As `IndexedChunks._matched`; only chunks that overlap `ranges` are matched one by one."""
        positions = {n for first, last in ranges for n in self._spans.overlapping(first, last)}
        touched = [self._chunks[n][1] for n in positions]
        for chunk in touched:
            yield table.matched_by(chunk), 1
        for kind, n_chunks in (self.n_by_kind - Counter(chunk.kind for chunk in touched)).items():
            yield table.matched_on_any_line(self._path, kind), n_chunks
