"""The reader of saved reports: bytes of a `cce.relevance.report/v2`, of this tool or another one.

One score per backend leaves, exact to six decimals. An incomplete or inconsistent report raises
ReportError: `path: fault, way out`. Keys that v2 does not have are ignored.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NoReturn

import msgspec

from cce.domain.labels import Label, Labels, MadeBy
from cce.domain.redaction import Redaction
from cce.domain.scores import METRICS, TOKEN_METRICS, BackendScore, Column, defined
from cce.errors import ReportError
from cce.files import read_bytes
from cce.json_text import is_mostly_brackets
from cce.measurement.scoring import mean_of_defined, summarize
from cce.numerals import format_score, mean, ordering_key
from cce.quoting import listed, on_one_line, quoted

SCHEMA = "cce.relevance.report/v2"

_WAY_OUT = "save one with cce relevance SET --json > FILE"
_N_SHOWN = 5
_SCORE_RULE = 'a string from "0.000000" to "1.000000" with six decimals'
_SCORE_PATTERN = r"\A(?:0\.[0-9]{6}|1\.0{6})\Z"
# msgspec ends its messages with the path of the value, as in "Expected `int` - at `$.queries`".
_FAULT = re.compile(r"(.*?)(?: - at `\$\.?(.*)`)?", re.DOTALL)

_Score = Annotated[str, msgspec.Meta(pattern=_SCORE_PATTERN)]
_Figure = Annotated[str, msgspec.Meta(pattern=r"\A(?:0|[1-9][0-9]{0,8})\.[0-9]{6}\Z")]
_FiguresByCase = dict[str, _Figure | None]
_Count = Annotated[int, msgspec.Meta(ge=0)]
_Positive = Annotated[int, msgspec.Meta(ge=1)]


@dataclass(frozen=True, slots=True)
class SavedReport:
    """The content of a report: `path`, `corpus` and `embedder` as written, at least one backend.

    `labels` has every case, or is None for a report without digests of its labels.
    """

    path: str
    corpus: str
    embedder: str
    backends: tuple[BackendScore, ...]
    redaction: Redaction = Redaction.STANDARD
    labels: Labels | None = None
    made_by: MadeBy | None = None


def read_saved_report(path: str) -> SavedReport:
    """The report in the file `path`; raises ReportError if it cannot be read."""
    return parse_saved_report(read_bytes(path, "the report", ReportError, _WAY_OUT), path)


def parse_saved_report(raw: bytes, path: str) -> SavedReport:
    """The report in `raw`; `path` is used in messages only."""
    try:
        report = _checked(_parse_json(raw))
        backends = tuple(
            _with_figures(_backend_score(row, report.queries), report.figures.get(row.backend, {}))
            for row in report.backends
        )
        _require_unique("backend", [backend.backend for backend in backends])
        labels = None if report.labels is None else _labels(report.labels, backends)
    except ReportError as exc:
        raise ReportError(f"{on_one_line(path)}: {exc}") from exc
    return SavedReport(
        path,
        report.corpus,
        report.embedder,
        backends,
        Redaction(report.redact),
        labels,
        None if report.made_by is None else _made_by(report.made_by),
    )


def edited_means(path: str, score: BackendScore) -> Iterator[str]:
    """A warning if the means of a backend differ from the means of its cases, as after an edit by hand."""
    wrong = [
        f"{metric} {format_score(score.mean(metric))} (its cases give {format_score(mean(figures))})"
        for metric in METRICS
        for figures in [defined(score.columns[metric])]
        if _is_edited(score.mean(metric), figures)
    ]
    if wrong:
        yield (
            f"{on_one_line(path)}: backend {quoted(score.backend)} has means that its cases do not have, "
            f"{', '.join(wrong)}: it was edited, {_WAY_OUT}"
        )


def _is_edited(saved_mean: float, figures: Sequence[float]) -> bool:
    # The saved mean and all figures were rounded by at most 0.5e-6, so the two means differ by at most 1e-6.
    n = len(figures)
    return abs(n * ordering_key(saved_mean) - sum(map(ordering_key, figures))) > n


class _Tokens(msgspec.Struct):
    precision: _Score
    recall: _Score
    iou: _Score


class _TokenMeans(_Tokens):
    queries: _Positive


class _CaseRow(msgspec.Struct):
    id: str
    k: _Positive
    precision_at_k: _Score
    recall: _Score
    mrr: _Score
    f1: _Score
    first_relevant_rank: _Positive | None
    tokens: _Tokens | None = None


class _BackendRow(msgspec.Struct):
    backend: str
    precision_at_k: _Score
    recall: _Score
    mrr: _Score
    f1: _Score
    per_query: Annotated[list[_CaseRow], msgspec.Meta(min_length=1)]
    tokens: _TokenMeans | None = None


class _LabelRow(msgspec.Struct):
    digest: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{16}\Z")]
    critical: bool = False
    tags: list[str] = []


class _MadeByRow(msgspec.Struct):
    cce: str
    grammars: dict[str, str] = {}
    redact: str = "standard"
    system: dict[str, Any] = {}


class _Report(msgspec.Struct):
    corpus: str
    embedder: str
    queries: _Count
    backends: Annotated[list[_BackendRow], msgspec.Meta(min_length=1)]
    redact: Literal["standard", "strict"] = "standard"
    figures: dict[str, dict[str, _FiguresByCase]] = {}
    labels: dict[str, _LabelRow] | None = None
    made_by: _MadeByRow | None = None


def _parse_json(raw: bytes) -> object:
    if is_mostly_brackets(raw):
        raise ReportError(f"more brackets than a report can need, {_WAY_OUT}")
    # Not msgspec: it refuses the lone surrogates by which a report spells a path that is not UTF-8.
    try:
        value: object = json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except json.JSONDecodeError as exc:
        raise ReportError(
            f"line {exc.lineno}, column {exc.colno}: no whole JSON document ({exc.msg}), {_WAY_OUT}"
        ) from exc
    except (ValueError, RecursionError) as exc:  # not UTF-8, a number of thousands of digits, deep nesting
        fault = "nested too deep" if isinstance(exc, RecursionError) else on_one_line(str(exc))
        raise ReportError(f"no readable JSON ({fault}), {_WAY_OUT}") from exc
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ReportError(f"{name} is not JSON and no score, {_WAY_OUT}")


def _checked(value: object) -> _Report:
    schema = value.get("schema") if isinstance(value, dict) else None
    if schema != SCHEMA:
        found = f"schema {quoted(schema)}" if isinstance(schema, str) else "no schema"
        raise ReportError(f"not a report this version reads ({found}), it must be '{SCHEMA}': {_WAY_OUT}")
    try:
        return msgspec.convert(value, _Report)
    except msgspec.ValidationError as exc:
        raise ReportError(_field_fault(str(exc))) from exc
    except UnicodeEncodeError as exc:  # no path of ours is a key, so no report of ours has such a key
        raise ReportError(f"a key holds half a surrogate pair, {_WAY_OUT}") from exc


def _field_fault(wording: str) -> str:
    match = _FAULT.fullmatch(wording)
    fault, place = (match[1], match[2]) if match else (wording, None)
    if "matching regex" in fault and place is not None and place.endswith(".digest"):
        fault = "Expected 16 hex digits"
    elif "matching regex" in fault:
        fault = f"Expected {_SCORE_RULE}"
    fault = fault[:1].lower() + fault[1:].replace("`", "")
    return f"{place or 'the top'}: {fault}; {_WAY_OUT}"


def _backend_score(row: _BackendRow, n_queries: int) -> BackendScore:
    place = f"backend {quoted(row.backend)}"
    if len(row.per_query) != n_queries:
        raise ReportError(
            f"{place} has {len(row.per_query)} cases, but the report counts {n_queries} queries: {_WAY_OUT}"
        )
    _require_unique(f"{place}: case", [case.id for case in row.per_query])
    cases = row.per_query
    columns: dict[str, Column] = {
        metric: tuple(float(getattr(case, metric)) for case in cases) for metric in METRICS
    }
    if any(case.tokens is not None for case in cases):
        for metric in TOKEN_METRICS:
            columns[metric] = tuple(_token_figure(case.tokens, metric) for case in cases)
    columns["hit"] = tuple(0.0 if case.first_relevant_rank is None else 1.0 for case in cases)
    score = summarize(
        row.backend,
        [case.id for case in cases],
        [case.k for case in cases],
        [case.first_relevant_rank for case in cases],
        columns,
    )
    saved_means: dict[str, float | None] = {metric: float(getattr(row, metric)) for metric in METRICS}
    if row.tokens is not None:
        saved_means |= {metric: _token_figure(row.tokens, metric) for metric in TOKEN_METRICS}
    return score._replace(means={**score.means, **saved_means})


def _with_figures(score: BackendScore, by_metric: Mapping[str, _FiguresByCase]) -> BackendScore:
    """The score with the figures that the report keeps beside its own; of those it has, its own count."""
    columns: dict[str, Column] = {
        metric: tuple(_number(figures.get(name)) for name in score.ids)
        for metric, figures in by_metric.items()
        if metric not in score.columns
    }
    means = {metric: mean_of_defined(column) for metric, column in columns.items()}
    return score._replace(columns={**score.columns, **columns}, means={**score.means, **means})


def _labels(rows: Mapping[str, _LabelRow], backends: Sequence[BackendScore]) -> Labels:
    """The labels, which must have every case: a case without one could change unseen."""
    for backend in backends:
        missing = next((name for name in backend.ids if name not in rows), None)
        if missing is not None:
            raise ReportError(f"labels: has no entry for case {quoted(missing)}: {_WAY_OUT}")
    return {name: Label(row.digest, row.critical, tuple(row.tags)) for name, row in rows.items()}


def _made_by(row: _MadeByRow) -> MadeBy:
    return MadeBy(row.cce, row.grammars, row.redact, row.system)


def _number(spelled: str | None) -> float | None:
    return None if spelled is None else float(spelled)


def _token_figure(row: _Tokens | None, metric: str) -> float | None:
    return None if row is None else float(getattr(row, metric.removeprefix("token_")))


def _require_unique(noun: str, names: Sequence[str]) -> None:
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        few = listed(map(quoted, repeated), len(repeated), _N_SHOWN)
        raise ReportError(
            f"{noun} named more than once: {few}; give each its own name in the set, and save again"
        )
