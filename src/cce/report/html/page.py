"""Full report in, the facts of the HTML page out: texts and places, ready for the template.

The template has no arithmetic and this module no markup. Figures are text from here on, and a place on
a chart is a percentage.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from cce.domain.evidence import Evidence
from cce.domain.full_report import FullReport
from cce.domain.gate import Reason, Rule
from cce.domain.redaction import Redaction
from cce.numerals import format_score
from cce.quoting import one_line
from cce.report.html.charts import DeltaPlot, delta_plot, extent_of, extent_text
from cce.report.html.figures import Panel, Shift, SliceRow, bucket, panels, shift, slices
from cce.report.view.cells import UNDEFINED, direction, signed
from cce.report.view.changes import Headline, changes, headline, interval_kind
from cce.report.view.rows import (
    CaseRow,
    NamedScore,
    blocking_by_id,
    columns,
    compared_names,
    has_moved,
    shown_metrics,
    worst_first,
)
from cce.report.view.sentences import sentences

MANY_ROWS = 300


@dataclass(frozen=True, slots=True)
class Cell:
    """One column of one case: the figure, how much of it as 0..20, and the rank of what was found first."""

    text: str
    bucket: int
    rank: str


@dataclass(frozen=True, slots=True)
class TableRow:
    """One case of the table as it first shows.

    position  0-based, in the order of the set
    address   what stands behind `#` in a link to the case, before it is encoded
    """

    position: int
    id: str
    address: str
    query: str
    tags: tuple[str, ...]
    is_critical: bool
    is_blocking: bool
    cells: tuple[Cell, ...]
    delta: str | None
    direction: int


@dataclass(frozen=True, slots=True)
class ReasonLine:
    """A reason of a gate: its text in pieces, each with the link of the case that it names, else empty."""

    level: str
    pieces: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Page:
    """All of it, in the order in which the page shows it."""

    headline: Headline
    reasons: tuple[ReasonLine, ...]
    warnings: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    panels: tuple[Panel, ...]
    has_intervals: bool
    sides: tuple[str, str] | None
    shifts: tuple[Shift, ...]
    interval_kind: str
    extent: str
    evidence: Evidence | None
    sentences: tuple[str, ...]
    plots: tuple[DeltaPlot, ...]
    slices: Mapping[str, tuple[SliceRow, ...]]
    slice_names: tuple[str, ...]
    columns: tuple[NamedScore, ...]
    metrics: tuple[str, ...]
    tags: tuple[str, ...]
    rows: tuple[TableRow, ...]
    is_large: bool
    command: str


def build_page(full: FullReport, rows: Sequence[CaseRow]) -> Page:
    """The facts of the page; `rows` are those of the report."""
    evidence = full.report.evidence
    found = changes(full)
    extent = extent_of([value for each in found for value in (each.delta, each.low, each.high)])
    ids = [one_line(row.id) for row in rows]
    metrics = shown_metrics(full)
    return Page(
        headline=headline(full),
        reasons=() if full.gate is None else tuple(map(_reason_line, full.gate.reasons)),
        warnings=full.warnings,
        facts=tuple(_facts(full)),
        panels=tuple(panels(full)),
        has_intervals=evidence is not None,
        sides=compared_names(full),
        shifts=tuple(shift(each, extent) for each in found),
        interval_kind=interval_kind(found),
        extent=extent_text(extent),
        evidence=evidence,
        sentences=()
        if evidence is None or evidence.compare is None
        else tuple(sentences(evidence.compare, evidence.options)),
        plots=tuple(delta_plot(each, ids, [row.deltas[each.metric] for row in rows]) for each in found),
        slices={} if evidence is None else slices(evidence, metrics),
        slice_names=() if evidence is None else tuple(each.backend for each in evidence.backends),
        columns=columns(full),
        metrics=metrics,
        tags=tuple(sorted({tag for case in full.cases for tag in case.tags})),
        rows=tuple(_table_rows(full, rows, metrics[0])),
        is_large=len(rows) > MANY_ROWS,
        command=one_line(shlex.join(full.command)),
    )


def case_addresses(ids: Sequence[str]) -> list[str]:
    """`case=pin-check`; a repeated id is `case=pin-check&nth=2` the second time."""
    n_seen: Counter[str] = Counter()
    addresses = []
    for name in ids:
        n_seen[name] += 1
        addresses.append(f"case={name}" if n_seen[name] == 1 else f"case={name}&nth={n_seen[name]}")
    return addresses


def _reason_line(reason: Reason) -> ReasonLine:
    """Links stand where the text names a case of the reason; of an id that stands twice at the last place."""
    text = one_line(reason.text)
    if reason.rule is Rule.CASES_REMOVED:  # the page has none of them
        return ReasonLine(reason.level.value, ((text, ""),))
    places: list[tuple[int, int, str]] = []
    # The longest first: `pin` must not be found in `pin-check`.
    for name in sorted(set(map(one_line, reason.case_ids)), key=lambda each: (-len(each), each)):
        for found in reversed([*re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]):
            if all(found.end() <= start or end <= found.start() for start, end, _ in places):
                places.append((*found.span(), name))
                break
    pieces, behind = [], 0
    for start, end, name in sorted(places):
        pieces += [(text[behind:start], ""), (text[start:end], f"#case={quote(name, safe='')}")]
        behind = end
    pieces.append((text[behind:], ""))
    return ReasonLine(reason.level.value, tuple(piece for piece in pieces if piece[0]))


def _facts(full: FullReport) -> Iterator[tuple[str, str]]:
    report = full.report
    if full.fixtures_path is not None:
        yield "fixture set", full.fixtures_path
    if report.saved is not None:
        yield "old report", report.saved.old
        yield "new report", report.saved.new
        if report.saved.n_left_out:
            yield "left out", f"{report.saved.n_left_out}, not in both with the same k"
        yield "figures", "as saved, with six decimals"
    if full.gate is not None:
        yield "policy", full.gate.policy.path
        yield "set digest", full.gate.digest[:16]
    yield "corpus", report.corpus
    yield "embedder", report.embedder
    if report.redaction is Redaction.STRICT:
        yield "redact", report.redaction.value
    yield "queries", _n_queries(full)


def _n_queries(full: FullReport) -> str:
    n_paired = full.report.n_queries
    n_all = n_paired if full.gate is None else full.gate.candidate.n_cases
    return str(n_all) if n_all == n_paired else f"{n_all}, {n_paired} of them with a baseline"


def _table_rows(full: FullReport, rows: Sequence[CaseRow], metric: str) -> Iterator[TableRow]:
    """Cases that moved in any metric come first, the worst in `metric` at the top; then as in the set."""
    blocking = blocking_by_id(full.gate)
    addresses = case_addresses([one_line(row.id) for row in rows])
    keys = [(not has_moved(row), *worst_first(row, [metric])) for row in rows]
    ordered = sorted(enumerate(rows), key=lambda entry: keys[entry[0]])  # equal keys stay as in the set
    for position, row in ordered:
        case, delta = row.drilldown, row.deltas.get(metric)
        yield TableRow(
            position=position,
            id=row.id,
            address=addresses[position],
            query="" if case is None else case.query,
            tags=() if case is None else case.tags,
            is_critical=case is not None and case.critical,
            is_blocking=row.id in blocking,
            cells=tuple(
                Cell(UNDEFINED, 0, "")
                if score is None
                else _cell(score.figures[metric] or 0.0, score.first_relevant_rank)
                for score in row.scores
            ),
            delta=signed(delta) if row.deltas else None,
            direction=direction(delta),
        )


def _cell(figure: float, rank: int | None) -> Cell:
    return Cell(format_score(figure), bucket(figure), "none" if rank is None else f"rank {rank}")
