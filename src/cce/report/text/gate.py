"""A gate's answer in, the lines for a terminal out: the outcome first, then one line per reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cce.domain.gate import Acceptance, GateReport, Move
from cce.numerals import format_score, format_signed
from cce.quoting import listed_with_rest, one_line
from cce.report.text.tables import align

_N_SHOWN = 10


def render_gate_text(gate: GateReport, warnings: Sequence[str] = ()) -> str:
    """`GATE: ...`, reasons, warnings, and with a new baseline what moved; one final newline."""
    lines = [f"GATE: {gate.outcome}"]
    lines += [f"  {reason.level + ':':<7} {one_line(reason.text)}" for reason in gate.reasons]
    lines += [f"  warning: {one_line(warning)}" for warning in warnings]
    if gate.acceptance is not None:
        lines += _acceptance_lines(gate.acceptance, gate.policy.baseline_backend)
    return "\n".join(lines) + "\n"


def _acceptance_lines(acceptance: Acceptance, backend: str) -> Iterator[str]:
    kind = "the first baseline" if acceptance.is_first else "the new baseline"
    yield f"  accepted: {one_line(acceptance.baseline)} is {kind} of {one_line(backend)}"
    for line in align([_move_cells(move) for move in acceptance.means], n_left=1):
        yield f"  {line}"
    groups = (
        ("better", acceptance.better),
        ("worse", acceptance.worse),
        ("added", acceptance.added),
        ("removed", acceptance.removed),
        ("relabelled", acceptance.relabelled),
    )
    for name, ids in groups:
        if ids and not acceptance.is_first:
            yield f"    {name}: {_listed(ids)}"


def _move_cells(move: Move) -> Sequence[str]:
    if move.before is None:
        return move.metric, format_score(move.after)
    delta = format_signed(move.after - move.before)
    return move.metric, format_score(move.before), "→", format_score(move.after), delta


def _listed(ids: Sequence[str]) -> str:
    return f"{len(ids)} ({listed_with_rest(map(one_line, ids), len(ids), _N_SHOWN)})"
