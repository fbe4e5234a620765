"""The files of a gate: where its policy puts them, and how a new baseline is written.

A policy enters; paths as reached from the working directory leave. Nothing is measured here.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping

from cce.atomic import link_below, write_below
from cce.domain.gate import GatePolicy
from cce.errors import ReportError
from cce.files import writing
from cce.measurement.gate.policy_tables import PolicyError
from cce.quoting import on_one_line
from cce.usecases.corpora import NO_CHOICE, CorpusChoice, corpus_directories
from cce.usecases.systems import SystemsChoice


def beside(policy: GatePolicy, path: str) -> str:
    """A path that the policy names, as reached from the working directory."""
    # Joined with `/` on every system, so that messages and annotations are the same.
    return posixpath.join(os.path.dirname(policy.path), path)


def input_paths(policy: GatePolicy) -> Mapping[str, str | None]:
    """What a gate reads: noun -> path as reached from the working directory."""
    return {
        "policy": policy.path,
        "fixture set": beside(policy, policy.fixtures),
        "baseline": beside(policy, policy.baseline),
        "store": None if policy.store is None else beside(policy, policy.store),
        "systems file": None if policy.systems is None else beside(policy, policy.systems),
    }


def write_baseline(policy: GatePolicy, content: bytes) -> None:
    """Write a new baseline to where `policy` says; raises ReportError.

    The path was not typed, so no link below the policy's folder is followed.
    """
    root, names = _baseline_place(policy)
    with writing(beside(policy, policy.baseline), ReportError, "{}; name a writable baseline in the policy"):
        write_below(root, names, content)


def require_direct_baseline(policy: GatePolicy) -> None:
    """Raise PolicyError if a link would lead a new baseline elsewhere."""
    link = link_below(*_baseline_place(policy))
    if link is not None:
        raise PolicyError(
            f"{on_one_line(link)}: is a link, and no baseline is accepted through one; "
            f"name the file that it leads to in {on_one_line(policy.path)}"
        )


def _baseline_place(policy: GatePolicy) -> tuple[str, tuple[str, ...]]:
    """A folder, and the names that lead from it to the baseline, which are the policy's choice."""
    path = policy.baseline
    if os.path.isabs(path):
        folder, name = os.path.split(path)
        return folder, (name,)
    names = (name for name in path.replace(os.sep, "/").split("/") if name not in ("", os.curdir))
    return os.path.dirname(policy.path), tuple(names)


def corpus_directories_of(policy: GatePolicy) -> tuple[str, ...]:
    """`corpus_directories` of a run of `policy`."""
    return corpus_directories(corpus_of_policy(policy), beside(policy, policy.fixtures))


def corpus_of_policy(policy: GatePolicy, typed: CorpusChoice = NO_CHOICE) -> CorpusChoice:
    """The corpus that `policy` names, treated as `typed` says."""
    return typed._replace(
        directory=None if policy.directory is None else beside(policy, policy.directory),
        store=None if policy.store is None else beside(policy, policy.store),
    )


def systems_of_policy(policy: GatePolicy, typed: SystemsChoice) -> SystemsChoice:
    """The systems file that `policy` names, asked as `typed` says; naming one in a policy is no consent."""
    return typed._replace(file=None if policy.systems is None else beside(policy, policy.systems))
