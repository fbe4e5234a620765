"""An experiment in, a Markdown table for a pull request out."""

from __future__ import annotations

from cce.domain.experiment import Experiment
from cce.quoting import counted
from cce.report.markdown.comment import code, prose, table
from cce.report.view.cells import brief
from cce.report.view.experiment import MARK, experiment_cells, sentences

_CHOSEN = " **chosen**"


def render_experiment_markdown(experiment: Experiment) -> str:
    """A heading, the table with three decimals, and what it amounts to; one final newline."""
    cells = experiment_cells(experiment)
    rows = [
        (code(name) + (_CHOSEN if at == cells.chosen else ""), *map(brief, figures))
        for at, (name, *figures) in enumerate(cells.rows)
    ]
    count = counted(experiment.n_cases, "query", "queries")
    heading = f"**{experiment.verb}**: {counted(len(experiment.rows), 'system')} on {count}"
    lines = [f"- {prose(text.removeprefix(f'{MARK} '))}" for text in sentences(experiment)]
    notes = [f"- {prose(note)}" for note in experiment.notes]
    blocks = [heading, "\n".join(table(cells.header, rows)), "\n".join([*lines, *notes])]
    return "\n\n".join(block for block in blocks if block) + "\n"
