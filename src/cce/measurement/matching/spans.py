"""Token spans: how well the retrieved lines of a case cover the expected ones.

Lines are intervals, weighted by prefix sums, so `a.py@1-999999999999` costs as much as `a.py@1-2`.
`matches` decides which hits match which anchors.
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
"""File path -> ascending spans that neither overlap nor touch."""


class LineWeights:
    """The weight of all lines of a corpus in tokens; a file is read when it is first asked for."""

    def __init__(self, chunks_of: Callable[[str], Iterable[Chunk]]) -> None:
        """`chunks_of` gives the chunks of a file in index order, none for an unknown path.

        It may leave out chunks that lie within an earlier one: they change no weight.
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
        return sum(self.weight(path, span) for path, own in spans.items() for span in own)


class _FileWeights:
    """Prefix sums over the lines of one file that have text.

    Every line weighs at least 1, so only the surplus is summed: for lines 2 and 5 with the weights 4 and 3
    the sums are [0, 3, 5], and lines 1 to 9 weigh 9 + 5.
    """

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
    """Line -> length in bytes; of several chunks with text for a line the first one counts."""
    lengths: dict[int, int] = {}
    first, last, furthest = 1, 0, 0  # the span of the newest chunk that was read, and the last line so far
    for chunk in chunks:
        # Nested chunks repeat the text of their parent: 1,000 nested definitions repeat it 1,000 times.
        if first <= chunk.start_line and chunk.end_line <= last:
            continue
        texts = _split_lines(chunk.content)
        covered = range(chunk.start_line, min(chunk.end_line, chunk.start_line + len(texts) - 1) + 1)
        own = zip(covered, map(len, texts), strict=False)
        if chunk.start_line > furthest:
            lengths.update(own)
        else:
            for line, length in own:
                lengths.setdefault(line, length)
        first, last = covered.start, covered.stop - 1
        furthest = max(furthest, last)
    return lengths


def _split_lines(content: bytes) -> list[bytes]:
    r"""The lines of `content` without their ends, `\n` or `\r\n`; no empty line follows a final end."""
    lines = content.replace(b"\r\n", b"\n").split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def token_score(case: Case, ranking: Ranking, weights: LineWeights) -> TokenScore | None:
    """How the lines of the first k hits cover those of the ranged anchors; None without such anchors."""
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
    """The lines of the ranged anchors of `case`; other anchors add nothing."""
    spans: defaultdict[str, list[Span]] = defaultdict(list)
    for anchor in case.anchors:
        if anchor.path is not None and anchor.lines is not None:
            spans[anchor.path].append((anchor.lines.first, anchor.lines.last))
    return {path: unite(own) for path, own in spans.items()}


def retrieved_spans(hits: Ranking) -> SpansByFile:
    """The lines of `hits`, over all files."""
    spans: defaultdict[str, list[Span]] = defaultdict(list)
    for hit in hits:
        found = hit.chunk
        if found.start_line is not None and found.end_line is not None:
            spans[found.file_path].append((found.start_line, found.end_line))
    return {path: unite(own) for path, own in spans.items()}


def intersect_by_file(a: SpansByFile, b: SpansByFile) -> SpansByFile:
    """The lines that are in both."""
    return {path: intersect(own, b[path]) for path, own in a.items() if path in b}


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
    """The common lines of `a` and `b`, which are ascending and without overlaps, as `unite` gives them."""
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
