"""What a check of a system found, as a table of text."""

from __future__ import annotations

from cce.domain.system_check import SystemCheck
from cce.report.text.tables import align


def render_check_text(check: SystemCheck) -> str:
    """One line per law, then the counts, with one final newline."""
    rows = [("law", "outcome", "what was seen"), *check.laws]
    counts = f"{check.count('passed')} passed, {check.count('failed')} failed"
    lines = [*align(rows, n_left=3), "", f"  {counts}, {check.count('not applicable')} not applicable"]
    return "\n".join(lines) + "\n"
