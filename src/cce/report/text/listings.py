"""Lists as text for people: the results of a search, and the metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cce.domain.ranking import Chunk, Hit, Ranking
from cce.domain.scope import Scope
from cce.domain.scores import MetricEntry
from cce.domain.systems import SystemEntry
from cce.quoting import one_line
from cce.report.text.tables import align
from cce.report.view.cells import kind, place, unsigned

_METRICS_HEADER = ("metric", "range", "needs", "definition, over the first k results of a case")
_N_SHOWN = 80

Emphasis = Callable[[str], str]
"""Marks a piece of text for a terminal; the identity where there is none."""


def render_search_text(
    ranking: Ranking, emphasize_path: Emphasis = str, emphasize_terms: Emphasis = str
) -> str:
    """Two lines per hit: rank, score, place and kind; then the chunk's first line."""
    if not ranking:
        return "(no results)\n"
    return "".join(
        f"{_headline(rank, hit, emphasize_path)}\n    {emphasize_terms(first_line(hit))}\n"
        for rank, hit in enumerate(ranking, start=1)
    )


def first_line(hit: Hit) -> str:
    """The chunk's first line, cut at 80 characters and trimmed, with nothing a terminal would obey."""
    found = hit.chunk
    text = found.content.decode("utf-8", "replace") if isinstance(found, Chunk) else found.text or ""
    line = text.partition("\n")[0]
    return "".join(c if c.isprintable() else " " for c in line[:_N_SHOWN]).strip()


def _headline(rank: int, hit: Hit, emphasize_path: Emphasis) -> str:
    found = hit.chunk
    # A store may come from anywhere: its names must not move the cursor.
    where = emphasize_path(one_line(place(found)))
    what = f"{found.chunk_type}/{found.kind}" if isinstance(found, Chunk) else kind(found)
    return f"{rank:2}. [{unsigned(hit.score)}] {where} ({one_line(what)})"


def render_metrics_text(entries: Iterable[MetricEntry]) -> str:
    """One line per metric, with one final newline."""
    rows = [(each.name, _range(each), _need(each), each.definition) for each in entries]
    return "\n".join(align([_METRICS_HEADER, *rows], n_left=len(_METRICS_HEADER))) + "\n"


def _range(entry: MetricEntry) -> str:
    low, high = entry.range
    return f"{low} to {high}"


def _need(entry: MetricEntry) -> str:
    return "index" if entry.needs_index else ""


def render_systems_text(entries: Iterable[SystemEntry], scopes: Iterable[Scope]) -> str:
    """One line per system, then one per scope."""
    lines = align([("name", "kind", "from"), *entries], n_left=3)
    limits = [(scope.name, _patterns("+", scope.include), _patterns("-", scope.exclude)) for scope in scopes]
    if limits:
        lines += ["", *align([("scope", "include", "exclude"), *limits], n_left=3)]
    return "\n".join(lines) + "\n"


def _patterns(sign: str, patterns: tuple[str, ...] | None) -> str:
    return "everything" if patterns is None else " ".join(f"{sign}{each}" for each in patterns)
