"""The status of a set as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from cce.domain.status import SetStatus
from cce.quoting import counted, one_line
from cce.report.text.tables import align
from cce.report.view.status import age_groups


def render_status_text(status: SetStatus) -> str:
    """Counts, then one row per system that found candidates, then labels by age; one final newline."""
    return "\n\n".join("\n".join(block) for block in _blocks(status)) + "\n"


def _blocks(status: SetStatus) -> Iterator[list[str]]:
    answers, refused = status.n_places
    yield [
        f"{one_line(status.fixtures)}",
        f"  labelled: {counted(status.n_cases, 'case')}, {counted(answers, 'answer')}, "
        f"{counted(refused, 'irrelevant place')}",
        f"  drafts  : {status.n_drafts} without a label",
        f"  open    : {counted(status.n_open, 'candidate')} of {counted(status.n_open_cases, 'case')}",
    ]
    if status.by_system:
        rows = [
            (name, str(each.n_relevant), str(each.n_irrelevant), str(each.n_open))
            for name, each in status.by_system.items()
        ]
        yield [
            "  candidates by the systems that found them",
            *align([("system", "answer", "no answer", "open"), *rows], 1),
        ]
    if status.ages is None:
        yield [f"  ages    : {one_line(status.why_no_ages or 'not known')}"]
    else:
        groups = [(text, str(n)) for text, n in age_groups(status)]
        yield ["  labels by the age of their text, up to the last commit", *align(groups, 1)]
