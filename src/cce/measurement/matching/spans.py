"""Token spans: how well the retrieved lines of a case cover the expected ones.

Lines are held as intervals and weighed by prefix sums, so that `a.py@1-999999999999` costs as much
as `a.py@1-2`. Which hits match which anchors is judging's business, not this module's.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate

from cce.domain.case import Case
from cce.domain.ranking import Chunk, Ranking
from cce.measurement.matching.matches import TokenScore
from cce.tokens import estimate_tokens

Span = tuple[int, int]
"""First and last line, 1-based and inclusive."""

SpansByFile = Mapping[str, Sequence[Span]]
"""Per file path: ascending spans that neither overlap nor touch."""


class LineWeights:
    """What each line of a corpus weighs. A file is looked at when it is first asked about: most never are."""

    def __init__(self, chunks_of: Callable[[str], Iterable[Chunk]]) -> None:
        """`chunks_of` gives the chunks of a file path in index order, none for an unknown one.

        Those that lie within an earlier one may be left out: they decide the weight of no line.
        """
        self._chunks_of = chunks_of
        self._files: dict[str, _FileWeights] = {}

    def weight(self, file_path: str, span: Span) -> int:
        """The weight of all lines of `span`; a line without indexed text weighs 1."""
        weights = self._files.get(file_path)
        if weights is None:
            weights = self._files[file_path] = _FileWeights(self._chunks_of(file_path))
        return weights.of(*span)

    def total(self, spans: SpansByFile) -> int:
        """The weight of all lines of all `spans`."""
        return sum(self.weight(path, span) for path, of_file in spans.items() for span in of_file)


class _FileWeights:
    """Prefix sums over the lines of one file that have text: what they weigh beyond 1."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        lengths = _line_lengths(chunks)
        surplus = {length: estimate_tokens(length) - 1 for length in set(lengths.values())}
        self._lines = sorted(lengths)
        in_order = map(lengths.__getitem__, self._lines)
        self._surplus = list(accumulate(map(surplus.__getitem__, in_order), initial=0))

    def of(self, first: int, last: int) -> int:
        begin, end = bisect_left(self._lines, first), bisect_right(self._lines, last)
        return last - first + 1 + self._surplus[end] - self._surplus[begin]


def _line_lengths(chunks: Iterable[Chunk]) -> dict[int, int]:
    """Bytes by line; of several chunks with text for a line the first one decides."""
    lengths: dict[int, int] = {}
    first, last, furthest = 1, 0, 0  # the newest span known to be read throughout, and the last line of all
    for chunk in chunks:
        # Chunks nest: a thousand definitions in each other hold their text a thousand times over.
        if first <= chunk.start_line and chunk.end_line <= last:
            continue
        texts = _split_lines(chunk.content)
        covered = range(chunk.start_line, min(chunk.end_line, chunk.start_line + len(texts) - 1) + 1)
        of_chunk = zip(covered, map(len, texts), strict=False)
        if chunk.start_line > furthest:
            lengths.update(of_chunk)
        else:
            for line, length in of_chunk:
                lengths.setdefault(line, length)
        first, last = covered.start, covered.stop - 1
        furthest = max(furthest, last)
    return lengths


def _split_lines(content: bytes) -> list[bytes]:
    r"""The lines of `content` without their ends, `\n` or `\r\n`; a final end opens no further line."""
    lines = content.replace(b"\r\n", b"\n").split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def token_score(case: Case, ranking: Ranking, weights: LineWeights) -> TokenScore | None:
    """How the lines of the first k hits cover the lines of the ranged anchors; None without such anchors."""
    if not case.is_ranged:
        return None
    expected, retrieved = expected_spans(case), retrieved_spans(ranking[: case.k])
    overlap = weights.total(intersect_by_file(expected, retrieved))
    n_expected, n_retrieved = weights.total(expected), weights.total(retrieved)
    return TokenScore(
        precision=_share(overlap, n_retrieved),
        recall=_share(overlap, n_expected),
        iou=_share(overlap, n_expected + n_retrieved - overlap),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def expected_spans(case: Case) -> SpansByFile:
    """The lines that the ranged anchors of `case` name; anchors without a range add nothing."""
    spans: defaultdict[str, list[Span]] = defaultdict(list)
    for anchor in case.anchors:
        if anchor.path is not None and anchor.lines is not None:
            spans[anchor.path].append((anchor.lines.first, anchor.lines.last))
    return {path: unite(of_file) for path, of_file in spans.items()}


def retrieved_spans(hits: Ranking) -> SpansByFile:
    """The lines that `hits` span, over all files."""
    spans: defaultdict[str, list[Span]] = defaultdict(list)
    for hit in hits:
        spans[hit.chunk.file_path].append((hit.chunk.start_line, hit.chunk.end_line))
    return {path: unite(of_file) for path, of_file in spans.items()}


def intersect_by_file(a: SpansByFile, b: SpansByFile) -> SpansByFile:
    """The lines that are in both."""
    return {path: intersect(of_file, b[path]) for path, of_file in a.items() if path in b}


def unite(spans: Iterable[Span]) -> list[Span]:
    """The same lines as ascending spans that neither overlap nor touch."""
    united: list[Span] = []
    for first, last in sorted(spans):
        if united and first <= united[-1][1] + 1:
            united[-1] = (united[-1][0], max(united[-1][1], last))
        else:
            united.append((first, last))
    return united


def intersect(a: Sequence[Span], b: Sequence[Span]) -> list[Span]:
    """The lines of both; `a` and `b` are ascending and without overlaps, as `unite` gives them."""
    common: list[Span] = []
    i = j = 0
    while i < len(a) and j < len(b):
        first, last = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if first <= last:
            common.append((first, last))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return common
