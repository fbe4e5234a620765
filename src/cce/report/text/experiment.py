"""An experiment in, text for a terminal out: one row per system, then what it amounts to."""

from __future__ import annotations

from cce.domain.experiment import Experiment
from cce.quoting import counted, one_line
from cce.report.text.tables import align
from cce.report.view.experiment import MARK, experiment_cells, sentences


def render_experiment_text(experiment: Experiment) -> str:
    """The table for a terminal, with one final newline."""
    blocks = [_heading(experiment), _table(experiment), [f"  {text}" for text in sentences(experiment)]]
    if experiment.notes:
        blocks.append(["  notes", *(f"    {one_line(note)}" for note in experiment.notes)])
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _heading(experiment: Experiment) -> list[str]:
    return [
        f"CCE {experiment.verb} — {counted(len(experiment.rows), 'system')} on one set (cce.relevance/v1)",
        f"  corpus  : {one_line(experiment.corpus)}",
        f"  embedder: {one_line(experiment.embedder)}",
        f"  queries : {experiment.n_cases}",
    ]


def _table(experiment: Experiment) -> list[str]:
    cells = experiment_cells(experiment)
    marked = [
        (f"{name} {MARK}" if at == cells.chosen else name, *figures)
        for at, (name, *figures) in enumerate(cells.rows)
    ]
    return align([cells.header, *marked], n_left=1)
