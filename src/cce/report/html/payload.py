"""Full report in, what the page's script needs out: compact JSON that is safe inside a script element.

Paths, kinds and chunks are stored once and referred to by position, scores as integers of 1e-6, so that
60,000 results stay within a few megabytes. First lines have a budget of their own: in a large report the
first lines of every chunk are cut shorter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from cce.domain.drilldown import CaseDrilldown, ShownHit, ShownMiss
from cce.domain.full_report import FullReport
from cce.domain.scores import CaseScore
from cce.numerals import ordering_key
from cce.quoting import one_line_in_json
from cce.report.view.cells import label
from cce.report.view.rows import CaseRow, shown_metrics

OPENING_BUDGET = 2_200_000

_OPENING_LENGTHS = (500, 320, 200, 120, 60, 30, 0)

Json = dict[str, object]
T = TypeVar("T", bound=Hashable)
Place = tuple[str, int | None, int | None, str, str]


def payload(full: FullReport, rows: Sequence[CaseRow], names: Sequence[str]) -> str:
    """The data of the page as JSON without any `<`, `>` or `&`; `names` are those of the columns."""
    metrics = shown_metrics(full)
    scores_by_column = [[row.scores[position] for row in rows] for position in range(len(names))]
    fields: Json = {
        "metrics": metrics,
        "labels": [*map(label, metrics)],
        "columns": names,
        "figures": [[_figures(metric, scores) for metric in metrics] for scores in scores_by_column],
        "ranks": [[_rank(score) for score in scores] for scores in scores_by_column],
        "deltas": {
            metric: [_micro(row.deltas[metric]) for row in rows] for metric in _compared(rows, metrics)
        },
        **_drilldown(full.cases),
    }
    return _embedded(fields)


def _embedded(fields: Mapping[str, object]) -> str:
    r"""JSON that cannot end its script element: `<` is `\u003c`; control characters are escaped as well."""
    text = one_line_in_json(json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _figures(metric: str, scores: Iterable[CaseScore | None]) -> list[int | None]:
    return [None if score is None else _micro(score.figures[metric]) for score in scores]


def _rank(score: CaseScore | None) -> int | None:
    """0 for none; null where the column lacks the case."""
    return None if score is None else score.first_relevant_rank or 0


def _micro(delta: float | None) -> int | None:
    return None if delta is None else ordering_key(delta)


def _compared(rows: Sequence[CaseRow], metrics: Iterable[str]) -> list[str]:
    return [metric for metric in metrics if rows and metric in rows[0].deltas]


class _Numbers(Generic[T]):
    """A position for each new value, and the same one for a value seen before."""

    def __init__(self) -> None:
        self._positions: dict[T, int] = {}

    def __call__(self, value: T) -> int:
        return self._positions.setdefault(value, len(self._positions))

    def values(self) -> list[T]:
        """All values, by position."""
        return [*self._positions]


def _drilldown(cases: Sequence[CaseDrilldown]) -> Json:
    paths, kinds, chunks, backends = _Numbers[str](), _Numbers[str](), _Numbers[Place](), _Numbers[str]()
    packed = [_case(case, backends, chunks) for case in cases]
    places = chunks.values()
    n_shown = opening_length([opening for *_, opening in places])
    return {
        "cases": packed,
        "backends": backends.values(),
        "chunks": [
            [paths(path), first, last, kinds(kind), _cut(opening, n_shown)]
            for path, first, last, kind, opening in places
        ],
        "paths": paths.values(),
        "kinds": kinds.values(),
        "opening": n_shown,
    }


def _case(
    case: CaseDrilldown, backends: Callable[[str], int], chunks: Callable[[Place], int]
) -> list[object]:
    rankings = [
        [
            backends(ranking.backend),
            [_hit(hit, chunks) for hit in ranking.hits],
            [_miss(miss, chunks) for miss in ranking.misses],
        ]
        for ranking in case.rankings
    ]
    grades = case.grades if any(grade != 1 for grade in case.grades) else 0
    return [case.k, case.anchors, grades, case.note or 0, rankings]


def _hit(hit: ShownHit, chunks: Callable[[Place], int]) -> list[int | None]:
    place = (hit.path, hit.first_line, hit.last_line, hit.kind, hit.opening)
    return [chunks(place), _micro(hit.score), *hit.matches]


def _miss(miss: ShownMiss, chunks: Callable[[Place], int]) -> list[object]:
    """0 for no rank and for no reason, -1 for no chunk."""
    chunk = -1
    if miss.path is not None:
        chunk = chunks((miss.path, miss.first_line, miss.last_line, miss.kind, miss.opening))
    return [miss.anchor, miss.rank or 0, chunk, miss.reason or 0]


def opening_length(openings: Sequence[str]) -> int:
    """How many characters of each opening fit into the budget of all, which counts bytes."""
    for n_shown in _OPENING_LENGTHS:
        if sum(len(opening[:n_shown].encode("utf-8", "replace")) for opening in openings) <= OPENING_BUDGET:
            return n_shown
    return 0


def _cut(opening: str, n: int) -> str:
    return opening if len(opening) <= n else f"{opening[:n]}…" if n else ""
