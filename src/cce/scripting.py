"""The doors for notebooks and scripts: what the commands `relevance`, `compare` and `gate` do, as functions.

They are read as `cce.evaluate`, `cce.compare` and `cce.gate`, and loaded when one is first asked for:

    >>> import cce
    >>> result = cce.evaluate("eval/code.jsonl", backends=["bm25", "hybrid"])
    >>> result.to_dict()["backends"][0]["mrr"]
    '0.812500'
    >>> frame = pandas.DataFrame(result.rows)
    >>> frame.groupby("backend")["recall"].mean()

Values and errors are those of the commands: a CceError says in one line what is wrong and what to do.
Warnings are in `notices`; nothing is printed. Settings of the environment (CCE_REDACT, CCE_CACHE_DIR) hold.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cce.domain.evidence import EvidenceOptions
from cce.domain.full_report import FullReport
from cce.domain.gate import GateReport
from cce.domain.report import Report
from cce.errors import UsageError
from cce.registry import split_names
from cce.report.catalog import RENDERERS

StrPath = str | os.PathLike[str]
Names = str | Iterable[str]
"""Names one by one, or in one text with commas between them."""


@dataclass(frozen=True, slots=True)
class ReportResult:
    """A report, and warnings about it as one line each."""

    report: Report
    notices: tuple[str, ...]

    def to_json(self) -> str:
        """The bytes that the command prints with `--json`, as text."""
        return RENDERERS["json"](FullReport(self.report))

    def to_dict(self) -> dict[str, object]:
        """The JSON report, parsed: figures are strings with six decimals."""
        return _parsed(self.to_json())

    @property
    def rows(self) -> list[dict[str, object]]:
        """One flat row per backend and case: backend, id, k and each metric; None where it is undefined."""
        return _rows(self.report)


@dataclass(frozen=True, slots=True)
class GateResult:
    """The answer of a gate, and warnings about it as one line each."""

    gate: GateReport
    notices: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """`GO`, `REVIEW` or `BLOCK`."""
        return self.gate.outcome.value

    @property
    def is_refused(self) -> bool:
        """Whether the command would end with exit code 1."""
        return self.gate.is_refused

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not GO: one sentence each, those that block first."""
        return tuple(reason.text for reason in self.gate.reasons)

    def to_json(self) -> str:
        """The bytes that the command prints with `--json`, as text."""
        return RENDERERS["json"](FullReport(self.gate.report, gate=self.gate, warnings=self.notices))

    def to_dict(self) -> dict[str, object]:
        """The JSON answer, parsed: figures are strings with six decimals."""
        return _parsed(self.to_json())

    @property
    def rows(self) -> list[dict[str, object]]:
        """The cases that baseline and candidate share, one flat row each: backend, id, k and each metric."""
        return _rows(self.gate.report)


def evaluate(
    fixtures: StrPath,
    *,
    backends: Names | None = None,
    compare: Names | None = None,
    directory: StrPath | None = None,
    store: StrPath | None = None,
    evidence: EvidenceOptions | None = None,
    redact: str | None = None,
    use_cache: bool = True,
    systems: StrPath | None = None,
    runs: Mapping[str, StrPath] | None = None,
    keep_going: bool = False,
    repeat: int | None = None,
) -> ReportResult:
    """Score backends against a fixture set, as `cce relevance` does; raises CceError.

    fixtures   the path of a cce.relevance/v1 set
    backends   the backends in report order; bm25, vector and hybrid by default
    compare    instead of `backends` two of them, for the difference of the second to the first
    directory  the corpus, or `store`, the path of its index; by default the corpus that the set names
    evidence   what to weigh, EvidenceOptions() for the defaults
    redact     "standard" or "strict"
    systems    a systems file; naming it consents to running what it names
    runs       saved runs: name -> file. With `systems` or `runs` all of these are the default backends
    keep_going  score a case that a system fails as empty
    repeat     how often each system is asked
    """
    from cce.measurement.metrics.catalog import metric_called
    from cce.usecases.corpora import choose_corpus
    from cce.usecases.evaluate import Plan
    from cce.usecases.evaluate import evaluate as carry_out
    from cce.usecases.systems import SystemsChoice, open_catalogue

    if backends is not None and compare is not None:
        raise UsageError("backends and compare exclude each other: compare scores the two that it names")
    choice = SystemsChoice(
        _path(systems),
        tuple(f"{name}={os.fspath(path)}" for name, path in (runs or {}).items()),
        is_consented=systems is not None,
        keeps_going=keep_going,
        repeat=repeat,
    )
    catalogue = open_catalogue(choice)
    names = catalogue.chosen(*(("backends", backends) if compare is None else ("compare", compare)))
    if compare is not None and len(names) != 2:
        raise UsageError(f"compare takes two different backends, got {', '.join(names)}")
    if evidence is not None:
        for metric in evidence.metrics:
            metric_called(metric)  # an unknown name fails before anything is measured
    corpus = choose_corpus(_path(directory), _path(store), redact, is_cached=use_cache)
    plan = Plan(os.fspath(fixtures), names, compare is not None, corpus, evidence, choice, catalogue)
    evaluation = carry_out(plan, _unwatched)
    return ReportResult(evaluation.report, evaluation.notices)


def compare(
    old: StrPath,
    new: StrPath,
    *,
    backends: Names | None = None,
    only_shared: bool = False,
    evidence: EvidenceOptions | None = None,
) -> ReportResult:
    """Compare two saved reports case by case, as `cce compare` does; raises CceError.

    backends     the backend in both, or the one in `old` and the one in `new`
    only_shared  compare the cases that both have with the same k, where else all must be in both
    """
    from cce.usecases.compare import PairingPlan, compare_saved

    names = None if backends is None else split_names(backends)
    if names is not None and len(names) not in (1, 2):
        raise UsageError(f"backends takes one name, or one for old and one for new, got {len(names)}")
    (report,) = compare_saved(PairingPlan(os.fspath(old), os.fspath(new), names, only_shared, evidence))
    return ReportResult(report, () if report.saved is None else report.saved.notices)


def gate(
    policy: StrPath,
    *,
    strict: bool = False,
    baseline_ref: str | None = None,
    redact: str | None = None,
    use_cache: bool = True,
) -> GateResult:
    """Hold a ranking to a policy and its baseline, as `cce gate` does; raises CceError.

    A new baseline is accepted at the command line only, with `cce gate POLICY --accept`.

    strict        REVIEW refuses, too
    baseline_ref  a git commit to read the baseline from, in place of the file
    """
    from cce.measurement.gate.policy import read_policy
    from cce.usecases.corpora import choose_corpus
    from cce.usecases.gate import GatePlan, run_gate

    corpus = choose_corpus(None, None, redact, is_cached=use_cache)
    asked = read_policy(os.fspath(policy))
    run = run_gate(GatePlan(asked, strict, baseline_ref=baseline_ref, corpus=corpus), _unwatched)
    return GateResult(run.gate, run.notices)


def _rows(report: Report) -> list[dict[str, object]]:
    return [
        {"backend": score.backend, "id": case.id, "k": case.k, **case.figures}
        for score in report.backends
        for case in map(score.case, range(score.n_cases))
    ]


def _parsed(text: str) -> dict[str, object]:
    parsed: dict[str, object] = json.loads(text)
    return parsed


def _path(path: StrPath | None) -> str | None:
    return None if path is None else os.fspath(path)


def _unwatched(_verb: str, _n_done: int, _n_all: int, _noun: str) -> None:
    """Progress is for terminals."""
