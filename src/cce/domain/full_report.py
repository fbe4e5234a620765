"""What a report of any format is rendered from; apart from `report`, on which gates are built."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cce.domain.report import Report

if TYPE_CHECKING:
    from cce.domain.drilldown import CaseDrilldown
    from cce.domain.gate import GateReport


class FullReport(NamedTuple):
    """What every format is rendered from: the report, and what only some formats show besides.

    fixtures_path  the set as the user named it; None where saved reports were compared
    cases          the cases in the order of their set; empty unless a drill-down was asked for
    gate           the gate that was asked; `report` is then its report
    others         further saved reports, each compared with the one that `report` is compared with
    fixtures_in_git  the set as git names it, from the root of its work tree; None outside of any
    command        the words that make this report again, without those that say where it goes
    warnings       what makes the figures doubtful without changing them, one line each
    """

    report: Report
    fixtures_path: str | None = None
    cases: tuple[CaseDrilldown, ...] = ()
    gate: GateReport | None = None
    command: tuple[str, ...] = ()
    fixtures_in_git: str | None = None
    warnings: tuple[str, ...] = ()
    others: tuple[Report, ...] = ()
