"""The first gate of a set: a policy to start from, and the baseline it is held against, both beside the set.

Nothing is written unless both can be: a policy without its baseline answers nothing.
"""

from __future__ import annotations

import json
import os
import posixpath
from dataclasses import dataclass

from cce.domain.gate import GatePolicy
from cce.errors import UsageError
from cce.files import write_file
from cce.measurement.fixtures.reading import read_fixture_set
from cce.measurement.gate.policy import parse_policy
from cce.quoting import on_one_line
from cce.retrieval.indexing.directory import ProgressCallback
from cce.usecases.gate import GatePlan, GateRun, run_gate
from cce.usecases.gate_files import beside, write_baseline

_POLICY = """\
# May a change of the ranking go in? Ask with `cce gate {policy}`; paths are relative to this file.
# When a change is meant: `cce gate {policy} --accept`, and commit the new baseline with it.
schema = "cce.gate/v1"
fixtures = {fixtures}
backend = {backend}
baseline = {baseline}
{directory}
[drop]  # how far a mean may fall; under 1 / (2 n) a single case that loses half breaks it
recall = {drop}

[evidence]
metrics = ["mrr"]
alpha = 0.05
min_effect = 0.01
review_p = 0.2  # to review if more cases got worse than better, and a sign test gives at most this p
"""


@dataclass(frozen=True, slots=True)
class NewGate:
    """What is to be written: the text of a policy, and the run whose baseline goes with it."""

    policy: GatePolicy
    text: str
    run: GateRun


def first_gate(fixtures: str, backend: str, directory: str | None, progress: ProgressCallback) -> NewGate:
    """A policy for the set `fixtures`, measured once; raises CceError, and writes nothing.

    directory  the corpus, as reached from the working directory; None for the one that the set names
    """
    stem = fixtures.removesuffix(".jsonl")
    place, baseline = f"{stem}.gate.toml", f"{stem}.baseline.json"
    for path in (place, baseline):
        if os.path.lexists(path):
            raise UsageError(f"{on_one_line(path)}: is there already: remove it, or ask with cce gate")
    text = _POLICY.format(
        policy=on_one_line(place),
        fixtures=_quoted(os.path.basename(fixtures)),
        backend=_quoted(backend),
        baseline=_quoted(os.path.basename(baseline)),
        directory="" if directory is None else f"dir = {_quoted(_from_folder_of(fixtures, directory))}\n",
        drop=_drop(len(read_fixture_set(fixtures).cases)),
    )
    policy = parse_policy(text.encode(), place)
    return NewGate(policy, text, run_gate(GatePlan(policy, is_accepting=True), progress))


def write_gate(gate: NewGate) -> None:
    """Write policy and baseline; if one cannot be written, the other is not left behind."""
    assert gate.run.new_baseline is not None  # noqa: S101 - it was accepted
    write_baseline(gate.policy, gate.run.new_baseline)
    try:
        write_file(gate.policy.path, gate.text.encode(), UsageError, "{}; name a set in a writable folder")
    except UsageError:
        os.unlink(beside(gate.policy, gate.policy.baseline))
        raise


def _drop(n_cases: int) -> str:
    """0.02, or for a set too small to measure that the least of which one case that loses half is no more."""
    return f"{max(20, -(-1000 // (2 * n_cases))) / 1000:.3f}"  # 12 cases: 1 / 24 = 0.0417, written as 0.042


def _from_folder_of(fixtures: str, directory: str) -> str:
    if os.path.isabs(directory):
        return directory
    relative = os.path.relpath(directory, os.path.dirname(fixtures) or os.curdir)
    return posixpath.join(*relative.split(os.sep))


def _quoted(text: str) -> str:
    """`text` as a string of TOML, which escapes as JSON does, and DEL as well."""
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise UsageError(f"{on_one_line(text)}: no policy can name a path that is not UTF-8") from exc
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
