"""Reports: everything a renderer shows, with nothing left to compute."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cce.domain.redaction import Redaction
from cce.domain.scores import BackendScore

if TYPE_CHECKING:
    from cce.domain.comparison import Comparison
    from cce.domain.drilldown import CaseDrilldown
    from cce.domain.evidence import Evidence
    from cce.domain.gate import GateReport


class SavedPair(NamedTuple):
    """The files of two saved reports that were compared, and how many cases only one of them has.

    `notices` are warnings about what the files hold.
    """

    old: str
    new: str
    n_left_out: int
    notices: tuple[str, ...] = ()


class Report(NamedTuple):
    """What was measured: `corpus` as the user named it, one score per backend in report order.

    `saved` is set where the figures come from two reports; their six decimals are all there is.
    `redaction` is what the text went through.
    """

    corpus: str
    embedder: str
    n_queries: int
    backends: tuple[BackendScore, ...]
    comparison: Comparison | None
    evidence: Evidence | None = None
    saved: SavedPair | None = None
    redaction: Redaction = Redaction.STANDARD


class FullReport(NamedTuple):
    """What every format is rendered from: the report, and what only some formats show besides.

    fixtures_path  the set as the user named it; None where saved reports were compared
    cases          the cases in the order of their set; empty unless a drill-down was asked for
    gate           the gate that was asked; `report` is then its report
    fixtures_in_git  the set as git names it, from the root of its work tree; None outside of any
    command        the words that make this report again, without those that say where it goes
    """

    report: Report
    fixtures_path: str | None = None
    cases: tuple[CaseDrilldown, ...] = ()
    gate: GateReport | None = None
    command: tuple[str, ...] = ()
    fixtures_in_git: str | None = None
